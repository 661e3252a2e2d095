/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The module map; see module.h. module_of runs in the signal handler on each miss of the unwinder's
 * recipe table, so the common case is a search through an array of start addresses. Must not wait,
 * and must not assume that an object is still loaded. Tests: tests/cli/run/run_modules.sh.
 */
#include "hpcrun-lite/runtime/code/module.h"

#include "common/safe/find_object.h"
#include "common/safe/forked.h"
#include "common/safe/load.h"
#include "common/safe/patience.h"
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "common/safe/trylock.h"
#include "hpcrun-lite/python/python.h"
#include "hpcrun-lite/runtime/code/elf_note.h"
#include "hpcrun-lite/runtime/code/keep.h"
#include "hpcrun-lite/runtime/code/maps.h"
#include "hpcrun-lite/runtime/code/module_internal.h"
#include "hpcrun-lite/runtime/records.h"
#include "hpcrun-lite/store/store.h"
#include "hpcrun-lite/unwind/unwind.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define MODULE_TEXT_BYTES (1u << 20) /* paths of all modules */

static struct {
	trylock lock;          /* for adding and moving */
	_Atomic bool missed;   /* a thread found the lock taken and continued without a module */
	_Atomic uint32_t n_unloads; /* number of times that objects were unloaded */
	_Atomic unsigned long long n_subs; /* the loader's count of unloads */
	_Atomic uint32_t n;
	_Atomic uintptr_t start[MODULE_MAX]; /* 0: moving; read without the lock */
	struct module module[MODULE_MAX];
	char program[PATH_MAX];
	bool is_exe; /* the program is what /proc/self/exe names */
	/* Under the lock, because the stack of the handler is small. */
	char scratch[PATH_MAX];
	struct maps_room room;
	size_t text_used;
	char text[MODULE_TEXT_BYTES];
} modules;

/* ---- writing ---- */

/*
 * True in a forked child that has recorded nothing: the modules' `record` is in the parent's file.
 */
static bool lacks_records WRITTEN_BY_FORKED;

bool modules_have_records(void)
{
	return !lacks_records;
}

static bool write_record(uint32_t i)
{
	struct module *m = &modules.module[i];
	const size_t path_bytes = strlen(m->path) + 1, plain = module_plain_bytes(m),
		     n = plain + (m->id_bytes ? 0 : sizeof m->content);
	enum msr_loss cause;
	struct msr_module *r = records_begin(MSR_MODULE, n, &cause);
	if (!r)
		return false;
	r->bytes = (uint32_t)n;
	r->id = (uint16_t)(i + 1);
	r->flags = m->flags;
	r->bias = m->bias;
	r->map_start = atomic_load_explicit(&modules.start[i], memory_order_relaxed);
	r->map_end = m->map_end;
	r->build_id_bytes = m->id_bytes;
	r->path_bytes = (uint32_t)path_bytes;
	r->file_bytes = m->file_bytes;
	r->file_mtime_ns = m->file_mtime_ns;
	memcpy(r->build_id, m->id, m->id_bytes);
	memcpy(r + 1, m->path, path_bytes);
	if (!m->id_bytes)
		memcpy((char *)r + plain, &m->content, sizeof m->content);
	m->record = r;
	records_end(MSR_MODULE, n);
	return true;
}

/* ---- names ---- */

struct path_search {
	uintptr_t address;
	char *path;
	size_t path_bytes;
};

static bool take_path(const struct maps_line *line, void *arg)
{
	const struct path_search *s = arg;
	if (s->address < line->start || s->address >= line->end)
		return true;
	const size_t n = strlen(line->path) + 1;
	if (n > 1 && n <= s->path_bytes)
		memcpy(s->path, line->path, n);
	return false;
}

/*
 * Finds the file mapped at `address`, for names relative to a directory that the program may have
 * left, and names of descriptors.
 */
static void path_from_maps(uintptr_t address, char *path, size_t path_bytes)
{
	maps_each(&modules.room, UINT64_MAX, take_path,
		  &(struct path_search){address, path, path_bytes});
}

/* Removes what the kernel adds to the name of a removed file. */
static void cut_deleted(char *path)
{
	static const char deleted[] = " (deleted)";
	const size_t n = strlen(path), m = sizeof deleted - 1;
	if (n > m && memcmp(path + n - m, deleted, m) == 0 && sys_access(path, 0 /* F_OK */) != 0)
		path[n - m] = '\0';
}

