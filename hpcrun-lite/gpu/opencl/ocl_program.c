/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The code object of a program. We take the first of these that exists: its binary for the device
 * if that is ELF, its source, its intermediate code, any binary. We query it once after each build,
 * and only for programs with a kernel that runs. Test: tests/unit/opencl/test_opencl_layer.c.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"

#include <string.h>

#define MAX_DEVICES 64u
#define MAX_OPTIONS 65536u

struct variant {
	struct variant *next;
	const struct ocl_device *device;
	uint32_t code;
};
struct ocl_program {
	struct variant *first; /* under s->define */
	enum ocl_origin origin;
};

/* Bytes in a separate mapping. */
struct blob {
	char *bytes;
	size_t n;
};

static void drop(struct blob *b)
{
	if (b->bytes)
		ocl_memory_unmap(b->bytes, b->n);
	*b = (struct blob){NULL, 0};
}

static struct blob ask(cl_program p, cl_program_info what)
{
	struct blob b = {NULL, 0};
	if (ocl_next.clGetProgramInfo(p, what, 0, NULL, &b.n) != CL_SUCCESS || b.n == 0)
		return (struct blob){NULL, 0};
	b.bytes = ocl_memory_map(b.n);
	if (!b.bytes || ocl_next.clGetProgramInfo(p, what, b.n, b.bytes, NULL) != CL_SUCCESS)
		drop(&b);
	return b;
}

/* Queries only the binary of this device; NULL leaves the others out. */
static struct blob ask_binary(cl_program p, cl_device_id device)
{
	cl_device_id devices[MAX_DEVICES];
	size_t sizes[MAX_DEVICES] = {0}, bytes = 0;
	unsigned char *binaries[MAX_DEVICES] = {NULL};
	struct blob b = {NULL, 0};
	if (ocl_next.clGetProgramInfo(p, CL_PROGRAM_DEVICES, sizeof devices, devices, &bytes) !=
		    CL_SUCCESS ||
	    ocl_next.clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, NULL) !=
		    CL_SUCCESS)
		return b;
	size_t n = bytes / sizeof devices[0], mine = 0;
	for (size_t i = 0; i < n; i++)
		if (devices[i] == device)
			mine = i;
	if (n == 0 || sizes[mine] == 0)
		return b;
	b.n = sizes[mine];
	b.bytes = ocl_memory_map(b.n);
	binaries[mine] = (unsigned char *)b.bytes;
	if (!b.bytes || ocl_next.clGetProgramInfo(p, CL_PROGRAM_BINARIES, n * sizeof binaries[0],
						  binaries, NULL) != CL_SUCCESS)
		drop(&b);
	return b;
}

static enum msr_gpu_code_kind kind_of_binary(const struct blob *b)
{
	if (b->n >= 4 && !memcmp(b->bytes, "\177ELF", 4))
		return MSR_GPU_CODE_ELF;
	if (b->n >= 4 && !memcmp(b->bytes, "\3\2\43\7", 4))
		return MSR_GPU_CODE_SPIRV;
	if (b->n > 10 && (!memcmp(b->bytes, "//", 2) ||
			  memmem(b->bytes, b->n < 4096 ? b->n : 4096, ".version", 8)))
		return MSR_GPU_CODE_PTX;
	return MSR_GPU_CODE_OTHER;
}

/* The NUL is not part of the text. */
static void as_text(struct blob *b, size_t *n)
{
	*n = b->bytes ? strnlen(b->bytes, b->n) : 0;
}

struct found {
	struct blob binary, source, il;
	struct gpu_code code;
};

static void find(const struct ocl_program *known, cl_program p, const struct ocl_device *d,
		 struct found *f)
{
	size_t n_text;
	f->source = ask(p, CL_PROGRAM_SOURCE);
	as_text(&f->source, &n_text);
	bool wants_binary = known->origin != OCL_BUILT_IN &&
			    (!d->binaries_are_dear || known->origin == OCL_FROM_BINARY);
	if (wants_binary)
		f->binary = ask_binary(p, d->handle);
	enum msr_gpu_code_kind kind =
		f->binary.bytes ? kind_of_binary(&f->binary) : MSR_GPU_CODE_OTHER;
	if (kind != MSR_GPU_CODE_ELF && n_text == 0 && d->version >= 210)
		f->il = ask(p, CL_PROGRAM_IL);
	if (kind != MSR_GPU_CODE_ELF && n_text)
		f->code = (struct gpu_code){
			.kind = MSR_GPU_CODE_OPENCL_C, .bytes = f->source.bytes, .n_bytes = n_text};
	else if (kind != MSR_GPU_CODE_ELF && f->il.bytes)
		f->code = (struct gpu_code){
			.kind = MSR_GPU_CODE_SPIRV, .bytes = f->il.bytes, .n_bytes = f->il.n};
	else if (f->binary.bytes)
		f->code = (struct gpu_code){
			.kind = kind, .bytes = f->binary.bytes, .n_bytes = f->binary.n};
	else
		f->code = (struct gpu_code){.kind = known->origin == OCL_BUILT_IN
							    ? MSR_GPU_CODE_BUILTIN
							    : MSR_GPU_CODE_OTHER};
}

static uint32_t define(const struct ocl_program *known, cl_program p, const struct ocl_device *d)
{
	static char options[MAX_OPTIONS]; /* under s->define */
	uint64_t hash[2];
	struct found f = {.code = {.kind = MSR_GPU_CODE_OTHER}};
	ocl_host->suspend(ocl_host);
	find(known, p, d, &f);
	if (ocl_next.clGetProgramBuildInfo(p, d->handle, CL_PROGRAM_BUILD_OPTIONS, sizeof options,
					   options, NULL) != CL_SUCCESS)
		options[0] = 0;
	options[sizeof options - 1] = 0;
	f.code.options = options;
	f.code.device = d->id;
	uint32_t code = ocl_host->code(ocl_host, &f.code, hash);
	drop(&f.binary);
	drop(&f.source);
	drop(&f.il);
	ocl_host->resume(ocl_host);
	return code;
}

static struct ocl_program *get(struct ocl_state *s, cl_program handle)
{
	struct ocl_program *p = ocl_map_get(&s->programs, ocl_key(handle));
	if (p)
		return p;
	p = ocl_memory_get(&s->memory, sizeof *p);
	if (p && !ocl_map_put(&s->programs, ocl_key(handle), p, NULL)) {
		ocl_memory_put(&s->memory, p, sizeof *p);
		p = NULL;
	}
	return p;
}

void ocl_program_made(struct ocl_state *s, cl_program handle, enum ocl_origin origin)
{
	if (!s || !handle)
		return;
	pthread_mutex_lock(&s->define);
	struct ocl_program *p = get(s, handle);
	for (struct variant *v = p ? p->first : NULL, *next; v; v = next) {
		next = v->next;
		ocl_memory_put(&s->memory, v, sizeof *v);
	}
	if (p)
		p->first = NULL;
	if (p && origin != OCL_SAME_ORIGIN)
		p->origin = origin;
	pthread_mutex_unlock(&s->define);
}

uint32_t ocl_program_code(struct ocl_state *s, cl_program handle, const struct ocl_device *d)
{
	struct ocl_program *p = get(s, handle);
	if (!p)
		return 0;
	for (const struct variant *v = p->first; v; v = v->next)
		if (v->device == d)
			return v->code;
	uint32_t code = define(p, handle, d);
	struct variant *v = ocl_memory_get(&s->memory, sizeof *v);
	if (v) {
		*v = (struct variant){p->first, d, code};
		p->first = v;
	}
	return code;
}
