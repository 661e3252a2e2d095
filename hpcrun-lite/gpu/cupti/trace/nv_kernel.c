/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which code object a kernel is of. Records have its name alone, and mostly that is enough. But compilers at run time make many modules with kernels of one name, and so do static
 * kernels of several files. For those the handle that is launched is followed to its module or library, and that to the code object that was loaded while it was made, or
 * during the first launch of one of its kernels, where loading is lazy; the record finds it by the id of its launch. Kernels of graphs, whose records have the id of the graph's
 * launch, go by the address of the name, which CUPTI keeps for each kernel.
 * Test: tests/unit/test_cupti_record.c.
 */
#include "hpcrun-lite/gpu/cupti/nv.h"

#include "common/safe/fnv.h"

#define IS_CODE (UINT64_C(1) << 63) /* in nv.handles: not a handle */
#define MAX_STEPS 4u                /* function, kernel, module, library */

/* The code object that was loaded in the call that this thread is in; 0: none. */
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

/* The newest in the low half, the one before it in the high half. */
void nv_kernel_named(const char *name, uint32_t code)
{
	uint64_t hash = hash_of(name), old = nv_map_get(&nv.names, hash);
	if ((uint32_t)old == code)
		return;
	if (old && !is_ambiguous(old))
		atomic_fetch_add_explicit(&nv.n_ambiguous, 1, memory_order_relaxed);
	nv_map_put(&nv.names, hash, old << 32 | code);
}

void nv_kernel_begin(void)
{
	loaded = 0;
}

void nv_kernel_loaded(uint32_t code)
{
	loaded = code;
}

/* ---- handles ---------------------------------------------------------------------------------------------------- */

static uint64_t key_of(const void *handle)
{
	return (uint64_t)(uintptr_t)handle;
}

static void is_of_loaded(uint64_t handle)
{
	nv_map_put(&nv.handles, handle, loaded | IS_CODE);
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
			nv_map_take(&nv.handles, *made); /* the number of one that is no more */
		return;
	}
	if (loaded)
		is_of_loaded(argument[1]);
	if (*made != argument[1])
		nv_map_put(&nv.handles, *made, argument[1]);
}

/* What was loaded during this very launch is the code of what the function is in. */
static uint32_t code_of(uint64_t handle)
{
	for (unsigned i = 0; i < MAX_STEPS; i++) {
		uint64_t next = nv_map_get(&nv.handles, handle);
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

/* ---- launches --------------------------------------------------------------------------------------------------- */

/* relaxed: names are added in the thread that loads a module, and what is launched elsewhere was handed over */
bool nv_kernel_is_followed(void)
{
	return loaded || atomic_load_explicit(&nv.n_ambiguous, memory_order_relaxed);
}

void nv_kernel_launched(uint64_t id, const void *function, const char *name)
{
	if (!function || !name || !nv_kernel_is_followed())
		return;
	uint32_t code = code_of(key_of(function));
	if (code && is_ambiguous(nv_map_get(&nv.names, hash_of(name))))
		nv_map_put(&nv.launches, id, code);
}

/* An address is bound as: 32 bits of the name's hash, for addresses may be used again, and the code object. */
uint32_t nv_kernel_code(uint64_t id, const char *name)
{
	uint64_t hash = hash_of(name), mark = hash >> 32 << 32, codes = nv_map_get(&nv.names, hash);
	if (!is_ambiguous(codes))
		return (uint32_t)codes;
	uint32_t code = (uint32_t)nv_map_take(&nv.launches, id);
	if (code) {
		nv_map_put(&nv.kernels, key_of(name), mark | code);
		return code;
	}
	uint64_t bound = nv_map_get(&nv.kernels, key_of(name));
	if (bound && (bound ^ mark) >> 32 == 0)
		return (uint32_t)bound;
	return (uint32_t)(codes >> 32); /* launched when it was not ambiguous yet */
}
