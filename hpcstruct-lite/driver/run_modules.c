/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds modules that context nodes refer to, and GPU code objects; see run_modules.h. All bytes are
 * foreign. */
#include "hpcstruct-lite/driver/run_modules.h"

#include "common/base/log.h"
#include "common/base/map.h"
#include "common/base/mapfile.h"
#include "common/base/vec.h"
#include "common/format/local_data.h"
#include "common/format/measurement_gpu.h"
#include "common/format/structure.h"
#include "common/rights/inside.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N_MODULE_IDS = 1 << 16 };

/* Smaller files are analysed completely, so their addresses are not needed. */
#define BIG_FILE_BYTES (256u << 10)
#define NO_INDEX UINT32_MAX

/* A GPU code object of the file being read, by id. */
struct code {
	uint32_t module; /* index, or NO_INDEX */
	bool has_run;    /* a record names one of its functions */
};

struct reader {
	const char *dir;
	VEC(struct rundir_module) modules;
	struct map by_key;     /* hash of key -> index */
	size_t n_files, n_not_kept;
	/* of the file being read; all is 0 from n_ids on */
	uint32_t n_ids;
	uint64_t n_nodes[N_MODULE_IDS];
	const struct msr_module *by_id[N_MODULE_IDS];
	uint32_t big_of[N_MODULE_IDS]; /* index + 1 of the module if its file is big */
	size_t n_big;
	struct map link_addrs; /* (address, index of module) that is in a list */
	VEC(struct code) codes;
	uint64_t n_file_bytes; /* ids of code objects are smaller */
};

static uint16_t note_id(struct reader *r, uint16_t id)
{
	r->n_ids = r->n_ids > id ? r->n_ids : id + 1u;
	return id;
}

static void count_nodes(struct reader *r, const struct msr_view *v)
{
	for (uint64_t at = 0; at + sizeof(struct msr_node) <= v->n_bytes;
	     at += sizeof(struct msr_node)) {
		const struct msr_node *n = (const void *)(v->content + at);
		r->n_nodes[note_id(r, msr_addr_module(n->addr))]++;
	}
}

static void note_modules(struct reader *r, const struct msr_view *v)
{
	for (uint64_t at = 0; at + sizeof(struct msr_module) <= v->n_bytes;) {
		const struct msr_module *m = (const void *)(v->content + at);
		if (m->bytes < sizeof *m || m->bytes % 8 != 0 || m->bytes > v->n_bytes - at ||
		    m->path_bytes == 0 || m->path_bytes > m->bytes - sizeof *m ||
		    ((const char *)(m + 1))[m->path_bytes - 1] != '\0' ||
		    m->build_id_bytes > MSR_BUILD_ID_MAX)
			break;
		r->by_id[note_id(r, m->id)] = m;
		at += m->bytes;
	}
}

static char *image_path(const struct reader *r, const struct msr_module *m, const char *key)
{
	char path[PATH_MAX];
	const char *name = (const char *)(m + 1);
	if (!(m->flags & MSR_MODULE_VDSO) && strcmp(name, "[vdso]") != 0 &&
	    strncmp(name, "linux-vdso.so", 13) != 0)
		return strdup(name);
	if (snprintf(path, sizeof path, "%s/vdso/%s.so", r->dir, key) >= (int)sizeof path)
		return NULL;
	return strdup(path);
}

/* Sets *path to NULL if there is no copy. Returns false when out of memory. */
static bool find_kept(const struct reader *r, const struct msr_module *m, char **path)
{
	char name[MSR_KEPT_NAME_BYTES];
	*path = NULL;
	if (!msr_kept_name(name, m->build_id, m->build_id_bytes, msr_module_content(m)))
		return true;
	if (asprintf(path, "%s/" MSR_KEPT_DIRECTORY "/%s", r->dir, name) < 0)
		return false;
	if (access(*path, R_OK) != 0) {
		free(*path);
		*path = NULL;
	}
	return true;
}

static bool add_module(struct reader *r, uint32_t id)
{
	const struct msr_module *m = r->by_id[id];
	uint64_t n_nodes = r->n_nodes[id];
	char key[STRUCTURE_KEY_BYTES];
	if (m->flags & MSR_MODULE_PYTHON) /* no binary */
		return true;
	structure_key(key, m->build_id, m->build_id_bytes, (const char *)(m + 1), m->file_bytes,
		      m->file_mtime_ns, msr_module_content(m));
	uint64_t i = map_put(&r->by_key, hash_bytes(key, strlen(key)), 0, r->modules.n);
	if (i == MAP_NONE)
		return false;
	if (m->file_bytes >= BIG_FILE_BYTES) {
		r->big_of[id] = (uint32_t)i + 1;
		r->n_big++;
	}
	if (i < r->modules.n) {
		r->modules.at[i].n_nodes += n_nodes;
		return true;
	}
	char *path = image_path(r, m, key), *kept = NULL;
	struct rundir_module *slot =
		path && find_kept(r, m, &kept) ? vec_push(&r->modules) : NULL;
	if (!slot) {
		free(path);
		free(kept);
		return false;
	}
	*slot = (struct rundir_module){.path = path,
				       .is_inside = strcmp(path, (const char *)(m + 1)) != 0,
				       .kept = kept,
				       .flags = m->flags,
				       .build_id_bytes = m->build_id_bytes,
				       .file_bytes = m->file_bytes,
				       .file_mtime_ns = m->file_mtime_ns,
				       .content = msr_module_content(m),
				       .n_nodes = n_nodes};
	memcpy(slot->build_id, m->build_id, m->build_id_bytes);
	memcpy(slot->key, key, sizeof key);
	return true;
}

