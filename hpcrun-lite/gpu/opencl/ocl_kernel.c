/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels and the shapes of their launches. The first launch on a device makes all queries. The
 * kernel keeps the shapes of its last launches, so a usual launch costs two locks and a comparison.
 * Test: tests/unit/opencl/test_opencl_layer.c.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"

#include <string.h>

#define N_KEPT 4u
#define MAX_NAME 1024u

struct extent {
	size_t global[3], local[3]; /* local[0] 0: the implementation chooses */
};

struct variant {
	struct variant *next;
	const struct ocl_device *device;
	uint32_t function;
	size_t required[3];      /* group size that the source requires; 0: none */
	uint32_t shared_bytes, private_bytes;
	struct extent kept[N_KEPT];
	uint32_t shape[N_KEPT];  /* 0: free */
	unsigned turn;           /* the next one to replace */
};

struct ocl_kernel {
	pthread_mutex_t lock;    /* protects the fields below */
	struct variant *first;
};

static struct ocl_kernel *get(struct ocl_state *s, cl_kernel handle)
{
	struct ocl_kernel *k = ocl_map_get(&s->kernels, ocl_key(handle));
	if (k)
		return k;
	k = ocl_memory_get(&s->memory, sizeof *k);
	if (!k)
		return NULL;
	pthread_mutex_init(&k->lock, NULL);
	if (!ocl_map_put(&s->kernels, ocl_key(handle), k, NULL)) {
		ocl_memory_put(&s->memory, k, sizeof *k);
		return NULL;
	}
	return k;
}

/* The entry stays in the map for the next kernel with this handle. */
void ocl_kernel_made(struct ocl_state *s, cl_kernel handle)
{
	struct ocl_kernel *k = s && handle ? ocl_map_get(&s->kernels, ocl_key(handle)) : NULL;
	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	struct variant *v = k->first;
	k->first = NULL;
	pthread_mutex_unlock(&k->lock);
	for (struct variant *next; v; v = next) {
		next = v->next;
		ocl_memory_put(&s->memory, v, sizeof *v);
	}
}

/* ---- the first launch ---- */

static uint32_t group_bytes(cl_kernel k, cl_device_id d, cl_kernel_work_group_info what)
{
	cl_ulong v = 0;
	return ocl_next.clGetKernelWorkGroupInfo(k, d, what, sizeof v, &v, NULL) == CL_SUCCESS &&
			       v < UINT32_MAX
		       ? (uint32_t)v
		       : 0;
}

static void ask(struct ocl_state *s, cl_kernel handle, const struct ocl_device *d,
		struct variant *v)
{
	char name[MAX_NAME];
	cl_program program = NULL;
	uint32_t code = 0;
	if (ocl_next.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL) !=
	    CL_SUCCESS)
		memcpy(name, "<unknown kernel>", 17);
	name[sizeof name - 1] = 0;
	if (ocl_next.clGetKernelInfo(handle, CL_KERNEL_PROGRAM, sizeof program, &program, NULL) ==
	    CL_SUCCESS)
		code = ocl_program_code(s, program, d);
	v->device = d;
	v->function =
		ocl_host->function(ocl_host, &(struct gpu_function){.code = code, .name = name});
	v->shared_bytes = group_bytes(handle, d->handle, CL_KERNEL_LOCAL_MEM_SIZE);
	if (d->version >= 110)
		v->private_bytes = group_bytes(handle, d->handle, CL_KERNEL_PRIVATE_MEM_SIZE);
	if (ocl_next.clGetKernelWorkGroupInfo(handle, d->handle, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
					      sizeof v->required, v->required, NULL) != CL_SUCCESS)
		memset(v->required, 0, sizeof v->required);
}

/* Under k->lock. */
static struct variant *find(const struct ocl_kernel *k, const struct ocl_device *d)
{
	struct variant *v = k->first;
	while (v && v->device != d)
		v = v->next;
	return v;
}

/* If two threads ask at once, one answer is kept. */
static bool learn(struct ocl_state *s, struct ocl_kernel *k, cl_kernel handle,
		  const struct ocl_device *d)
{
	struct variant *v = ocl_memory_get(&s->memory, sizeof *v);
	if (!v)
		return false;
	pthread_mutex_lock(&s->define);
	ask(s, handle, d, v);
	pthread_mutex_unlock(&s->define);
	pthread_mutex_lock(&k->lock);
	bool first = !find(k, d);
	if (first) {
		v->next = k->first;
		k->first = v;
	}
	pthread_mutex_unlock(&k->lock);
	if (!first)
		ocl_memory_put(&s->memory, v, sizeof *v);
	return true;
}

/* ---- shapes ---- */

static struct extent extent_of(cl_uint n_dims, const size_t *global, const size_t *local)
{
	struct extent e = {{1, 1, 1}, {0, 0, 0}};
	for (cl_uint i = 0; i < 3 && i < n_dims; i++) {
		e.global[i] = global ? global[i] : 0; /* NULL means "none" from OpenCL 2.1 on */
		e.local[i] = local ? local[i] : 0;
	}
	for (cl_uint i = n_dims; local && i < 3; i++)
		e.local[i] = 1;
	return e;
}

static uint32_t narrow(size_t v)
{
	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

static uint32_t define(const struct variant *v, const struct extent *e)
{
	struct gpu_shape g = {.function = v->function,
			      .static_shared_bytes = v->shared_bytes,
			      .local_bytes = v->private_bytes};
	const size_t *local = e->local[0] ? e->local : v->required;
	bool exact = local[0] != 0;
	for (unsigned i = 0; i < 3; i++) {
		if (!local[0])
			continue;
		size_t block = local[i] ? local[i] : 1;
		g.block[i] = narrow(block);
		g.grid[i] = narrow((e->global[i] + block - 1) / block);
		exact &= e->global[i] % block == 0;
	}
	for (unsigned i = 0; !exact && i < 3; i++)
		g.global[i] = e->global[i];
	return ocl_host->shape(ocl_host, &g);
}

/* Under k->lock. */
static uint32_t kept_shape(const struct variant *v, const struct extent *e)
{
	for (unsigned i = 0; i < N_KEPT; i++)
		if (v->shape[i] && !memcmp(&v->kept[i], e, sizeof *e))
			return v->shape[i];
	return 0;
}

uint32_t ocl_kernel_shape(struct ocl_state *s, cl_kernel handle, const struct ocl_device *d,
			  cl_uint n_dims, const size_t *global, const size_t *local)
{
	struct ocl_kernel *k = get(s, handle);
	struct extent e = extent_of(n_dims, global, local);
	if (!k)
		return 0;
	pthread_mutex_lock(&k->lock);
	struct variant *v = find(k, d);
	uint32_t shape = v ? kept_shape(v, &e) : 0;
	pthread_mutex_unlock(&k->lock);
	if (shape || (!v && !learn(s, k, handle, d)))
		return shape;
	pthread_mutex_lock(&k->lock);
	v = find(k, d);
	shape = v ? define(v, &e) : 0;
	if (v && shape) {
		v->kept[v->turn] = e;
		v->shape[v->turn] = shape;
		v->turn = (v->turn + 1) % N_KEPT;
	}
	pthread_mutex_unlock(&k->lock);
	return shape;
}

uint32_t ocl_kernel_plain_shape(const char *name)
{
	uint32_t function = ocl_host->function(ocl_host, &(struct gpu_function){.name = name});
	return ocl_host->shape(ocl_host, &(struct gpu_shape){.function = function});
}
