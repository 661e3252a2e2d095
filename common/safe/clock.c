/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's clock, read without libc; see clock.h. The vDSO is an ELF image that the kernel maps
 * into every process. Its symbols are looked up as in the kernel's
 * tools/testing/selftests/vDSO/parse_vdso.c. Must not call anything but getauxval. Test:
 * tests/unit/common/test_safe.c.
 */
#include "common/safe/clock.h"

#include <elf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/auxv.h>

typedef int clock_fn(clockid_t clock, struct timespec *t);

struct vdso {
	const uint8_t *image;
	const Elf64_Sym *symbol;
	const char *string;
	const uint32_t *gnu_hash; /* newer kernels have only this one, older ones both */
	const uint32_t *hash;
};

static int ask_kernel(clockid_t clock, struct timespec *t)
{
	return (int)sys_call3(SYS_clock_gettime, clock, (long)t, 0);
}

static bool is_name(const char *name)
{
	static const char wanted[] = "__vdso_clock_gettime";
	for (size_t i = 0; i < sizeof wanted; i++)
		if (name[i] != wanted[i])
			return false;
	return true;
}

static bool read_dynamic(struct vdso *v, uintptr_t bias, const Elf64_Dyn *d)
{
	for (; d->d_tag != DT_NULL; d++) {
		const uintptr_t at = bias + d->d_un.d_ptr;
		switch (d->d_tag) {
		case DT_SYMTAB: v->symbol = (const Elf64_Sym *)at; break;
		case DT_STRTAB: v->string = (const char *)at; break;
		case DT_GNU_HASH: v->gnu_hash = (const uint32_t *)at; break;
		case DT_HASH: v->hash = (const uint32_t *)at; break;
		default: break;
		}
	}
	return v->symbol && v->string && (v->gnu_hash || v->hash);
}

static uintptr_t value_of(const struct vdso *v, uint32_t i)
{
	const Elf64_Sym *s = &v->symbol[i];
	return s->st_shndx != SHN_UNDEF && is_name(v->string + s->st_name) ? s->st_value : 0;
}

/* Looks at all symbols, bucket by bucket: there are about ten. */
static uintptr_t find(const struct vdso *v)
{
	uintptr_t value = 0;
	if (!v->gnu_hash) {
		for (uint32_t i = 0; i < v->hash[1] && !value; i++)
			value = value_of(v, i);
		return value;
	}
	const uint32_t n_buckets = v->gnu_hash[0], first = v->gnu_hash[1],
		       bloom_words = v->gnu_hash[2];
	const uint32_t *bucket = v->gnu_hash + 4 + (size_t)bloom_words * 2,
		       *chain = bucket + n_buckets;
	for (uint32_t b = 0; b < n_buckets && !value; b++)
		for (uint32_t i = bucket[b]; i >= first; i++) {
			value = value_of(v, i);
			if (value || chain[i - first] & 1)
				break;
		}
	return value;
}

static clock_fn *find_clock(void)
{
	struct vdso v = {.image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR)};
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)v.image;
	const Elf64_Dyn *dynamic = NULL;
	uintptr_t bias = 0;
	if (!header)
		return ask_kernel;
	const Elf64_Phdr *segment = (const Elf64_Phdr *)(v.image + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (segment[i].p_type == PT_LOAD && !bias)
			bias = (uintptr_t)v.image + segment[i].p_offset - segment[i].p_vaddr;
		else if (segment[i].p_type == PT_DYNAMIC)
			dynamic = (const Elf64_Dyn *)(v.image + segment[i].p_offset);
	}
	if (!dynamic || !read_dynamic(&v, bias, dynamic))
		return ask_kernel;
	const uintptr_t value = find(&v);
	return value ? (clock_fn *)(bias + value) : ask_kernel;
}

static _Atomic(clock_fn *) found;

void clock_without_tsc(void)
{
	atomic_store_explicit(&found, ask_kernel, memory_order_relaxed);
}

/* Relaxed: every thread finds the same function, and its code existed before us. */
static clock_fn *find_once(void)
{
	clock_fn *fn = find_clock(), *none = NULL;
	return atomic_compare_exchange_strong_explicit(&found, &none, fn, memory_order_relaxed,
						       memory_order_relaxed)
		       ? fn
		       : none;
}

uint64_t clock_ns(clockid_t clock)
{
	clock_fn *fn = atomic_load_explicit(&found, memory_order_relaxed);
	struct timespec t = {0, 0};
	if (!fn)
		fn = find_once();
	fn(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