/*
 * Returns true for a name that can only be a file in gpubins/: 32 hexadecimal digits and a suffix.
 */
static bool is_code_name(const char *name, const char *hash)
{
	return strncmp(name, hash, 32) == 0 && name[32] == '.' && !strchr(name, '/');
}

/* ---- GPU code objects ---- */

/*
 * Returns the entry for the code object with this id in the file being read; NULL when out of
 * memory.
 */
static struct code *code_of(struct reader *r, uint32_t id)
{
	static struct code none;
	if (id >= r->n_file_bytes / sizeof(struct msr_gpu_definition))
		return &none; /* damage: ids are consecutive */
	size_t n = r->codes.n;
	if (id >= n && !vec_extend(&r->codes, id + 1 - n))
		return NULL;
	for (; n < r->codes.n; n++)
		r->codes.at[n].module = NO_INDEX;
	return &r->codes.at[id];
}

static bool add_code(struct reader *r, const struct msr_gpu_def_code *c)
{
	char key[STRUCTURE_KEY_BYTES], path[PATH_MAX];
	const char *name = (const char *)(c + 1);
	snprintf(key, sizeof key, "%016llx%016llx", (unsigned long long)c->hash[0],
		 (unsigned long long)c->hash[1]);
	if (!is_code_name(name, key) ||
	    snprintf(path, sizeof path, "%s/gpubins/%s", r->dir, name) >= (int)sizeof path) {
		r->n_not_kept += c->kind != MSR_GPU_CODE_BUILTIN;
		return true;
	}
	uint64_t i = map_put(&r->by_key, hash_bytes(key, strlen(key)), 0, r->modules.n);
	struct code *code = i == MAP_NONE ? NULL : code_of(r, c->head.id);
	if (code)
		code->module = (uint32_t)i;
	if (!code || i < r->modules.n)
		return code != NULL;
	char *copy = strdup(path);
	struct rundir_module *slot = copy ? vec_push(&r->modules) : NULL;
	if (!slot) {
		free(copy);
		return false;
	}
	*slot = (struct rundir_module){.path = copy, .is_code_object = true, .is_inside = true};
	memcpy(slot->key, key, sizeof key);
	return true;
}

static bool note_function(struct reader *r, const uint8_t *record, uint32_t n_bytes)
{
	struct msr_gpu_def_function f;
	if (n_bytes < sizeof f)
		return true;
	memcpy(&f, record, sizeof f);
	struct code *code = f.code ? code_of(r, f.code) : NULL;
	if (code)
		code->has_run = true;
	return code || !f.code;
}

static bool read_definitions(struct reader *r, const struct msr_view *v)
{
	struct msr_gpu_def_code c;
	for (uint64_t at = 0; at + sizeof c.head <= v->n_bytes; at += c.head.bytes) {
		memcpy(&c.head, v->content + at, sizeof c.head);
		if (c.head.bytes < sizeof c.head || c.head.bytes % 8 != 0 ||
		    c.head.bytes > v->n_bytes - at)
			break;
		if (c.head.type == MSR_GPU_DEF_FUNCTION &&
		    !note_function(r, v->content + at, c.head.bytes))
			return false;
		if (c.head.type != MSR_GPU_DEF_CODE)
			continue;
		size_t room = c.head.bytes - sizeof c.head;
		const struct msr_gpu_def_code *d = (const void *)(v->content + at);
		if (c.head.bytes < sizeof c || c.head.name_bytes == 0 ||
		    c.head.name_bytes > room - (sizeof c - sizeof c.head) ||
		    ((const char *)(d + 1))[c.head.name_bytes - 1] != '\0')
			break;
		if (!add_code(r, d))
			return false;
	}
	return true;
}

static void use_codes(struct reader *r)
{
	for (size_t i = 0; i < r->codes.n; i++)
		if (r->codes.at[i].module != NO_INDEX)
			r->modules.at[r->codes.at[i].module].n_nodes += r->codes.at[i].has_run;
}

