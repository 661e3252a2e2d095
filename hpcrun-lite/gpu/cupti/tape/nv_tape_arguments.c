/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saves what the back end reads from the arguments of calls and from the memory behind them:
 * exactly what nv_calls.c and nv_kernel.c read. Test: tests/cli/gpu/replay.sh.
 */
#include "hpcrun-lite/gpu/cupti/tape/nv_tape_internal.h"

#include <string.h>

#define MAX_POINTED 2u

struct pointed {
	uint32_t argument, n_bytes;
	bool when_returned;  /* the memory is set only after the call has succeeded */
};

struct shape {
	uint32_t n_arguments;
	struct pointed pointed[MAX_POINTED];
};

static const struct shape shapes[] = {
	[NV_FORM_ALLOC] = {2, {{0, 8, true}}},
	[NV_FORM_PITCH] = {4, {{0, 8, true}, {1, 8, true}}},
	[NV_FORM_ARRAY] = {2, {{0, 8, true}, {1, sizeof(CUDA_ARRAY_DESCRIPTOR), true}}},
	[NV_FORM_ARRAY3] = {2, {{0, 8, true}, {1, sizeof(CUDA_ARRAY3D_DESCRIPTOR), true}}},
	[NV_FORM_REGISTER] = {2, {{0}}},
	[NV_FORM_FREE] = {1, {{0}}},
	[NV_FORM_AMOUNT_2] = {3, {{0}}},
	[NV_FORM_AMOUNT_3] = {4, {{0}}},
	[NV_FORM_AMOUNT_4] = {5, {{0}}},
	[NV_FORM_COPY_2D] = {1, {{0, sizeof(CUDA_MEMCPY2D), false}}},
	[NV_FORM_COPY_3D] = {1, {{0, sizeof(CUDA_MEMCPY3D), false}}},
	[NV_FORM_SET_2D] = {5, {{0}}},
	[NV_FORM_LAUNCH] = {1, {{0}}},
	[NV_FORM_LAUNCH_EX] = {2, {{0}}},
	[NV_FORM_LOAD] = {1, {{0, 8, true}}},
	[NV_FORM_GET] = {2, {{0, 8, true}}},
};

static const struct shape *shape_of(enum nv_form form, const void *params)
{
	static const struct shape none;
	return params && form < sizeof shapes / sizeof *shapes ? &shapes[form] : &none;
}

bool tape_arguments_follows(enum nv_form form, uint32_t argument)
{
	const struct shape *s = shape_of(form, shapes);
	for (unsigned i = 0; i < MAX_POINTED; i++)
		if (s->pointed[i].n_bytes && s->pointed[i].argument == argument)
			return true;
	return false;
}

static const void *target(const struct pointed *p, const void *params, bool has_returned)
{
	const void *to = NULL;
	if (p->n_bytes && (has_returned || !p->when_returned))
		memcpy(&to, (const char *)params + 8u * p->argument, sizeof to);
	return to;
}

size_t tape_arguments_bytes(enum nv_form form, const void *params, bool has_returned)
{
	const struct shape *s = shape_of(form, params);
	size_t n = 8u * s->n_arguments;
	for (unsigned i = 0; i < MAX_POINTED; i++)
		if (target(&s->pointed[i], params, has_returned))
			n += sizeof(struct recording_memory) +
			     (size_t)recording_round(s->pointed[i].n_bytes, 8);
	return n;
}

void tape_arguments_write(enum nv_form form, const void *params, bool has_returned,
			  struct recording_driver *to)
{
	const struct shape *s = shape_of(form, params);
	uint8_t *at = (uint8_t *)(to + 1);
	to->n_arguments = s->n_arguments;
	if (s->n_arguments)
		memcpy(at, params, 8u * s->n_arguments);
	at += 8u * s->n_arguments;
	for (unsigned i = 0; i < MAX_POINTED; i++) {
		const void *from = target(&s->pointed[i], params, has_returned);
		if (!from)
			continue;
		*(struct recording_memory *)at = (struct recording_memory){
			.argument = s->pointed[i].argument, .n_bytes = s->pointed[i].n_bytes};
		memcpy(at + sizeof(struct recording_memory), from, s->pointed[i].n_bytes);
		at += sizeof(struct recording_memory) + recording_round(s->pointed[i].n_bytes, 8);
	}
}
