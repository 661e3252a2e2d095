/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a stopped thread may call dlopen(). It must hold none of the locks that dlopen() takes:
 * the loader's, the allocator's, those of fork and exit. So its call path must not go through the
 * dynamic linker, a function of libc that takes one, an allocator, or a signal handler, which may
 * have interrupted any of them. Test: tests/cli/attach/attach_programs.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_ATTACH_SAFE_PLACE_H
#define HPCRUN_LITE_LAUNCH_ATTACH_SAFE_PLACE_H

#include "hpcrun-lite/launch/attach/remote.h"

#include <stdbool.h>

struct safe_place;

/* Reads libc's symbols. Returns NULL if there is no memory or no libc. */
struct safe_place *safe_place_open(const struct target *t);
void safe_place_close(struct safe_place *s);
/* `r` is stopped; it was asleep in the kernel before. */
bool safe_place_is(struct safe_place *s, const struct remote *r, bool is_asleep);

#endif