/* ---- addresses in big binaries ---- */

static bool add_address(struct reader *r, msr_addr addr)
{
	uint32_t module = r->big_of[msr_addr_module(addr)];
	if (module == 0)
		return true;
	size_t n = r->link_addrs.n;
	if (map_put(&r->link_addrs, msr_addr_link(addr), module, 0) == MAP_NONE)
		return false;
	uint64_t *slot =
		r->link_addrs.n > n ? vec_push(&r->modules.at[module - 1].link_addrs) : NULL;
	if (slot)
		*slot = msr_addr_link(addr);
	return slot || r->link_addrs.n == n;
}

static bool add_addresses(struct reader *r, const struct msr_view *v)
{
	bool ok = true;
	if (v->extent->kind == MSR_NODE)
		for (uint64_t at = 0; at + sizeof(struct msr_node) <= v->n_bytes && ok;
		     at += sizeof(struct msr_node))
			ok = add_address(r, ((const struct msr_node *)(v->content + at))->addr);
	uint64_t stride = v->extent->kind == MSR_OMP_REGION ? v->extent->record_bytes : 0;
	for (uint64_t at = 0; stride >= sizeof(struct msr_omp_region) && stride % 8 == 0 &&
			      at + stride <= v->n_bytes && ok;
	     at += stride) {
		const struct msr_omp_region *region = (const void *)(v->content + at);
		ok = add_address(r, region->call) && add_address(r, region->function);
	}
	return ok;
}

static bool read_addresses(struct reader *r, const uint8_t *bytes, uint64_t n_bytes)
{
	uint64_t position = MSR_HEADER_BYTES, skipped;
	struct msr_view v;
	for (enum msr_scan s;
	     (s = msr_next_extent(bytes, n_bytes, &position, &v, &skipped)) != MSR_SCAN_END;)
		if (s == MSR_SCAN_EXTENT && !add_addresses(r, &v))
			return false;
	return true;
}

/* ---- files ---- */

static void forget_process(struct reader *r)
{
	memset(r->n_nodes, 0, r->n_ids * sizeof *r->n_nodes);
	memset(r->by_id, 0, r->n_ids * sizeof *r->by_id);
	memset(r->big_of, 0, r->n_ids * sizeof *r->big_of);
	r->n_ids = 0;
	r->n_big = 0;
	vec_clear(&r->codes);
}

static bool read_extents(struct reader *r, const uint8_t *bytes, uint64_t n_bytes)
{
	uint64_t position = MSR_HEADER_BYTES, skipped;
	struct msr_view v;
	forget_process(r);
	r->n_file_bytes = n_bytes;
	for (enum msr_scan s;
	     (s = msr_next_extent(bytes, n_bytes, &position, &v, &skipped)) != MSR_SCAN_END;) {
		if (s == MSR_SCAN_EXTENT && v.extent->kind == MSR_NODE)
			count_nodes(r, &v);
		else if (s == MSR_SCAN_EXTENT && v.extent->kind == MSR_MODULE)
			note_modules(r, &v);
		else if (s == MSR_SCAN_EXTENT && v.extent->kind == MSR_GPU_DEFINITION &&
			 !read_definitions(r, &v))
			return false;
	}
	for (unsigned id = 1; id < r->n_ids; id++)
		if (r->by_id[id] && r->n_nodes[id] > 0 && !add_module(r, id))
			return false;
	use_codes(r);
	return r->n_big == 0 || read_addresses(r, bytes, n_bytes);
}

/*
 * Reads the process of the file, and the forked children in the same file. `part` is NULL unless
 * the file was copied while its process ran.
 */
static bool read_processes(struct reader *r, const struct local_part *part, const uint8_t *bytes,
			   uint64_t n_bytes)
{
	uint64_t position = MSR_HEADER_BYTES, skipped;
	unsigned major = 0;
	struct msr_view v;
	n_bytes = part ? local_part_end(&part->header, n_bytes) : n_bytes;
	if (!read_extents(r, bytes, n_bytes))
		return false;
	for (enum msr_scan s;
	     (s = msr_next_extent(bytes, n_bytes, &position, &v, &skipped)) != MSR_SCAN_END;)
		if (s == MSR_SCAN_EXTENT && msr_is_process(&v)
		    && msr_check_header(v.content, v.n_bytes, &major) == MSR_HEADER_SOUND
		    && !read_extents(r, v.content,
				     part ? local_part_end((const void *)v.content, v.n_bytes)
					  : v.n_bytes))
			return false;
	return true;
}

/* Opens the file, or the local file of this node that has its data. */
static enum status open_file(const char *path, struct mapfile *file)
{
	struct local_data l;
	enum status status = inside_map(path, 1, file);
	if (status != STATUS_OK || !local_data_read(file->bytes, file->n_bytes, &l) ||
	    !local_data_is_here(&l))
		return status;
	const int fd = local_data_open(&l, file->owner);
	mapfile_close(file);
	return mapfile_take(fd, l.path, file);
}

