/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of NVTX in this process: each has one id and one record in the file. They stay in
 * memory, because a forked child writes the names that it uses into its own file. Any thread may
 * call these functions, but not our handler. They wait at most 1 s for a thread that is recording a
 * name; what could not be recorded is counted. Test: tests/cli/nvtx/nvtx_limits.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_NVTX_NVTX_NAMES_H
#define HPCRUN_LITE_RUNTIME_NVTX_NVTX_NAMES_H

#include "common/format/measurement_nvtx.h"
#include "common/safe/trylock.h"

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

/* A text of the program, at most MSR_NVTX_TEXT_MOST - 1 bytes. */
struct nvtx_text {
	char bytes[MSR_NVTX_TEXT_MOST];
	size_t n;
};
void nvtx_text_set(struct nvtx_text *to, const char *from);
/* As UTF-8. */
void nvtx_text_set_wide(struct nvtx_text *to, const wchar_t *from);

/*
 * Takes a lock that our handler never takes; waits at most 1 s. Blocks signals, so that no handler
 * of the program finds the lock taken or jumps out; *mask is for nvtx_names_give(). Returns false
 * and counts a lost detail if it could not take the lock. Also returns false, without a system
 * call, if nothing is recorded.
 */
bool nvtx_names_take(trylock *l, uint64_t *mask);
void nvtx_names_give(trylock *l, uint64_t mask);

/* Before the first name. Returns false if there is no memory. Later calls do nothing. */
bool nvtx_names_start(void);
/* In a forked child, after store_open. */
void nvtx_names_forked(void);

struct nvtx_name {
	enum msr_nvtx_name_kind kind;
	uint32_t domain, category, thread;
	const char *source; /* NULL: not known. The first one given is kept */
};
/*
 * Returns the id of a name; 0: there are too many, or it could not be recorded. If names of ranges
 * differ only by a number at the end, the first 16 get ids of their own and the others share
 * "NAME*".
 */
uint32_t nvtx_names_find(const struct nvtx_name *name, const struct nvtx_text *text);
/*
 * Returns the id that a range's text at this address had before, if the text is still the same;
 * else 0. Most programs pass the same constants again and again.
 */
uint32_t nvtx_names_known(uint32_t domain, uint32_t category, const char *text);
/* Remembers the id of the text at this address for nvtx_names_known(). Ignores id 0. */
void nvtx_names_remember(uint32_t domain, uint32_t category, const char *text, uint32_t id);
/*
 * Does the same for an id that the program kept. Returns 0 if it is not the id of a name of this
 * kind.
 */
uint32_t nvtx_names_again(enum msr_nvtx_name_kind kind, uint32_t id);

#endif
