/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake host, CUPTI and clock, for the unit tests of PC sampling: test_cupti_pc.c
 * and test_cupti_pc_gate.c. */
#ifndef TESTS_UNIT_FAKE_CUPTI_PC_H
#define TESTS_UNIT_FAKE_CUPTI_PC_H

#include "hpcrun-lite/gpu/cupti/pc/nv_pc_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define CONTEXT ((CUcontext)(uintptr_t)0x100)
#define MAX_RANGES 64u

/* What the host was told. */
struct seen {
	uint64_t now_ns;
	unsigned n_functions, n_samples, n_ranges, n_stalls;
	uint64_t counted[NV_PC_MAX_REASONS], last_id, last_offset;
	uint32_t function_code;
	struct msr_gpu_pc_range range[MAX_RANGES];
	char stall[32][CUPTI_STALL_REASON_STRING_SIZE];
	uint32_t stall_flags[32];
	char note[4096], function[64];
};
extern struct seen seen;

/* What CUPTI does and was asked. */
struct fake_cupti {
	unsigned n_enabled, n_disabled, n_got, n_flushed;
	bool is_on;
	bool is_old; /* as before CUDA 12.4: elements end before their launch */
	CUptiResult enable, get, bad_status;
	uint32_t bad_attribute, wrong_period;
	uint32_t period, mode;
	size_t hardware;
	CUpti_PCSamplingData *left;
	size_t n_pcs, given; /* instructions that wait to be taken out, each with 3 samples: 1
				selected, 2 wait, of these 1 not issued */
	uint64_t outside;           /* samples */
	uint32_t correlation;
	size_t n_left;              /* instructions that Disable finds */
	uint32_t units, clock_khz;
	uint64_t busy_until_ns;     /* records of kernels are out until then */
	unsigned shift;             /* of the reasons' numbers */
	CUpti_ComputeCrcCallbackFunc crc;
};
extern struct fake_cupti cupti;

extern const struct nv_pc_gate_clock
	fake_clock; /* by which launches wait at the gate, from start_with on */
void wait_until(sem_t *wake, uint64_t until_ns);
CUresult CUDAAPI device_uuid(CUuuid *u, CUdevice d);
/* All zero when there is none. */
const struct msr_gpu_pc_range *last_range(void);
struct nv_options read_options(const char *text);
/* All anew, with these options behind gpu=nvidia. */
void start_with(const char *options);
/* Our thread's turn, so long later. */
void work(uint64_t after_ms);
void end(bool is_idle);
/* The context is destroyed: for the end of each test. */
int leave(void **state);

#endif