static enum status read_file(struct reader *r, const char *path)
{
	struct mapfile file;
	struct local_data elsewhere;
	enum status status = open_file(path, &file);
	if (status != STATUS_OK)
		return status;
	unsigned major = 0;
	const struct local_part *part = local_data_part(file.bytes, file.n_bytes);
	enum msr_header_state state =
		msr_check_header(part ? (const uint8_t *)&part->header : file.bytes, file.n_bytes,
				 &major);
	if (state == MSR_HEADER_SOUND) {
		r->n_files++;
		if (!read_processes(r, part, file.bytes, file.n_bytes)) {
			log_error(path, "out of memory");
			status = STATUS_NO_MEMORY;
		}
	} else if (local_data_read(file.bytes, file.n_bytes, &elsewhere)) {
		if (local_data_is_gone(&elsewhere))
			log_warn(path, "its data are not on this node any more (%s); left out",
				 elsewhere.path);
		else
			log_warn(path, "its data are still on %s (%s); left out", elsewhere.host,
				 elsewhere.path);
	} else if (state == MSR_HEADER_OTHER_VERSION) {
		log_warn(path,
			 "measurement file of version %u; this program reads version %u; left out",
			 major, MSR_VERSION_MAJOR);
	} else {
		log_warn(path, "%s; left out",
			 state == MSR_HEADER_SHORT       ? "shorter than a header"
			 : state == MSR_HEADER_UNWRITTEN ? "its header was never written"
							 : "not a measurement file");
	}
	mapfile_close(&file);
	return status;
}

static int compare_modules(const void *a, const void *b)
{
	const struct rundir_module *x = a, *y = b;
	int by_path = strcmp(x->path, y->path);
	return by_path ? by_path : strcmp(x->key, y->key);
}

static bool is_measurement(const char *name)
{
	size_t n = strlen(name), suffix = strlen(MSR_SUFFIX);
	return n > suffix && strcmp(name + n - suffix, MSR_SUFFIX) == 0;
}

static enum status read_all(struct reader *r, DIR *d)
{
	enum status status = STATUS_OK;
	for (const struct dirent *e; status != STATUS_NO_MEMORY && (e = readdir(d));) {
		char path[PATH_MAX];
		if (is_measurement(e->d_name) &&
		    snprintf(path, sizeof path, "%s/%s", r->dir, e->d_name) < (int)sizeof path)
			status = read_file(
				r, path); /* errors of earlier files are already logged */
	}
	if (status != STATUS_NO_MEMORY && r->n_files == 0) {
		log_error(r->dir, "no measurement file (*" MSR_SUFFIX
				  ") that can be read is in this directory");
		return STATUS_NOT_FOUND;
	}
	return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void free_module(struct rundir_module *m)
{
	free(m->path);
	free(m->kept);
	vec_free(&m->link_addrs);
}

/* Removes code objects that were loaded but never ran, and sorts. */
static void finish(struct reader *r)
{
	size_t n = 0;
	for (size_t i = 0; i < r->modules.n; i++) {
		struct rundir_module *m = &r->modules.at[i];
		if (m->n_nodes == 0) {
			free_module(m);
			continue;
		}
		if (m->link_addrs.n > 1)
			qsort(m->link_addrs.at, m->link_addrs.n, sizeof *m->link_addrs.at,
			      compare_addresses);
		r->modules.at[n++] = *m;
	}
	r->modules.n = n;
	if (n > 1)
		qsort(r->modules.at, n, sizeof *r->modules.at, compare_modules);
}

enum status rundir_read(const char *path, struct rundir *run)
{
	struct stat st;
	DIR *d = opendir(path);
	if (!d || fstat(dirfd(d), &st) != 0) {
		log_error(path, "%s", strerror(errno));
		if (d)
			closedir(d);
		return STATUS_IO;
	}
	struct reader *r = calloc(1, sizeof *r);
	enum status status = r ? STATUS_OK : STATUS_NO_MEMORY;
	if (!r)
		log_error(path, "out of memory");
	if (r) {
		r->dir = path;
		status = read_all(r, d);
		finish(r);
		*run = (struct rundir){r->modules.at, r->modules.n, st.st_uid, r->n_files,
				       r->n_not_kept};
		map_free(&r->by_key);
		map_free(&r->link_addrs);
		vec_free(&r->codes);
		free(r);
		if (status != STATUS_OK)
			rundir_free(run);
	}
	closedir(d);
	return status;
}

void rundir_free(struct rundir *run)
{
	for (size_t i = 0; i < run->n_modules; i++)
		free_module(&run->modules[i]);
	free(run->modules);
	*run = (struct rundir){0};
}
