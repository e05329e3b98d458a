// SPDX-License-Identifier: MIT
#define FROM_HEADER 29
