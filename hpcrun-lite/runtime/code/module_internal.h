/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of modules, for the files of this folder. Its owner is module.c. Signal-safe. Test:
 * tests/cli/run/run_modules.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_CODE_MODULE_INTERNAL_H
#define HPCRUN_LITE_RUNTIME_CODE_MODULE_INTERNAL_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define MODULE_MAX 4096u

struct link_map;

/* Constant once the module has its number, except its place. */
struct module {
	const char *path;
	uint16_t flags;
	uint8_t id_bytes;
	uint8_t id[MSR_BUILD_ID_MAX];
	uintptr_t bias;
	const struct link_map *map;
	uintptr_t map_end;
	uintptr_t id_at;       /* address of the build id in memory, 0: none */
	/* modules.n_unloads when it was last seen there; used without a build id */
	_Atomic uint32_t seen;
	uint64_t file_bytes, file_mtime_ns;
	/* Under the lock: */
	struct msr_module *record; /* in the file */
	uint64_t content;          /* without a build id: content_hash(); 0: unknown */
	bool content_was_read;     /* or nobody could */
};

/*
 * Takes the lock; false: not now. `waits`: waits for another thread, with a bound. The table only
 * grows, and what of it is not constant is used under the lock.
 */
bool modules_lock(bool waits);
void modules_unlock(void);
uint32_t modules_count(void);
struct module *module_at(uint32_t i);

static inline uint64_t module_mtime_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

/* Bytes of the record before the content. Others may change what is in the file. */
static inline size_t module_plain_bytes(const struct module *m)
{
	return msr_module_plain_bytes((uint32_t)strlen(m->path) + 1);
}

/* module_content.c: notes the content of a file that is open, in the record, too. Under the lock. */
void module_note_content(struct module *m, int fd);

#endif
