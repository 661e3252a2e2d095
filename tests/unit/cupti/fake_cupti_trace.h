/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake host and a fake CUPTI, for the unit tests of the NVIDIA back end without PC
 * samples: test_cupti.c, test_cupti_record.c, test_cupti_switch.c. */
#ifndef TESTS_UNIT_FAKE_CUPTI_TRACE_H
#define TESTS_UNIT_FAKE_CUPTI_TRACE_H

#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What the host was told, and how it answers. */
struct seen {
	uint32_t generation;
	unsigned n_launched[MSR_N_GPU_KINDS], n_ops[MSR_N_GPU_KINDS], n_lost[MSR_N_GPU_LOSSES],
		n_nodes, n_copies;
	bool refuses;
	uint64_t launch_id, op_id, lost_id, node;
	uint32_t error; /* of the launch that was refused last */
	uint64_t asked; /* bytes of that */
	struct gpu_op op;
	struct gpu_shape shape;
	uint32_t n_codes, n_queues, n_contexts, n_devices;
	uint64_t content; /* of the code that is loaded; 0: not known */
	struct gpu_code code; /* its bytes are not there any more */
	uint8_t code_bytes[1 << 15];
	uint32_t function_code;
	char function[64], queue[64];
};
extern struct seen seen;

/* Calls by their numbers. */
enum {
	LAUNCH = 1,
	GRAPH,
	COPY,
	COPY_ASYNC,
	ALLOC,
	FREE,
	SYNC,
	CAPTURE,
	CAPTURED,
	LOAD,
	GET,
	N_CALLS
};

extern size_t n_dropped; /* records, as CUPTI says */

/* All anew: the set-up of each test. */
int start(void **state);

/* What CUPTI tells. */
void resource(CUpti_CallbackId id, void *descriptor);
struct call {
	uint64_t data;
	CUresult result;
	CUpti_CallbackData d;
};

void enter(struct call *c, unsigned id, uint32_t correlation, const void *params,
	   const char *symbol);
void leave(struct call *c, unsigned id, CUresult r);
void do_call(unsigned id, uint32_t correlation, const void *params, CUresult r);

#endif
