/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of memory by size class; see ocl_memory.h. Test: tests/unit/opencl/test_opencl_map.c. */
#include "hpcrun-lite/gpu/opencl/ocl_memory.h"

#include "common/safe/sys.h"

#include <string.h>
#include <sys/mman.h>

#define SMALLEST 64u
#define CHUNK_BYTES ((size_t)256 << 10)

void ocl_memory_init(struct ocl_memory *m)
{
	memset(m, 0, sizeof *m);
	pthread_mutex_init(&m->lock, NULL);
}

void *ocl_memory_map(size_t bytes)
{
	long at = sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return sys_is_error(at) ? NULL : (void *)at;
}

void ocl_memory_unmap(void *piece, size_t bytes)
{
	if (piece)
		sys_munmap(piece, bytes);
}

static unsigned class_of(size_t bytes)
{
	unsigned c = 0;
	while (c < OCL_MEMORY_CLASSES && ((size_t)SMALLEST << c) < bytes)
		c++;
	return c;
}

/* Takes it from the last mapping, or makes a new one and abandons the rest of the old one. */
static void *cut(struct ocl_memory *m, size_t bytes)
{
	if ((size_t)(m->end - m->at) < bytes) {
		char *chunk = ocl_memory_map(CHUNK_BYTES);
		if (!chunk)
			return NULL;
		m->at = chunk;
		m->end = chunk + CHUNK_BYTES;
	}
	void *piece = m->at;
	m->at += bytes;
	return piece;
}

void *ocl_memory_get(struct ocl_memory *m, size_t bytes)
{
	unsigned c = class_of(bytes);
	if (c == OCL_MEMORY_CLASSES)
		return ocl_memory_map(bytes);
	pthread_mutex_lock(&m->lock);
	void *piece = m->free[c];
	if (piece)
		memcpy(&m->free[c], piece, sizeof(void *));
	else
		piece = cut(m, (size_t)SMALLEST << c);
	pthread_mutex_unlock(&m->lock);
	return piece ? memset(piece, 0, (size_t)SMALLEST << c) : NULL;
}

void ocl_memory_put(struct ocl_memory *m, void *piece, size_t bytes)
{
	unsigned c = class_of(bytes);
	if (!piece)
		return;
	if (c == OCL_MEMORY_CLASSES) {
		ocl_memory_unmap(piece, bytes);
		return;
	}
	pthread_mutex_lock(&m->lock);
	memcpy(piece, &m->free[c], sizeof(void *));
	m->free[c] = piece;
	pthread_mutex_unlock(&m->lock);
}
