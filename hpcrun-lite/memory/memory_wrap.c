/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replaces malloc and its kin. Chooses samples, and calls the function that the program would reach
 * without us, which belongs to libc or to an allocator that the program links or preloads. Must not
 * allocate, wait or change errno. Tests: tests/cli/memory/memory_truth.sh,
 * tests/cli/memory/memory_operators.sh.
 */
#include "common/safe/find_object.h"
#include "common/safe/library_symbol.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/memory/memory.h"
#include "hpcrun-lite/memory/memory_sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))
#define APART __attribute__((noinline))
#define CALLER __builtin_return_address(0)
/* Another name for the compiler, which knows too much about functions called malloc. */
#define NAMED(function) __asm__(function)

/* ---- the real functions ---- */

/* Each with its name for the linker. */
#define EACH_FUNCTION(X) \
	X(malloc) X(free) X(calloc) X(realloc) X(posix_memalign) X(aligned_alloc) X(memalign) \
	X(valloc) X(mmap) X(munmap) X(mremap)
/*
 * These end in malloc or free, which we see, unless the allocator has them as well: jemalloc,
 * tcmalloc and mimalloc have operators of their own.
 */
#define EACH_NEW(X) \
	X(_Znwm) X(_Znam) X(_ZnwmRKSt9nothrow_t) X(_ZnamRKSt9nothrow_t) \
	X(_ZnwmSt11align_val_t) X(_ZnamSt11align_val_t) \
	X(_ZnwmSt11align_val_tRKSt9nothrow_t) X(_ZnamSt11align_val_tRKSt9nothrow_t)
#define EACH_DELETE(X) \
	X(_ZdlPv) X(_ZdaPv) X(_ZdlPvm) X(_ZdaPvm) X(_ZdlPvRKSt9nothrow_t) \
	X(_ZdaPvRKSt9nothrow_t) X(_ZdlPvSt11align_val_t) X(_ZdaPvSt11align_val_t) \
	X(_ZdlPvmSt11align_val_t) X(_ZdaPvmSt11align_val_t) \
	X(_ZdlPvSt11align_val_tRKSt9nothrow_t) X(_ZdaPvSt11align_val_tRKSt9nothrow_t)
#define EACH(X) EACH_FUNCTION(X) X(reallocarray) EACH_NEW(X) EACH_DELETE(X)

#define NUMBER(name) REAL_##name,
#define STRING(name) #name,
enum real { EACH(NUMBER) N_REAL };
static const char *const names[N_REAL] = {EACH(STRING)};

static struct {
	_Atomic(void *) function;
	_Atomic bool is_allocators; /* the object that has the real malloc has this, too */
} real[N_REAL];

static _Atomic(const struct link_map *) allocator; /* the object with the real malloc */
static _Atomic bool allocator_is_libc;

/*
 * Searches the loader's list behind us, which has the order of the program's scope. dlsym would
 * allocate, and does not find operators in a libstdc++ that was loaded for a plugin alone; that
 * one stays, because it has unique symbols.
 */
static APART void *find_real(enum real which)
{
	extern struct r_debug _r_debug;
	extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
	bool is_behind = false;
	size_t n_bytes;
	struct library l;
	if (which >= REAL_reallocarray && !atomic_load_explicit(&allocator, memory_order_relaxed))
		find_real(REAL_malloc);
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		void *found = is_behind && library_read(map, &l)
				      ? library_symbol(&l, names[which], &n_bytes)
				      : NULL;
		is_behind |= map->l_ld == _DYNAMIC;
		if (!found)
			continue;
		if (which == REAL_malloc) {
			atomic_store_explicit(&allocator_is_libc, library_read_libc(map, &l),
					      memory_order_relaxed);
			atomic_store_explicit(&allocator, map, memory_order_relaxed);
		} else if (which >= REAL_reallocarray)
			atomic_store_explicit(
				&real[which].is_allocators,
				map == atomic_load_explicit(&allocator, memory_order_relaxed),
				memory_order_relaxed);
		/* relaxed: the code existed before; release: is_allocators belongs to it */
		atomic_store_explicit(&real[which].function, found, memory_order_release);
		return found;
	}
	return NULL;
}

