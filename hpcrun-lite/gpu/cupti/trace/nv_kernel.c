/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the code object of a kernel. Test: tests/unit/cupti/test_cupti_record.c.
 *
 * Records contain only the kernel's name, which is usually enough. But run-time compilers make many
 * modules with kernels of one name, and so do static kernels in several files. For these, we follow
 * the launched handle to its module or library, and that to the code object that was loaded while
 * it was made or, with lazy loading, during the first launch of one of its kernels. The record
 * finds it by the id of its launch. The records of kernels in graphs have the id of the graph's
 * launch. They are found by the address of the name, which CUPTI keeps for each kernel.
 */
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#include "common/safe/fnv.h"

#define IS_CODE (UINT64_C(1) << 63) /* in nv_trace.handles: not a handle */
#define MAX_STEPS 4u                /* function, kernel, module, library */

/* The code object that was loaded in the current call of this thread; 0: none. */
static __thread uint32_t loaded __attribute__((tls_model("initial-exec")));

/* Never 0. */
static uint64_t hash_of(const char *s)
{
	uint64_t h = fnv64(FNV64_START, s, strlen(s));
	return h ? h : 1;
}

static bool is_ambiguous(uint64_t codes)
{
	return codes >> 32 != 0;
}

/* The newest code object is in the low half, the one before it in the high half. */
void nv_kernel_named(const char *name, uint32_t code)
{
	uint64_t hash = hash_of(name), old = nv_map_get(&nv_trace.names, hash);
	if ((uint32_t)old == code)
		return;
	if (old && !is_ambiguous(old))
		atomic_fetch_add_explicit(&nv_trace.n_ambiguous, 1, memory_order_relaxed);
	nv_map_put(&nv_trace.names, hash, old << 32 | code);
}

void nv_kernel_begin(void)
{
	loaded = 0;
}

void nv_kernel_loaded(uint32_t code)
{
	loaded = code;
}

/* ---- handles ---- */

static uint64_t key_of(const void *handle)
{
	return (uint64_t)(uintptr_t)handle;
}

static void is_of_loaded(uint64_t handle)
{
	nv_map_put(&nv_trace.handles, handle, loaded | IS_CODE);
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
		else
			nv_map_take(&nv_trace.handles,
				    *made); /* forget an earlier object with this handle */
		return;
	}
	if (loaded)
		is_of_loaded(argument[1]);
	if (*made != argument[1])
		nv_map_put(&nv_trace.handles, *made, argument[1]);
}

/* An object that was loaded during this launch contains the function. */
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

void nv_kernel_launched(uint64_t id, const void *function, const char *name)
{
	if (!function || !name || !nv_kernel_is_followed())
		return;
	uint32_t code = code_of(key_of(function));
	if (code && is_ambiguous(nv_map_get(&nv_trace.names, hash_of(name))))
		nv_map_put(&nv_trace.launches, id, code);
}

/*
 * The value of an address is the code object and 32 bits of the name's hash, because addresses may
 * be reused.
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
	return (uint32_t)(codes >> 32); /* launched when it was not ambiguous yet */
}