/* True for names like "/proc/self/fd/5", which may soon mean another file or none. */
static bool is_of_descriptor(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/dev/fd/", 8) == 0;
}

/*
 * Returns NULL if the name cannot be read. An empty name means the executable, so a failed read
 * must not return one.
 */
static const char *path_of(const struct dl_find_object *object, uint16_t *flags)
{
	const char *name = object->dlfo_link_map->l_name;
	*flags = 0;
	/* The loader owns the name, and the object may be unloaded now, so copy it with care. */
	size_t n = load_guarded(modules.scratch, (uintptr_t)name, sizeof modules.scratch);
	if (!memchr(modules.scratch, '\0', n))
		return NULL;
	if (strstr(modules.scratch, "linux-vdso") ||
	    (uintptr_t)object->dlfo_map_start == getauxval(AT_SYSINFO_EHDR)) {
		*flags = MSR_MODULE_VDSO;
		return "[vdso]";
	}
	if (modules.scratch[0] == '\0') {
		*flags = MSR_MODULE_MAIN;
		return modules.program;
	}
	if (modules.scratch[0] != '/' || is_of_descriptor(modules.scratch)) {
		path_from_maps((uintptr_t)object->dlfo_map_start, modules.scratch,
			       sizeof modules.scratch);
		cut_deleted(modules.scratch);
	}
	return modules.scratch;
}

static const char *keep_text(const char *s)
{
	size_t n = strlen(s) + 1;
	if (modules.text_used + n > MODULE_TEXT_BYTES)
		return NULL;
	char *kept = modules.text + modules.text_used;
	memcpy(kept, s, n);
	modules.text_used += n;
	return kept;
}

static bool find_file(const char *path, struct stat *st)
{
	return sys_call4(SYS_newfstatat, AT_FDCWD, (long)path, (long)st, 0) == 0;
}

/* The program's own file can still be opened after its name is gone. */
static void describe_file(struct module *m)
{
	struct stat st;
	if (m->path[0] != '/')
		return;
	m->is_gone = !find_file(m->path, &st);
	if (m->is_gone && !(module_is_exe(m) && find_file(MODULE_EXE, &st)))
		return;
	m->device = st.st_dev;
	m->inode = st.st_ino;
	m->is_new = keep_is_new(&st);
	m->file_bytes = (uint64_t)st.st_size;
	m->file_mtime_ns = module_mtime_ns(&st);
}

/* ---- finding and adding ---- */

/*
 * Returns true if entry i describes the object. Without a build id, another object at the same
 * place looks the same.
 */
static bool is_like(uint32_t i, const struct dl_find_object *object)
{
	const struct module *m = &modules.module[i];
	uint8_t id[MSR_BUILD_ID_MAX];
	if (m->map != object->dlfo_link_map || m->map_end != (uintptr_t)object->dlfo_map_end)
		return false;
	return m->id_at == 0 || (load_guarded(id, m->id_at, m->id_bytes) == m->id_bytes &&
				 memcmp(id, m->id, m->id_bytes) == 0);
}

static uint32_t n_unloads(void)
{
	return atomic_load_explicit(&modules.n_unloads, memory_order_acquire);
}

static bool still_there(uint32_t i, const struct dl_find_object *object)
{
	return is_like(i, object) &&
	       (modules.module[i].id_at != 0 ||
		atomic_load_explicit(&modules.module[i].seen, memory_order_relaxed) == n_unloads());
}

static bool is_loaded(uint32_t i)
{
	struct dl_find_object now;
	uintptr_t start = atomic_load_explicit(&modules.start[i], memory_order_relaxed);
	return start && find_object((void *)start, &now) == 0 &&
	       (uintptr_t)now.dlfo_map_start == start && is_like(i, &now);
}

static void place_at(uint32_t i, const struct dl_find_object *object, const struct elf_note *note)
{
	struct module *m = &modules.module[i];
	atomic_store_explicit(&modules.start[i], 0, memory_order_relaxed);
	m->bias = object->dlfo_link_map->l_addr;
	m->map = object->dlfo_link_map;
	m->map_end = (uintptr_t)object->dlfo_map_end;
	m->id_at = note->at;
	atomic_store_explicit(&m->seen, n_unloads(), memory_order_relaxed);
	atomic_store_explicit(&modules.start[i], (uintptr_t)object->dlfo_map_start,
			      memory_order_release); /* release: complete before it is found */
}

