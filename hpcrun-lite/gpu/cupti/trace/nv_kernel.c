/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the code object of a kernel. Test: tests/unit/cupti/test_cupti_record.c.
 *
 * Records contain only the kernel's name, which is usually enough. But run-time compilers make many
 * modules with kernels of the same name, and static kernels in several files may have the same
 * name, too. For these we follow the launched handle to its module or library. From there we find
 * the code object that was loaded while the module was made or, with lazy loading, during the first
 * launch of one of its kernels. The record finds the code object by the id of its launch. Records
 * of kernels in graphs have the id of the graph's launch. They use the address of the name instead,
 * which CUPTI keeps for each kernel.
 *
 * Kernel names have hundreds of characters, and if one name is ambiguous, we must look at each
 * launch. So we keep the result for a handle until a map changes.
 */
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#include "hpcrun-lite/gpu/hash128.h"

#define IS_CODE (UINT64_C(1) << 63) /* in nv_trace.handles: not a handle */
#define MAX_STEPS 4u                /* function, kernel, module, library */

/* In nv_found.value, from the low bits: the code object, whether the name is ambiguous, changes. */
#define FOUND_AMBIGUOUS (UINT64_C(1) << 32)
#define FOUND_CHANGES 33u

/* The code object that was loaded in the current call of this thread; 0: none. */
static __thread uint32_t loaded __attribute__((tls_model("initial-exec")));

/* Never 0. Each record of a kernel needs it, and names have hundreds of characters. */
static uint64_t hash_of(const char *s)
{
	uint64_t h[2];
	hash128(s, strlen(s), 0, h);
	return h[0] ? h[0] : 1;
}

static bool is_ambiguous(uint64_t codes)
{
	return codes >> 32 != 0;
}

/* Call after every change of a map. Release: a thread that sees the number sees the change. */
static void changed(void)
{
	atomic_fetch_add_explicit(&nv_trace.n_kernel_changes, 1, memory_order_release);
}

static void put(struct nv_map *m, uint64_t key, uint64_t value)
{
	if (nv_map_get(m, key) == value)
		return;
	nv_map_put(m, key, value);
	changed();
}

/* The newest code object is in the low half, the one before it in the high half. */
void nv_kernel_named(const char *name, uint32_t code)
{
	uint64_t hash = hash_of(name), old = nv_map_get(&nv_trace.names, hash);
	if ((uint32_t)old == code)
		return;
	if (old && !is_ambiguous(old))
		atomic_fetch_add_explicit(&nv_trace.n_ambiguous, 1, memory_order_relaxed);
	put(&nv_trace.names, hash, old << 32 | code);
}

void nv_kernel_begin(void)
{
	loaded = 0;
}

void nv_kernel_loaded(uint32_t code)
{
	loaded = code;
	changed();
}

/* ---- handles ---- */

static uint64_t key_of(const void *handle)
{
	return (uint64_t)(uintptr_t)handle;
}

static void is_of_loaded(uint64_t handle)
{
	put(&nv_trace.handles, handle, loaded | IS_CODE);
}

void nv_kernel_handle(enum nv_form form, const void *params)
{
	const uint64_t *argument = params;
	const uint64_t *made = (const uint64_t *)(uintptr_t)argument[0];
	if (!made || !*made)
		return;
	if (form == NV_FORM_LOAD) {
		if (loaded)
			is_of_loaded(*made);
		else if (nv_map_take(&nv_trace.handles, *made))
			changed(); /* the entry was of an earlier object with this handle */
		return;
	}
	if (loaded)
		is_of_loaded(argument[1]);
	if (*made != argument[1])
		put(&nv_trace.handles, *made, argument[1]);
}

/*
 * Returns the code object of a handle. If none is known, it is the one that was loaded during this
 * launch.
 */
static uint32_t code_of(uint64_t handle)
{
	for (unsigned i = 0; i < MAX_STEPS; i++) {
		uint64_t next = nv_map_get(&nv_trace.handles, handle);
		if (next & IS_CODE)
			return (uint32_t)next;
		if (!next)
			break;
		handle = next;
	}
	if (loaded)
		is_of_loaded(handle);
	return loaded;
}

/* ---- launches ---- */

/*
 * Relaxed: names are added in the thread that loads a module. A handle that is launched elsewhere
 * was passed to that thread.
 */
bool nv_kernel_is_followed(void)
{
	return loaded || atomic_load_explicit(&nv_trace.n_ambiguous, memory_order_relaxed);
}

static struct nv_found *found_at(uint64_t handle)
{
	return &nv_trace.found[(handle * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}
_Static_assert(NV_N_FOUND == 1u << (64 - 54), "the hash is an index");

/* Returns what was found for this handle, if nothing has changed since; else 0. */
static uint64_t find_again(uint64_t handle, uint64_t changes)
{
	struct nv_found *f = found_at(handle);
	uint64_t value = atomic_load_explicit(&f->value, memory_order_relaxed),
		 mixed = atomic_load_explicit(&f->mixed, memory_order_relaxed);
	return (mixed ^ value) == handle && value >> FOUND_CHANGES == changes >> FOUND_CHANGES
		       ? value
		       : 0;
}

static uint64_t find(uint64_t handle, const char *name, uint64_t changes)
{
	uint32_t code = code_of(handle);
	bool ambiguous = code && is_ambiguous(nv_map_get(&nv_trace.names, hash_of(name)));
	uint64_t value = changes | (ambiguous ? FOUND_AMBIGUOUS : 0) | code;
	struct nv_found *f = found_at(handle);
	atomic_store_explicit(&f->value, value, memory_order_relaxed);
	atomic_store_explicit(&f->mixed, value ^ handle, memory_order_relaxed);
	return value;
}

void nv_kernel_launched(uint64_t id, const void *function, const char *name)
{
	if (!function || !name || !nv_kernel_is_followed())
		return;
	/* Acquire: the maps have all changes that are counted. */
	uint64_t changes = (uint64_t)atomic_load_explicit(&nv_trace.n_kernel_changes,
							  memory_order_acquire)
			   << FOUND_CHANGES;
	uint64_t handle = key_of(function), value = loaded ? 0 : find_again(handle, changes);
	if (!value)
		value = find(handle, name, changes);
	if (value & FOUND_AMBIGUOUS)
		nv_map_put(&nv_trace.launches, id, (uint32_t)value);
}

/*
 * The value for an address contains the code object and 32 bits of the name's hash, because
 * addresses may be reused.
 */
uint32_t nv_kernel_code(uint64_t id, const char *name)
{
	uint64_t hash = hash_of(name), mark = hash >> 32 << 32,
		 codes = nv_map_get(&nv_trace.names, hash);
	if (!is_ambiguous(codes))
		return (uint32_t)codes;
	uint32_t code = (uint32_t)nv_map_take(&nv_trace.launches, id);
	if (code) {
		nv_map_put(&nv_trace.kernels, key_of(name), mark | code);
		return code;
	}
	uint64_t bound = nv_map_get(&nv_trace.kernels, key_of(name));
	if (bound && (bound ^ mark) >> 32 == 0)
		return (uint32_t)bound;
	return (uint32_t)(codes >> 32); /* it was launched before the name became ambiguous */
}
