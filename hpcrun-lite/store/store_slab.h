/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the store uses slabs for children of fork (nursery.h): the parent's part of a fork, and the
 * move of a child from its slab to its own file. Private to the store. Signal-safe.
 */
#ifndef HPCRUN_LITE_STORE_STORE_SLAB_H
#define HPCRUN_LITE_STORE_STORE_SLAB_H

#include "hpcrun-lite/store/store_state.h"

/*
 * Moves from the slab to a file of its own. The process has one thread, and the caller holds
 * `growing`. On failure the process stays in the slab.
 */
enum space_result store_leave_slab(void);

/* Returns true in a child, before it has asked for the slab that the parent took for it. */
bool store_is_forked(void);

/*
 * In the child of fork: returns its brief slab, once. Returns NULL if there is none or the file was
 * shortened.
 */
struct msr_extent *store_slab_of_fork(void);

/* A brief process ends and needs no other slab. reopen: it does not end, because exec failed. */
void store_end_brief(void);
void store_reopen_brief(void);

/* In the child of fork: makes `image` zeros again if the parent used it. */
void store_forget_image(void);

#endif