/*
 * Finds a known module that is not loaded now and equals the object: it was closed and opened
 * again.
 */
static bool find_again(const char *path, const struct elf_note *note, const struct module *like,
		       uint32_t *found)
{
	uint32_t n = atomic_load_explicit(&modules.n, memory_order_relaxed);
	for (uint32_t i = 0; i < n; i++) {
		const struct module *m = &modules.module[i];
		if (m->id_bytes == note->n_bytes &&
		    memcmp(m->id, note->build_id, note->n_bytes) == 0 &&
		    strcmp(m->path, path) == 0 &&
		    (note->n_bytes || (m->file_bytes == like->file_bytes &&
				       m->file_mtime_ns == like->file_mtime_ns)) &&
		    !is_loaded(i)) {
			*found = i;
			return true;
		}
	}
	return false;
}

/* Compares files, for an entry without a build id after objects were unloaded. The lock is held. */
static bool is_same_file(uint32_t i, const struct dl_find_object *object)
{
	struct module *m = &modules.module[i];
	struct module now = {0};
	const uint32_t n = n_unloads();
	if (m->id_at != 0 || !is_like(i, object))
		return false;
	now.path = path_of(object, &now.flags);
	if (!now.path)
		return false;
	describe_file(&now);
	if (strcmp(now.path, m->path) != 0 || now.file_bytes != m->file_bytes ||
	    now.file_mtime_ns != m->file_mtime_ns)
		return false;
	atomic_store_explicit(&m->seen, n, memory_order_relaxed);
	return true;
}

