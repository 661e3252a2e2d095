/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See hook_got.h. System V ABI, "Global Offset Table"; its entries are the relocations of two types
 * in each object's dynamic section. Other threads may call through an entry at any time, so each is
 * one store. Must not call malloc.
 */
#include "hpcrun-lite/hooks/hook_got.h"

#include "common/safe/find_object.h"
#include "common/safe/library_symbol.h"
#include "common/safe/sys.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

struct changed {
	_Atomic uintptr_t *entry;
	uintptr_t was, is;
};

/* A function that some object calls. */
struct name {
	char name[48];
	uintptr_t hook, libcs;
	bool is_libcs; /* the loader finds libc's, too: nobody has put another one in front */
};
enum { NAMES_MOST = 256 };

static struct {
	struct name name[NAMES_MOST];
	unsigned n_names;
	struct library own;
	uintptr_t own_lo, own_hi; /* our code and data */
	struct changed *list;
	size_t n, room;
	bool is_full;
} got;

/* What a table of an object is made of. */
struct object {
	uintptr_t bias, lo, hi;       /* all that is mapped of it */
	uintptr_t relro_lo, relro_hi; /* read-only after relocation; empty if equal */
	const char *strings;
	const ElfW(Sym) * symbols;
	const ElfW(Rela) * table[2];
	size_t n[2];
};

/* ---- which function ---- */

/*
 * What stands in front of libc only for its own purposes: our interface, what other libraries look
 * for, and what a program that starts measured needs for the processes that it starts.
 */
static bool is_no_hook(const char *name)
{
	static const char *const heads[] = {"hpcrun_lite_", "hpctoolkit_", "Initialize", "ompt_",
					    "PMIx_",        "OPAL_",       "getenv",     "secure_"};
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		if (!strncmp(name, heads[i], strlen(heads[i])))
			return true;
	return false;
}

static struct name *find_name(uintptr_t hook)
{
	for (unsigned i = 0; i < got.n_names; i++)
		if (got.name[i].hook == hook)
			return &got.name[i];
	return NULL;
}

/* The hook of this name; 0: none. */
static uintptr_t hook_of(const char *name)
{
	size_t n_bytes;
	return is_no_hook(name) ? 0 : (uintptr_t)library_symbol(&got.own, name, &n_bytes);
}

/* The hook for an entry that is `was` now; 0: leave it. */
static uintptr_t hook_for(const struct object *o, const char *name, uintptr_t was)
{
	const uintptr_t hook = hook_of(name);
	const struct name *known = hook ? find_name(hook) : NULL;
	if (!known || was - got.own_lo < got.own_hi - got.own_lo)
		return 0;
	if (!strncmp(name, "GOMP_", 5)) /* of the libgomp that this object was loaded with */
		return hook;
	/* not bound yet: the entry leads into the object itself, and the loader would search */
	const bool is_bound = was - o->lo >= o->hi - o->lo;
	return known->libcs && (is_bound ? was == known->libcs : known->is_libcs) ? hook : 0;
}

/* ---- objects ---- */

static void read_segments(const struct dl_phdr_info *info, struct object *o)
{
	o->lo = UINTPTR_MAX;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uintptr_t at = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD) {
			o->lo = at < o->lo ? at : o->lo;
			o->hi = at + p->p_memsz > o->hi ? at + p->p_memsz : o->hi;
		} else if (p->p_type == PT_GNU_RELRO) {
			o->relro_lo = machine_page_floor(at);
			o->relro_hi = machine_page_floor(at + p->p_memsz);
		}
	}
}

