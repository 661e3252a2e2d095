/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables that a child of fork writes to as it begins. The kernel copies each page for the child
 * that it writes to, and that is most of what a short child costs us. So these variables are
 * together, in few pages.
 */
#ifndef COMMON_SAFE_FORKED_H
#define COMMON_SAFE_FORKED_H

#define WRITTEN_BY_FORKED __attribute__((section("written_by_forked")))

#endif