static bool is_elf_header(uintptr_t at)
{
	char magic[SELFMAG];
	return load_guarded(magic, at, sizeof magic) == sizeof magic &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/*
 * Returns the address of the object's ELF header. glibc returns one piece per segment if
 * the object has gaps between segments (an executable that is not PIE, such as node). Then the
 * piece does not start with the header.
 */
static uintptr_t header_of(const struct dl_find_object *object, uint16_t flags)
{
	uintptr_t start = (uintptr_t)object->dlfo_map_start;
	if (is_elf_header(start))
		return start;
	uintptr_t program = getauxval(AT_PHDR) - sizeof(ElfW(Ehdr));
	if ((flags & MSR_MODULE_MAIN) && is_elf_header(program))
		return program;
	return is_elf_header(object->dlfo_link_map->l_addr) ? object->dlfo_link_map->l_addr : start;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Gives a module its number and its record. The lock is held. Returns the index, or MODULE_MAX. */
static uint32_t append(const struct module *fresh, const struct dl_find_object *object,
		       const struct elf_note *note)
{
	uint32_t n = atomic_load_explicit(&modules.n, memory_order_relaxed);
	modules.module[n] = *fresh;
	modules.module[n].name = last_part(fresh->path);
	if (object)
		place_at(n, object, note);
	if (!write_record(n)) {
		atomic_store_explicit(&modules.start[n], 0, memory_order_relaxed);
		return MODULE_MAX;
	}
	atomic_store_explicit(&modules.n, n + 1, memory_order_release);
	return n;
}

/* A Python interpreter is in the program itself or in its own library. */
static bool may_be_python(const struct module *m)
{
	return (m->flags & MSR_MODULE_MAIN) || strncmp(last_part(m->path), "libpython", 9) == 0;
}

/*
 * Adds the object, or finds its number again. The lock is held. Returns the index, or MODULE_MAX.
 */
static uint32_t add(const struct dl_find_object *object)
{
	struct elf_note note;
	uint32_t i, n = atomic_load_explicit(&modules.n, memory_order_relaxed);
	struct module fresh = {0};
	fresh.path = path_of(object, &fresh.flags);
	if (!fresh.path)
		return MODULE_MAX;
	elf_note_find(header_of(object, fresh.flags), object->dlfo_link_map->l_addr, &note);
	describe_file(&fresh);
	if (find_again(fresh.path, &note, &fresh, &i)) {
		place_at(i, object, &note);
		/* Recipes and addresses of its former place must not be used for it. */
		unwind_flush_begin();
		unwind_flush_end();
		return i;
	}
	fresh.path = n < MODULE_MAX ? keep_text(fresh.path) : NULL;
	if (!fresh.path)
		return MODULE_MAX;
	fresh.id_bytes = (uint8_t)note.n_bytes;
	memcpy(fresh.id, note.build_id, note.n_bytes);
	i = append(&fresh, object, &note);
	if (i < MODULE_MAX && may_be_python(&fresh))
		python_consider(object->dlfo_link_map, (uint16_t)(i + 1));
	return i;
}

uint16_t module_add_logical(const char *name, uint16_t flags)
{
	if (!trylock_take(&modules.lock))
		return MSR_MODULE_UNKNOWN;
	struct module fresh = {.path = name, .flags = flags};
	uint32_t i = atomic_load_explicit(&modules.n, memory_order_relaxed) < MODULE_MAX
			     ? append(&fresh, NULL, NULL)
			     : MODULE_MAX;
	trylock_give(&modules.lock);
	return i < MODULE_MAX ? (uint16_t)(i + 1) : MSR_MODULE_UNKNOWN;
}

static uint32_t find(const struct dl_find_object *object)
{
	uint32_t n = atomic_load_explicit(&modules.n, memory_order_acquire);
	for (uint32_t i = 0; i < n; i++)
		if (atomic_load_explicit(&modules.start[i], memory_order_acquire) ==
		    (uintptr_t)object->dlfo_map_start)
			return i;
	return MODULE_MAX;
}

static uint16_t number_of(const struct dl_find_object *object, uintptr_t *bias)
{
	uint32_t i = find(object);
	if (i < MODULE_MAX && still_there(i, object)) {
		*bias = object->dlfo_link_map->l_addr;
		return (uint16_t)(i + 1);
	}
	if (!trylock_take(&modules.lock)) {
		atomic_store_explicit(&modules.missed, true, memory_order_relaxed);
		store_count_loss(MSR_LOSS_MODULE_TABLE);
		*bias = 0;
		return MSR_MODULE_UNKNOWN;
	}
	/* another object is here now; we did not notice when the old one was closed */
	if (i < MODULE_MAX && !is_same_file(i, object)) {
		atomic_store_explicit(&modules.start[i], 0, memory_order_relaxed);
		unwind_flush_begin();
		unwind_flush_end();
	}
	i = find(object); /* another thread may have added it */
	if (i == MODULE_MAX)
		i = add(object);
	if (atomic_exchange_explicit(&modules.missed, false, memory_order_relaxed)) {
		unwind_flush_begin(); /* forget what was cached without its module */
		unwind_flush_end();
	}
	trylock_give(&modules.lock);
	if (i == MODULE_MAX) {
		store_count_loss(MSR_LOSS_MODULE_TABLE);
		*bias = 0;
		return MSR_MODULE_UNKNOWN;
	}
	*bias = object->dlfo_link_map->l_addr;
	return (uint16_t)(i + 1);
}

uint16_t module_of(const struct dl_find_object *object, uintptr_t *bias)
{
	const uint16_t number = number_of(object, bias);
	if (number == MSR_MODULE_UNKNOWN)
		return number;
	/*
	 * Relaxed: it is read when samples have ended, or as a hint. Written once, because all
	 * threads share the cache line.
	 */
	_Atomic bool *is_hit = &modules.module[number - 1].is_hit;
	if (!atomic_load_explicit(is_hit, memory_order_relaxed))
		atomic_store_explicit(is_hit, true, memory_order_relaxed);
	return number;
}

uint32_t module_at_address(uintptr_t address)
{
	struct dl_find_object object;
	uintptr_t bias;
	if (find_object((void *)address, &object) != 0)
		return MODULE_MAX;
	const uint16_t number = number_of(&object, &bias);
	return number == MSR_MODULE_UNKNOWN ? MODULE_MAX : number - 1u;
}

uintptr_t module_start_of(uint32_t i)
{
	return atomic_load_explicit(&modules.start[i], memory_order_acquire);
}

bool module_is_exe(const struct module *m)
{
	return (m->flags & MSR_MODULE_MAIN) && modules.is_exe;
}

static int take_subs(struct dl_phdr_info *info, size_t size, void *n_subs)
{
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
		*(unsigned long long *)n_subs = info->dlpi_subs;
	return 1; /* the same number for all objects */
}

void module_closed(void)
{
	unsigned long long n_subs = 0;
	dl_iterate_phdr(take_subs, &n_subs);
	if (atomic_exchange_explicit(&modules.n_subs, n_subs, memory_order_relaxed) != n_subs)
		atomic_fetch_add_explicit(&modules.n_unloads, 1, memory_order_release);
}

/* ---- for others in this folder ---- */

bool modules_lock(void)
{
	struct patience p = {0};
	while (!trylock_take(&modules.lock))
		if (!patience_wait(&p))
			return false;
	return true;
}

void modules_unlock(void)
{
	trylock_give(&modules.lock);
}

uint32_t modules_count(void)
{
	return atomic_load_explicit(&modules.n, memory_order_acquire);
}

struct module *module_at(uint32_t i)
{
	return &modules.module[i];
}

/* ---- life ---- */

static int add_loaded(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		struct dl_find_object object;
		uintptr_t bias;
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		if (find_object((void *)(info->dlpi_addr + p->p_vaddr), &object) == 0)
			number_of(&object, &bias);
		break;
	}
	return 0;
}

void module_start(void)
{
	long n = sys_call4(SYS_readlinkat, AT_FDCWD, (long)MODULE_EXE, (long)modules.program,
			   sizeof modules.program - 1);
	modules.program[n > 0 ? n : 0] = '\0';
	/*
	 * Without AT_BASE, the dynamic loader itself was started, with the program as its argument.
	 * The loader has set the other entries to the program's values.
	 */
	modules.is_exe = getauxval(AT_BASE) != 0;
	if (!modules.is_exe)
		path_from_maps(getauxval(AT_PHDR), modules.program, sizeof modules.program);
	cut_deleted(modules.program);
	dl_iterate_phdr(add_loaded, NULL);
	module_read_contents();
}

void module_forked(void)
{
	trylock_forked(&modules.lock);
	find_object_forked();
	lacks_records = true;
}

void module_write_records(void)
{
	uint32_t n = atomic_load_explicit(&modules.n, memory_order_relaxed);
	for (uint32_t i = 0; i < n; i++)
		if (!write_record(i)) {
			modules.module[i].record = NULL;
			store_count_loss(MSR_LOSS_MODULE_TABLE);
		}
	lacks_records = false;
	keep_forked();
}

void module_own_range(uintptr_t *low, uintptr_t *high)
{
	struct dl_find_object object;
	*low = *high = 0;
	if (find_object((void *)(uintptr_t)module_own_range, &object) == 0) {
		*low = (uintptr_t)object.dlfo_map_start;
		*high = (uintptr_t)object.dlfo_map_end;
	}
}

const char *module_program(void)
{
	return modules.program;
}

void module_save_vdso(const char *directory)
{
	uintptr_t image = getauxval(AT_SYSINFO_EHDR);
	struct elf_note note;
	char path[PATH_MAX];
	if (!image)
		return;
	const ElfW(Ehdr) *header = (const void *)image;
	const ElfW(Phdr) *p = (const void *)(image + header->e_phoff);
	uint64_t n = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize, vaddr = 0;
	for (unsigned i = 0; i < header->e_phnum; i++)
		if (p[i].p_type == PT_LOAD) {
			vaddr = p[i].p_vaddr;
			n = p[i].p_filesz > n ? p[i].p_filesz : n;
		}
	elf_note_find(image, image - vaddr, &note);
	struct text t = text_in(path, sizeof path);
	text_put(&t, directory);
	text_put(&t, "/vdso");
	size_t n_directory = t.n;
	text_put_char(&t, '/');
	text_put_hex(&t, note.build_id, note.n_bytes);
	text_put(&t, ".so");
	/*
	 * Nearly always another process has made it. Checking costs a file server less than trying
	 * to create it.
	 */
	if (!note.n_bytes || t.cut || sys_access(path, 0 /* F_OK */) == 0)
		return;
	path[n_directory] = '\0';
	sys_call3(SYS_mkdirat, AT_FDCWD, (long)path, 0777);
	path[n_directory] = '/';
	int fd = sys_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	/* The section headers are after the loaded part, in the same mapped pages. */
	uint64_t done = 0;
	while (done < n) {
		long w = sys_write(fd, (const char *)image + done, n - done);
		if (w <= 0 && w != -EINTR)
			break;
		done += w > 0 ? (uint64_t)w : 0;
	}
	sys_close(fd);
}
