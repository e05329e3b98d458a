/* A library that is no driver.  SPDX-License-Identifier: MIT */
__attribute__((visibility("default"))) int not_a_driver(void);

int not_a_driver(void)
{
    return 1;
}