static inline void *real_of(enum real which)
{
	void *function = atomic_load_explicit(&real[which].function, memory_order_acquire);
	return __builtin_expect(function != NULL, 1) ? function : find_real(which);
}

/* ---- samples ---- */

#define FILTER_SLOTS 65536u

static __thread struct memory_sampler sampler;
static _Atomic(const struct memory_host *) host;
static _Atomic bool is_over; /* the process is not measured */
/* How many sampled addresses fall into a slot; 255: too many, for good. */
static _Atomic uint8_t filter[FILTER_SLOTS];

/* Neighbours in memory are neighbours here. Large blocks begin at the same place of a page. */
static inline _Atomic uint8_t *slot_of(uintptr_t at)
{
	return &filter[(at >> 4 ^ at >> 20) % FILTER_SLOTS];
}

static void count_slot(uintptr_t at, int step)
{
	_Atomic uint8_t *slot = slot_of(at);
	uint8_t n = atomic_load_explicit(slot, memory_order_relaxed);
	while (n < 255 &&
	       !atomic_compare_exchange_weak_explicit(slot, &n, (uint8_t)(n + step),
						      memory_order_relaxed, memory_order_relaxed))
		continue;
}

static uint64_t stamp(void)
{
	return memory_sampler_clock(&sampler) * UINT64_C(0x9E3779B97F4A7C15) ^ (uintptr_t)&sampler;
}

/*
 * An allocator of its own maps memory, and may call its own functions by their public names. Those
 * of libc do neither, but other functions of libc allocate for the program.
 */
static bool is_from_allocator(const void *caller)
{
	struct dl_find_object object;
	return !atomic_load_explicit(&allocator_is_libc, memory_order_relaxed) &&
	       find_object((void *)(uintptr_t)caller, &object) == 0 &&
	       object.dlfo_link_map == atomic_load_explicit(&allocator, memory_order_relaxed);
}

/* Returns what it was given. */
static APART void *note(void *at, size_t n, uint32_t flags, const void *caller)
{
	const struct memory_host *h = atomic_load_explicit(&host, memory_order_acquire);
	const uint64_t seed = (uintptr_t)&sampler ^ machine_ticks();
	if (!h) {
		if (atomic_load_explicit(&is_over, memory_order_relaxed))
			sampler.left = UINT64_MAX;
		return at;
	}
	if (!memory_sampler_take(&sampler, n, h->period, seed) || !at)
		return at;
	const struct memory_event e = {(uintptr_t)at, n, stamp(), flags};
	const int saved = errno;
	if (!is_from_allocator(caller) && h->allocated(&e, (const void *)(uintptr_t)note))
		count_slot((uintptr_t)at, 1);
	errno = saved;
	return at;
}

/* Counts the bytes of an allocation. False: it is no sample. */
static inline bool meets(size_t n)
{
	return memory_sampler_meets(&sampler, n);
}

static inline bool may_be_kept(const void *at)
{
	return __builtin_expect(
		atomic_load_explicit(slot_of((uintptr_t)at), memory_order_relaxed) != 0, 0);
}

/* `kept` NULL: the block is being freed. Otherwise it may stay: drop() or put_back() follows. */
static APART bool take(const void *at, struct memory_kept *kept)
{
	const struct memory_host *h = atomic_load_explicit(&host, memory_order_acquire);
	struct memory_kept mine;
	struct memory_kept *to = kept ? kept : &mine;
	if (!h || !at || !h->take((uintptr_t)at, to))
		return false;
	count_slot((uintptr_t)at, -1);
	if (!kept)
		h->freed(to, stamp());
	return true;
}

static APART void put_back(const void *at, const struct memory_kept *kept)
{
	const struct memory_host *h = atomic_load_explicit(&host, memory_order_relaxed);
	if (h->put_back((uintptr_t)at, kept))
		count_slot((uintptr_t)at, 1);
}