static const ElfW(Dyn) * find_dynamic(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

/* The loader has written addresses into the dynamic section, except in the vDSO's. */
static const void *place(const struct object *o, uintptr_t value)
{
	return (const void *)(value - o->lo < o->hi - o->lo ? value : o->bias + value);
}

static bool read_object(const struct dl_phdr_info *info, struct object *o)
{
	bool is_rela = true;
	const char *soname = NULL;
	uintptr_t soname_at = 0;
	*o = (struct object){.bias = info->dlpi_addr};
	read_segments(info, o);
	for (const ElfW(Dyn) *d = find_dynamic(info); d && d->d_tag != DT_NULL; d++)
		switch (d->d_tag) {
		case DT_STRTAB: o->strings = place(o, d->d_un.d_ptr); break;
		case DT_SYMTAB: o->symbols = place(o, d->d_un.d_ptr); break;
		case DT_RELA: o->table[0] = place(o, d->d_un.d_ptr); break;
		case DT_RELASZ: o->n[0] = d->d_un.d_val / sizeof(ElfW(Rela)); break;
		case DT_JMPREL: o->table[1] = place(o, d->d_un.d_ptr); break;
		case DT_PLTRELSZ: o->n[1] = d->d_un.d_val / sizeof(ElfW(Rela)); break;
		case DT_PLTREL: is_rela = d->d_un.d_val == DT_RELA; break;
		case DT_SONAME: soname_at = d->d_un.d_val; break;
		}
	if (!o->strings || !o->symbols || !is_rela)
		return false;
	if (soname_at)
		soname = o->strings + soname_at;
	/* libc's own calls go past a preloaded library, too */
	return !soname ||
	       (strcmp(soname, "libc.so.6") != 0 && strcmp(soname, "libpthread.so.0") != 0 &&
		strcmp(soname, MACHINE_LINKER) != 0);
}

static bool is_own(const struct object *o)
{
	return o->lo == got.own_lo;
}

/* ---- entries ---- */

typedef void entry_fn(const struct object *o, _Atomic uintptr_t *entry, const char *name);

static void each_entry(const struct object *o, entry_fn *fn)
{
	for (unsigned t = 0; t < 2; t++)
		for (size_t i = 0; o->table[t] && i < o->n[t]; i++) {
			const ElfW(Rela) *r = &o->table[t][i];
			const unsigned type = (unsigned)ELF64_R_TYPE(r->r_info);
			const uint64_t symbol = ELF64_R_SYM(r->r_info);
			if ((type == MACHINE_JUMP_SLOT || type == MACHINE_GLOB_DAT) && symbol)
				fn(o, (_Atomic uintptr_t *)(o->bias + r->r_offset),
				   o->strings + o->symbols[symbol].st_name);
		}
}

/* Asks the loader for each name before the entries are read, which is under one of its locks. */
static void note_name(const struct object *o, _Atomic uintptr_t *entry, const char *name)
{
	const uintptr_t hook = hook_of(name);
	struct name *n = &got.name[got.n_names];
	(void)o, (void)entry;
	if (!hook || find_name(hook) || got.n_names == NAMES_MOST || strlen(name) >= sizeof n->name)
		return;
	strcpy(n->name, name);
	n->hook = hook;
	got.n_names++;
}

static void note_entry(const struct object *o, _Atomic uintptr_t *entry, const char *name)
{
	const uintptr_t was = atomic_load_explicit(entry, memory_order_relaxed),
			hook = hook_for(o, name, was);
	if (!hook)
		return;
	if (got.n == got.room) {
		got.is_full = true;
		return;
	}
	got.list[got.n++] = (struct changed){entry, was, hook};
}

static int note_object(struct dl_phdr_info *info, size_t size, void *names)
{
	struct object o;
	(void)size;
	if (read_object(info, &o) && !is_own(&o))
		each_entry(&o, names ? note_name : note_entry);
	return 0;
}

static void find_names(void)
{
	got.n_names = 0;
	dl_iterate_phdr(note_object, &got);
	for (unsigned i = 0; i < got.n_names; i++) {
		struct name *n = &got.name[i];
		n->libcs = (uintptr_t)library_of_libc(n->name);
		n->is_libcs = (uintptr_t)dlsym(RTLD_DEFAULT, n->name) == n->libcs;
	}
}

/* Opens or closes what is read-only of an object. */
static void protect(const struct object *o, int protection)
{
	if (o->relro_hi > o->relro_lo)
		sys_call3(SYS_mprotect, (long)o->relro_lo, (long)(o->relro_hi - o->relro_lo),
			  protection);
}

static bool is_in(const struct object *o, const struct changed *c)
{
	return (uintptr_t)c->entry - o->lo < o->hi - o->lo;
}

/* Relaxed: the code behind either value was there before. */
static void write_all(const struct object *o, bool to_hooks)
{
	for (size_t i = 0; i < got.n; i++) {
		struct changed *c = &got.list[i];
		uintptr_t from = to_hooks ? c->was : c->is;
		if (is_in(o, c))
			atomic_compare_exchange_strong_explicit(
				c->entry, &from, to_hooks ? c->is : c->was, memory_order_relaxed,
				memory_order_relaxed);
	}
}

static int write_object(struct dl_phdr_info *info, size_t size, void *to_hooks)
{
	struct object o;
	bool has_any = false;
	(void)size;
	if (!read_object(info, &o) || is_own(&o))
		return 0;
	for (size_t i = 0; i < got.n && !has_any; i++)
		has_any = is_in(&o, &got.list[i]);
	if (!has_any)
		return 0;
	protect(&o, PROT_READ | PROT_WRITE);
	write_all(&o, *(const bool *)to_hooks);
	protect(&o, PROT_READ);
	return 0;
}

/* ---- all ---- */

static int find_own(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct object o = {.bias = info->dlpi_addr};
	(void)size, (void)unused;
	read_segments(info, &o);
	if ((uintptr_t)find_own - o.lo >= o.hi - o.lo)
		return 0;
	got.own_lo = o.lo;
	got.own_hi = o.hi;
	return 1;
}

static bool find_library(void)
{
	struct dl_find_object found;
	return find_object_surely((void *)(uintptr_t)hook_got_patch, &found) == 0 &&
	       library_read(found.dlfo_link_map, &got.own);
}

static void give_list(void)
{
	if (got.list)
		sys_munmap(got.list, got.room * sizeof *got.list);
	got.list = NULL;
	got.n = 0;
}

bool hook_got_patch(void)
{
	bool to_hooks = true;
	if (!find_library() || !dl_iterate_phdr(find_own, NULL))
		return false;
	find_names();
	for (got.room = 4096; !got.list; got.room *= 8) {
		const long at = sys_mmap(NULL, got.room * sizeof *got.list, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (sys_is_error(at))
			return false;
		got.list = (struct changed *)at;
		got.is_full = false;
		dl_iterate_phdr(note_object, NULL);
		if (!got.is_full)
			break;
		give_list();
	}
	dl_iterate_phdr(write_object, &to_hooks);
	return true;
}

void hook_got_restore(void)
{
	bool to_hooks = false;
	dl_iterate_phdr(write_object, &to_hooks);
	give_list();
}
