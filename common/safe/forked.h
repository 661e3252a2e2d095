/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks variables that a child of fork writes to when it begins. The kernel copies each page that
 * the child writes to, and that is most of what a short child costs us. So these variables are
 * kept together, in few pages.
 */
#ifndef COMMON_SAFE_FORKED_H
#define COMMON_SAFE_FORKED_H

#define WRITTEN_BY_FORKED __attribute__((section("written_by_forked")))

#endif