static inline void drop(const void *at)
{
	if (may_be_kept(at))
		take(at, NULL);
}

/* ---- malloc and its kin ---- */

#define REAL(type, which) ((type *)real_of(which))

typedef void *size_fn(size_t n, uintptr_t a, uintptr_t b);
typedef void *two_sizes_fn(size_t a, size_t b);
typedef void *resize_fn(void *at, size_t n, size_t m);
typedef void free_fn(void *at, uintptr_t a, uintptr_t b);

static inline size_t product(size_t n, size_t m)
{
	size_t all;
	return __builtin_mul_overflow(n, m, &all) ? 0 : all;
}

EXPORT void *our_malloc(size_t n) NAMED("malloc");
void *our_malloc(size_t n)
{
	size_fn *function = REAL(size_fn, REAL_malloc);
	return meets(n) ? note(function(n, 0, 0), n, 0, CALLER) : function(n, 0, 0);
}

EXPORT void our_free(void *at) NAMED("free");
void our_free(void *at)
{
	drop(at);
	REAL(free_fn, REAL_free)(at, 0, 0);
}

EXPORT void *our_calloc(size_t n, size_t m) NAMED("calloc");
void *our_calloc(size_t n, size_t m)
{
	two_sizes_fn *function = REAL(two_sizes_fn, REAL_calloc);
	const size_t all = product(n, m);
	return meets(all) ? note(function(n, m), all, 0, CALLER) : function(n, m);
}

/* Counts as a free and an allocation, wherever the block is then. */
static inline __attribute__((always_inline)) void *resize(resize_fn *function, void *at, size_t n,
							  size_t m, size_t all)
{
	struct memory_kept kept;
	const bool is_kept = may_be_kept(at) && take(at, &kept);
	const uint64_t before = is_kept ? stamp() : 0;
	void *now = function(at, n, m);
	if (is_kept && !now && all)
		put_back(at, &kept);
	else if (is_kept)
		atomic_load_explicit(&host, memory_order_relaxed)->freed(&kept, before);
	return meets(all) ? note(now, all, 0, CALLER) : now;
}

EXPORT void *our_realloc(void *at, size_t n) NAMED("realloc");
void *our_realloc(void *at, size_t n)
{
	return resize(REAL(resize_fn, REAL_realloc), at, n, 0, n);
}

EXPORT void *our_reallocarray(void *at, size_t n, size_t m) NAMED("reallocarray");
void *our_reallocarray(void *at, size_t n, size_t m)
{
	resize_fn *function = REAL(resize_fn, REAL_reallocarray);
	if (!function) { /* before glibc 2.26; dlsym found ours */
		errno = ENOMEM;
		return NULL;
	}
	return atomic_load_explicit(&real[REAL_reallocarray].is_allocators, memory_order_relaxed)
		       ? resize(function, at, n, m, product(n, m))
		       : function(at, n, m);
}

EXPORT int our_posix_memalign(void **at, size_t alignment, size_t n) NAMED("posix_memalign");
int our_posix_memalign(void **at, size_t alignment, size_t n)
{
	typedef int fn(void **, size_t, size_t);
	const int error = REAL(fn, REAL_posix_memalign)(at, alignment, n);
	if (meets(n))
		note(error ? NULL : *at, n, 0, CALLER);
	return error;
}

