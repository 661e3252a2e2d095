/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See safe_place.h. libunwind walks the stack of the other process (libunwind-ptrace(3)); its own
 * way to read memory, a word at a time, is replaced. A path that it cannot follow to its end, as in
 * code made at run time, is enough if the thread waits in a system call that none of these make.
 */
#include "hpcrun-lite/launch/attach/safe_place.h"

#include "common/safe/newer.h"
#include "hpcrun-lite/config/config.h"

#include <libunwind-ptrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MOST = 4096, OBJECTS_MOST = 64, PAGES = 256, PAGE_BYTES = 4096 };

/* Functions of libc that hold a lock which dlopen() takes, or change what it would see half. */
static const char locking[] =
	"malloc calloc realloc free memalign aligned_alloc posix_memalign valloc pvalloc "
	"reallocarray malloc_trim malloc_usable_size mallopt malloc_stats malloc_info mallinfo "
	"mallinfo2 fork _Fork vfork __register_atfork clone pthread_create thrd_create "
	"pthread_exit pthread_cancel exit quick_exit on_exit __cxa_atexit __cxa_finalize "
	"__cxa_at_quick_exit dlopen dlclose dlsym dlvsym dlmopen dladdr dladdr1 dlinfo dlerror "
	"dl_iterate_phdr __libc_dlopen_mode posix_spawn posix_spawnp system popen execve fexecve "
	"setuid setgid setresuid setresgid seteuid setegid setgroups abort";
enum { LOCKING_MOST = 128 };

/* An object that was met on a stack. */
struct met {
	struct target_object object;
	bool allocates; /* it has a malloc() of its own */
};

struct page {
	uintptr_t at; /* 1: none */
	bool is_there;
	uint8_t byte[PAGE_BYTES];
};

struct safe_place {
	const struct target *t;
	struct page page[PAGES]; /* of the stopped process: it is read a word at a time */
	unw_addr_space_t space;
	unw_accessors_t accessors;
	struct target_object libc, thread; /* before glibc 2.34 threads had a library */
	struct target_object own;          /* ours, if it is there */
	uintptr_t code[LOCKING_MOST];      /* where these functions begin */
	unsigned n_code;
	struct met met[OBJECTS_MOST];
	unsigned n_met;
};

/* libunwind passes its own argument on; the memory is of the process that is looked at. */
static struct safe_place *current;

static const struct page *page_of(uintptr_t at)
{
	at &= ~(uintptr_t)(PAGE_BYTES - 1);
	struct page *p = &current->page[at / PAGE_BYTES % PAGES];
	if (p->at != at) {
		p->at = at;
		p->is_there = target_read(current->t, at, p->byte, sizeof p->byte);
	}
	return p;
}

static bool read_bytes(uintptr_t at, void *to, size_t n_bytes)
{
	const struct page *p = page_of(at);
	const size_t offset = at % PAGE_BYTES;
	if (offset + n_bytes > PAGE_BYTES)
		return target_read(current->t, at, to, n_bytes);
	memcpy(to, p->byte + offset, n_bytes);
	return p->is_there;
}

static void forget_pages(struct safe_place *s)
{
	for (unsigned i = 0; i < PAGES; i++)
		s->page[i].at = 1;
}

static int access_mem(unw_addr_space_t space, unw_word_t at, unw_word_t *value, int writes,
		      void *arg)
{
	(void)space, (void)arg;
	return !writes && read_bytes(at, value, sizeof *value) ? 0 : -UNW_EINVAL;
}

static void find_locking(struct safe_place *s, struct target_object *in)
{
	char name[32];
	for (const char *at = locking; sscanf(at, "%31s", name) == 1 && s->n_code < LOCKING_MOST;) {
		at += strspn(at, " ") + strlen(name);
		const uintptr_t code = target_function(s->t, in, name);
		if (code)
			s->code[s->n_code++] = code;
	}
}

struct safe_place *safe_place_open(const struct target *t)
{
	struct safe_place *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->t = t;
	s->accessors = _UPT_accessors;
	s->accessors.access_mem = access_mem;
	s->space = unw_create_addr_space(&s->accessors, 0);
	if (!s->space || !target_object_named(t, "libc.so.6", &s->libc)) {
		safe_place_close(s);
		return NULL;
	}
	find_locking(s, &s->libc);
	if (target_object_named(t, "libpthread.so.0", &s->thread))
		find_locking(s, &s->thread);
	if (!target_object_named(t, CONFIG_LIBRARY, &s->own))
		s->own = (struct target_object){0};
	return s;
}

