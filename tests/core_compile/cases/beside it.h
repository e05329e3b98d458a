// SPDX-License-Identifier: MIT
#define BESIDE 1
