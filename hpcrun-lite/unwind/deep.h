/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths with more than max_depth frames. The unwinder keeps their innermost and outermost frames.
 * Later, when as much of the stack is in use, a walk ends after the innermost frames. Internal to
 * the unwinder. Signal-safe. Test: tests/cli/unwind/unwind_deep.sh.
 */
#ifndef HPCRUN_LITE_UNWIND_DEEP_H
#define HPCRUN_LITE_UNWIND_DEEP_H

#include "hpcrun-lite/unwind/internal.h"

/*
 * Returns how many records a walk from `sp` may have. Once a path was too deep, a walk of a stack
 * as large as that one stops after its innermost frames. A sample of a deep recursion then costs as
 * much as a sample of a shallow one.
 */
uint32_t deep_most_records(const struct unwind_thread *t, uint64_t sp);

/*
 * Keeps the outermost frames of a path: DEEP_ROOTS records from *r, and their addresses, which end
 * at *address_end. Returns false if they cannot be confirmed later.
 */
bool deep_keep_roots(struct unwind_thread *t, const struct record *r, const uint64_t *address_end);

/*
 * Makes the path of a walk that was too deep: the innermost addresses and the roots. Returns the
 * number of addresses, or 0 if the roots are not known. n_old: the number of addresses of the
 * previous path if that was deep too, otherwise 0. Sets *n_root and *n_same as in struct
 * unwind_path.
 */
uint32_t deep_join(const struct walk *w, uint32_t n_old, uint32_t *n_root, uint32_t *n_same);

#endif
