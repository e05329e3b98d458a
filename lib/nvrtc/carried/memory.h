/* SPDX-License-Identifier: MIT */
#pragma once
#include <string.h>
