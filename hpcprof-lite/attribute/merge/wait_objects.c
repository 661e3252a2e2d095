/* SPDX-License-Identifier: BSD-3-Clause */
/* See wait_objects.h. */
#include "hpcprof-lite/attribute/merge/wait_objects.h"

#include "common/base/map.h"
#include "common/base/mapfile.h"
#include "hpcprof-lite/attribute/merge/merge.h"
#include "hpcprof-lite/load/data_symbols.h"
#include "hpcprof-lite/load/structures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wait_file {
	uint64_t *code; /* by id in the file */
	size_t n;
};

/*
 * The locks that were already looked up. Processes of one run share locks, so each is looked up
 * only once. Zero-initialise.
 */
struct known_locks {
	struct map codes;       /* (binary, link address) -> code */
	struct strtab binaries; /* path and key */
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/*
 * Returns NULL if the module of the lock is unknown. Its address then says nothing outside of the
 * process.
 */
static const char *module_of_lock(const struct load_file *f, msr_addr addr)
{
	const uint16_t module = msr_addr_module(addr);
	return module < f->modules.n && f->modules.at[module].record
			       && *f->modules.at[module].path
		       ? last_part(f->modules.at[module].path)
		       : NULL;
}

/* Returns NULL if the binary is missing, private or another one, or does not name the lock. */
static char *symbol_of_lock(const struct load_file *f, msr_addr addr)
{
	const struct load_module *m = &f->modules.at[msr_addr_module(addr)];
	struct mapfile image = {0};
	if (!load_open_binary(f, m, &image))
		return NULL;
	char *name = data_symbol_name(image.bytes, image.n_bytes, msr_addr_link(addr));
	mapfile_close(&image);
	return name;
}

/*
 * Names a lock in static data by its symbol, or else by its address in its module, which is the
 * same in every run. Returns less than 0 if memory is short.
 */
static int put_lock(char **name, const struct load_file *f, msr_addr addr, const char *module)
{
	char *symbol = symbol_of_lock(f, addr);
	const int n =
		symbol ? asprintf(name, "%s in %s", symbol, module)
		       : asprintf(name, "at 0x%" PRIx64 " in %s", msr_addr_link(addr), module);
	free(symbol);
	return n;
}

/* Returns the code of a name and frees the name. UINT64_MAX: memory is short. */
static uint64_t code_of_name(char *name, bool is_lock, struct strtab *strings)
{
	const uint32_t id = strtab_add_z(strings, name);
	free(name);
	return id == STRTAB_FAILED ? UINT64_MAX : MSR_WAIT_ON + 1 + (uint64_t)id * 2 + is_lock;
}

/* Identifies the binary of a lock among the binaries of all files. */
static uint32_t binary_of_lock(struct known_locks *known, const struct load_file *f, msr_addr addr)
{
	const struct load_module *m = &f->modules.at[msr_addr_module(addr)];
	const struct load_structure l = {.module = m->record, .path = m->path};
	char key[STRUCTURE_KEY_BYTES], *text;
	load_structure_key(&l, key);
	if (asprintf(&text, "%s %s", key, m->path) < 0)
		return STRTAB_FAILED;
	const uint32_t id = strtab_add_z(&known->binaries, text);
	free(text);
	return id;
}

static uint64_t code_of_lock(struct known_locks *known, const struct load_file *f, msr_addr addr,
			     const char *module, struct strtab *strings)
{
	const uint32_t binary = binary_of_lock(known, f, addr);
	const uint64_t found = map_get(&known->codes, binary, msr_addr_link(addr));
	char *name;
	if (binary == STRTAB_FAILED)
		return UINT64_MAX;
	if (found != MAP_NONE)
		return found;
	const uint64_t code = put_lock(&name, f, addr, module) < 0
				      ? UINT64_MAX
				      : code_of_name(name, true, strings);
	return code == UINT64_MAX ? code
				  : map_put(&known->codes, binary, msr_addr_link(addr), code);
}

static uint64_t code_of(struct known_locks *known, const struct load_file *f,
			const struct load_wait_object *o, struct strtab *strings)
{
	const bool is_lock = o->record && o->record->kind == MSR_WAIT_OBJECT_LOCK;
	const char *module = is_lock ? module_of_lock(f, o->record->addr) : NULL;
	char *name;
	if (!o->record || (is_lock && !module))
		return MSR_WAIT_ON;
	if (is_lock)
		return code_of_lock(known, f, o->record->addr, module, strings);
	return asprintf(&name, "%s", o->text) < 0 ? UINT64_MAX : code_of_name(name, false, strings);
}

static bool name_all(struct wait_file *to, const struct load_file *f, struct known_locks *known,
		     struct strtab *strings)
{
	to->n = f->wait_objects.n;
	to->code = calloc(to->n + 1, sizeof *to->code);
	if (!to->code)
		return false;
	for (size_t i = 0; i < to->n; i++)
		if ((to->code[i] = code_of(known, f, &f->wait_objects.at[i], strings)) ==
		    UINT64_MAX)
			return false;
	return true;
}

bool wait_objects_unify(struct wait_part *p, const struct load_job *job, struct strtab *strings)
{
	p->n_files = job->files.n;
	p->files = calloc(p->n_files + 1, sizeof *p->files);
	if (!p->files)
		return false;
	struct known_locks known = {0};
	bool ok = true;
	for (size_t i = 0; i < p->n_files && ok; i++)
		ok = name_all(&p->files[i], &job->files.at[i], &known, strings);
	map_free(&known.codes);
	strtab_free(&known.binaries);
	return ok;
}

const struct wait_file *wait_objects_of_file(const struct wait_part *p, size_t file)
{
	return p->files && p->files[file].n ? &p->files[file] : NULL;
}

uint64_t wait_objects_translate(const struct wait_file *f, uint64_t code)
{
	if (code < MSR_WAIT_ON)
		return code;
	return f && code - MSR_WAIT_ON < f->n ? f->code[code - MSR_WAIT_ON] : MSR_WAIT_ON;
}

uint32_t wait_objects_name(uint64_t code)
{
	return (uint32_t)((code - MSR_WAIT_ON - 1) / 2);
}

bool wait_objects_is_lock(uint64_t code)
{
	return (code - MSR_WAIT_ON - 1) % 2;
}

void wait_objects_free(struct wait_part *p)
{
	for (size_t i = 0; p->files && i < p->n_files; i++)
		free(p->files[i].code);
	free(p->files);
}

static bool name_waits(void *state, struct topic_run *r)
{
	return wait_objects_unify(state, r->job, &r->m->private_->strings);
}

static void take_file(const void *state, size_t file, struct merge_names *names)
{
	names->waits = wait_objects_of_file(state, file);
}

static void close_waits(void *state)
{
	wait_objects_free(state);
}

const struct topic_ops topic_waits = {.state_bytes = sizeof(struct wait_part),
				      .steps = {[TOPIC_NAME] = name_waits},
				      .take_file = take_file,
				      .close = close_waits};
