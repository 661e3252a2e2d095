/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of functions for one model after the other of the same run. It keeps structures open. If a
 * binary has none yet, the names come from its symbols, because there is no time to make one. Test:
 * tests/cli/live/live_run.sh.
 */
#ifndef HPCPROF_LITE_LIVE_LIVE_NAMES_H
#define HPCPROF_LITE_LIVE_LIVE_NAMES_H

#include "common/base/map.h"
#include "hpcprof-lite/attribute/attribute.h"
#include "hpcprof-lite/load/structures.h"

struct live_binary {
	struct load_structure found; /* its strings are owned; structure NULL: there is none */
	enum model_structure state;
	struct structure *symbols; /* in place of a structure; NULL: none */
	uint8_t *bytes;            /* of `symbols` */
	VEC(uint64_t) link_addrs;  /* that `symbols` was made for */
};

/* Zero it, and set the directories. */
struct live_names {
	char *const *directories; /* measurement directories; borrowed */
	size_t n_directories;
	VEC(struct live_binary) binaries;
	struct map by_key, tried; /* key of a binary: index; (index, address): was looked up */
	size_t n_by_symbols;      /* binaries without a structure */
};

/* The find_structures() of attribute_run(); `arg` is a struct live_names. */
void live_names_find(void *arg, const struct merge_modules *all, const bool *needed,
		     const struct attribute_frame *frames, size_t n_frames,
		     const struct structure **structures, enum model_structure *states);
void live_names_close(struct live_names *n);

#endif