#define ALIGNED(name) \
	EXPORT void *our_##name(size_t alignment, size_t n) NAMED(#name); \
	void *our_##name(size_t alignment, size_t n) \
	{ \
		two_sizes_fn *function = REAL(two_sizes_fn, REAL_##name); \
		return meets(n) ? note(function(alignment, n), n, 0, CALLER) \
				: function(alignment, n); \
	}
ALIGNED(aligned_alloc)
ALIGNED(memalign)

EXPORT void *our_valloc(size_t n) NAMED("valloc");
void *our_valloc(size_t n)
{
	size_fn *function = REAL(size_fn, REAL_valloc);
	return meets(n) ? note(function(n, 0, 0), n, 0, CALLER) : function(n, 0, 0);
}

/* ---- operators of C++ ---- */

static inline bool is_allocators(enum real which)
{
	return atomic_load_explicit(&real[which].is_allocators, memory_order_relaxed);
}

/* An exception may pass: we have unwind tables, and nothing to undo. */
#define NEW(name) \
	EXPORT void *our##name(size_t n, uintptr_t a, uintptr_t b) NAMED(#name); \
	void *our##name(size_t n, uintptr_t a, uintptr_t b) \
	{ \
		size_fn *function = REAL(size_fn, REAL_##name); \
		return is_allocators(REAL_##name) && meets(n) \
			       ? note(function(n, a, b), n, 0, CALLER) \
			       : function(n, a, b); \
	}
#define DELETE(name) \
	EXPORT void our##name(void *at, uintptr_t a, uintptr_t b) NAMED(#name); \
	void our##name(void *at, uintptr_t a, uintptr_t b) \
	{ \
		free_fn *function = REAL(free_fn, REAL_##name); \
		if (is_allocators(REAL_##name)) \
			drop(at); \
		function(at, a, b); \
	}

EACH_NEW(NEW)
EACH_DELETE(DELETE)

/* ---- mappings ---- */

/* Reservations of address space are no memory yet, and files can be read again. */
static inline bool is_memory(int protection, int flags)
{
	return (protection & PROT_WRITE) && (flags & MAP_ANONYMOUS) && !(flags & MAP_NORESERVE);
}

EXPORT void *our_mmap(void *, size_t, int, int, int, long) NAMED("mmap");
void *our_mmap(void *at, size_t n, int protection, int flags, int file, long offset)
{
	typedef void *fn(void *, size_t, int, int, int, long);
	void *now = REAL(fn, REAL_mmap)(at, n, protection, flags, file, offset);
	if (now == MAP_FAILED || !is_memory(protection, flags) || !meets(n))
		return now;
	return note(now, n, MSR_MEMORY_MAPPING, CALLER);
}
EXPORT void *our_mmap64(void *, size_t, int, int, int, long) NAMED("mmap64")
	__attribute__((alias("mmap")));

/* Frees a mapping that begins here. A part of one that begins elsewhere is not looked for. */
EXPORT int our_munmap(void *at, size_t n) NAMED("munmap");
int our_munmap(void *at, size_t n)
{
	typedef int fn(void *, size_t);
	struct memory_kept kept;
	const bool is_kept = may_be_kept(at) && take(at, &kept);
	const int result = REAL(fn, REAL_munmap)(at, n);
	if (is_kept && result)
		put_back(at, &kept);
	else if (is_kept)
		atomic_load_explicit(&host, memory_order_relaxed)->freed(&kept, stamp());
	return result;
}

/* The sample moves, and keeps its size: whether others become memory by growing is not known. */
EXPORT void *our_mremap(void *, size_t, size_t, int, void *) NAMED("mremap");
void *our_mremap(void *at, size_t before, size_t n, int flags, void *to)
{
	typedef void *fn(void *, size_t, size_t, int, void *);
	struct memory_kept kept;
	const bool is_kept = may_be_kept(at) && take(at, &kept);
	void *now = REAL(fn, REAL_mremap)(at, before, n, flags, to);
	if (is_kept)
		put_back(now == MAP_FAILED ? at : now, &kept);
	return now;
}

/* ---- the start ---- */

/*
 * Only here, and not at the first allocation, which may come from the loader while it holds its
 * locks. What constructors of libraries allocate before is not seen.
 */
static __attribute__((constructor)) void start(void)
{
	const int saved = errno;
	memory_host_fn *find = (memory_host_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, MEMORY_HOST_SYMBOL);
	/* now, because later another thread may change the loader's list */
	for (unsigned i = 0; i < N_REAL; i++)
		(void)real_of((enum real)i);
	const struct memory_host *h = find ? find(MEMORY_HOST_VERSION) : NULL;
	atomic_store_explicit(&is_over, !h, memory_order_relaxed);
	atomic_store_explicit(&host, h, memory_order_release);
	errno = saved;
}
