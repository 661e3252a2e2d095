/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of modules, for the files of this folder. module.c owns it. Signal-safe. Test:
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

/* Constant once the module has its number, except its addresses in memory. */
struct module {
	const char *path;
	const char *name;      /* its last part */
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
	uint64_t device, inode; /* of the file; 0: unknown */
	bool is_gone;           /* its file had no name when the module was first seen */
	bool is_new;            /* the file was made or changed since the run began */
	_Atomic bool is_hit;    /* samples may name it */
	struct msr_module *record; /* in the file */
	/* Under the lock, or at the start: */
	uint64_t content;          /* without a build id: content_hash(); 0: unknown */
	bool content_was_read;     /* or could not be read */
	/* Under the lock of keep.c: */
	bool keep_is_done;         /* kept, or it cannot be */
	bool is_left_to_parent;    /* it had samples before the fork */
};

#define MODULE_EXE "/proc/self/exe"

/*
 * Takes the lock, and waits for another thread for a limited time. Returns false if it could not
 * take it. The table only grows; use its members that are not constant only under the lock.
 */
bool modules_lock(void);
void modules_unlock(void);
uint32_t modules_count(void);
/* False in a forked child that has recorded nothing yet: do not use any module's `record` then. */
bool modules_have_records(void);
struct module *module_at(uint32_t i);
/*
 * Call it without the lock. Returns the entry of the object loaded at the address, and makes it if
 * necessary, as module_of() does; MODULE_MAX on failure.
 */
uint32_t module_at_address(uintptr_t address);
/* Where the module is loaded, or 0. */
uintptr_t module_start_of(uint32_t i);
/* True if MODULE_EXE is the file of the module. */
bool module_is_exe(const struct module *m);

static inline uint64_t module_mtime_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

/*
 * Bytes of the record before the content. Computed from our own data, because other processes may
 * change the file.
 */
static inline size_t module_plain_bytes(const struct module *m)
{
	return msr_module_plain_bytes((uint32_t)strlen(m->path) + 1);
}

/* The inode number of a removed file may soon be used again, so size and time must agree, too. */
static inline bool module_is_file(const struct module *m, const struct stat *st)
{
	return m->inode == st->st_ino && m->device == st->st_dev &&
	       m->file_bytes == (uint64_t)st->st_size && m->file_mtime_ns == module_mtime_ns(st);
}

/* module_content.c: writes the content to the record, too. Under the lock. */
void module_set_content(struct module *m, uint64_t content);

#endif