void safe_place_close(struct safe_place *s)
{
	if (!s)
		return;
	if (s->space)
		unw_destroy_addr_space(s->space);
	target_object_free(&s->libc);
	target_object_free(&s->thread);
	for (unsigned i = 0; i < s->n_met; i++)
		target_object_free(&s->met[i].object);
	free(s);
}

static bool is_in(const struct target_object *o, uintptr_t address)
{
	return address - o->lo < o->hi - o->lo;
}

/* Whether the object of this address brings an allocator of its own. */
static bool allocates(struct safe_place *s, uintptr_t address)
{
	if (is_in(&s->libc, address))
		return false;
	for (unsigned i = 0; i < s->n_met; i++)
		if (is_in(&s->met[i].object, address))
			return s->met[i].allocates;
	if (s->n_met == OBJECTS_MOST)
		return true;
	struct met *m = &s->met[s->n_met];
	if (!target_object_at(s->t, address, &m->object))
		return false; /* code made at run time */
	m->allocates = target_function(s->t, &m->object, "malloc") != 0;
	target_object_free(&m->object);
	s->n_met++;
	return m->allocates;
}

static bool takes_lock(const struct safe_place *s, uintptr_t begin)
{
	for (unsigned i = 0; i < s->n_code; i++)
		if (s->code[i] == begin)
			return true;
	return false;
}

/*
 * The code to which a handler returns. libunwind knows libc's alone; other run times have their
 * own, and so do we.
 */
static bool returns_from_handler(uintptr_t pc)
{
	static const uint8_t libcs[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05},
			     shorter[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
	uint8_t code[sizeof libcs];
	return read_bytes(pc, code, sizeof code) &&
	       (!memcmp(code, libcs, sizeof libcs) || !memcmp(code, shorter, sizeof shorter));
}

/* It waits in the kernel, in a call that allocators and the loader do not make. */
static bool waits_elsewhere(const struct remote *r, bool is_asleep)
{
	if (!is_asleep)
		return false;
	switch ((long)r->regs.orig_rax) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mremap:
	case SYS_mprotect:
	case SYS_madvise:
	case SYS_brk:
	case SYS_open:
	case SYS_openat:
	case SYS_pread64:
	case SYS_close:
	case SYS_fstat:
	case SYS_newfstatat:
	case SYS_clone:
	case SYS_clone3:
	case SYS_sched_yield: return false;
	default: return (long)r->regs.orig_rax >= 0;
	}
}

enum verdict { SAFE, UNSAFE, UNKNOWN };

/* The stack from the innermost frame to the outermost. */
static enum verdict walk(struct safe_place *s, unw_cursor_t *cursor, bool is_waiting)
{
	int more = 1;
	for (unsigned i = 0; i < FRAMES_MOST; i++) {
		unw_word_t pc = 0;
		unw_proc_info_t info;
		if (unw_get_reg(cursor, UNW_REG_IP, &pc) != 0)
			return UNKNOWN;
		if (!pc)
			return SAFE;
		if (pc - s->t->linker_lo < s->t->linker_hi - s->t->linker_lo ||
		    unw_is_signal_frame(cursor) > 0 || returns_from_handler(pc))
			return UNSAFE;
		/* in our code, as at _exit; not in a hook of a wait, which libc makes */
		if (is_in(&s->own, pc) && (!is_waiting || i == 0))
			return UNSAFE;
		if (unw_get_proc_info(cursor, &info) != 0)
			return UNKNOWN;
		if (takes_lock(s, info.start_ip) || (!is_waiting && allocates(s, pc)))
			return UNSAFE;
		more = unw_step(cursor);
		if (more <= 0)
			return more == 0 ? SAFE : UNKNOWN;
	}
	return UNKNOWN;
}

bool safe_place_is(struct safe_place *s, const struct remote *r, bool is_asleep)
{
	unw_cursor_t cursor;
	const bool is_waiting = waits_elsewhere(r, is_asleep);
	void *argument = _UPT_create(r->tid);
	if (!argument)
		return false;
	current = s;
	forget_pages(s);
	const enum verdict v = unw_init_remote(&cursor, s->space, argument) == 0
				       ? walk(s, &cursor, is_waiting)
				       : UNKNOWN;
	_UPT_destroy(argument);
	return v == SAFE || (v == UNKNOWN && is_waiting);
}
