/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths with more than max_depth frames: of these, the innermost and the outermost are kept, and a
 * walk ends after the innermost where as much of the stack is in use. Internal to the unwinder.
 * Signal-safe. Test: tests/cli/unwind/unwind_deep.sh.
 */
#ifndef HPCRUN_LITE_UNWIND_DEEP_H
#define HPCRUN_LITE_UNWIND_DEEP_H

#include "hpcrun-lite/unwind/internal.h"

/*
 * How many records a walk from `sp` may have. Once a path was too deep, where the stack is as large
 * as then, its innermost frames are enough. So a sample of a deep recursion costs as much as one of
 * a shallow one.
 */
uint32_t deep_most_records(const struct unwind_thread *t, uint64_t sp);

/*
 * Keeps the outermost frames of a path: DEEP_ROOTS records from *r, and their addresses, which end
 * at *address_end. Returns false if they cannot be confirmed later.
 */
bool deep_keep_roots(struct unwind_thread *t, const struct record *r, const uint64_t *address_end);

/*
 * Makes the path of a walk that was too deep: the innermost addresses and the roots. Returns the
 * number of addresses, or 0 if the roots are not known. n_old: addresses of the previous path, if
 * that was deep too. Sets *n_root and *n_same as in struct unwind_path.
 */
uint32_t deep_join(const struct walk *w, uint32_t n_old, uint32_t *n_root, uint32_t *n_same);

#endif
