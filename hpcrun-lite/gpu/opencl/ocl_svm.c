/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared virtual memory: its ranges, sorted by address. Test: tests/unit/opencl/test_opencl_life.c.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"

#include <string.h>

struct range {
	uint64_t start, bytes;
};
struct ocl_svm {
	pthread_mutex_t lock;
	struct range *ranges;
	size_t n, room;
};

struct ocl_svm *ocl_svm_new(struct ocl_memory *m)
{
	struct ocl_svm *v = ocl_memory_get(m, sizeof *v);
	if (v)
		pthread_mutex_init(&v->lock, NULL);
	return v;
}

/* Returns the index of the first range that starts after `at`. */
static size_t behind(const struct ocl_svm *v, uint64_t at)
{
	size_t low = 0, high = v->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (v->ranges[middle].start > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static bool make_room(struct ocl_svm *v)
{
	size_t room = v->room ? v->room * 2 : 256;
	if (v->n < v->room)
		return true;
	struct range *ranges = ocl_memory_map(room * sizeof *ranges);
	if (!ranges)
		return false;
	if (v->n)
		memcpy(ranges, v->ranges, v->n * sizeof *ranges);
	ocl_memory_unmap(v->ranges, v->room * sizeof *ranges);
	v->ranges = ranges;
	v->room = room;
	return true;
}

void ocl_svm_add(struct ocl_state *s, const void *start, uint64_t bytes)
{
	struct ocl_svm *v = s->svm;
	uint64_t at = ocl_key(start);
	pthread_mutex_lock(&v->lock);
	size_t i = behind(v, at);
	if (i > 0 && v->ranges[i - 1].start == at) {
		v->ranges[i - 1].bytes = bytes;
	} else if (make_room(v)) {
		memmove(v->ranges + i + 1, v->ranges + i, (v->n - i) * sizeof *v->ranges);
		v->ranges[i] = (struct range){at, bytes};
		v->n++;
	}
	pthread_mutex_unlock(&v->lock);
}

uint64_t ocl_svm_remove(struct ocl_state *s, const void *start)
{
	struct ocl_svm *v = s->svm;
	uint64_t at = ocl_key(start), bytes = 0;
	pthread_mutex_lock(&v->lock);
	size_t i = behind(v, at);
	if (i > 0 && v->ranges[i - 1].start == at) {
		bytes = v->ranges[i - 1].bytes;
		memmove(v->ranges + i - 1, v->ranges + i, (v->n - i) * sizeof *v->ranges);
		v->n--;
	}
	pthread_mutex_unlock(&v->lock);
	return bytes;
}

bool ocl_svm_has(struct ocl_state *s, const void *p)
{
	struct ocl_svm *v = s->svm;
	uint64_t at = ocl_key(p);
	pthread_mutex_lock(&v->lock);
	size_t i = behind(v, at);
	bool has = i > 0 && at - v->ranges[i - 1].start < v->ranges[i - 1].bytes;
	pthread_mutex_unlock(&v->lock);
	return has;
}
