/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What may stand behind "gpu=nvidia,": pc[@EXP], mode=continuous|serialized|bursts[@N], notimes, latency, cupti=FILE, record[=SIZE], in any order. The launcher refuses what this refuses; the back end reads it again in the
 * measured process. Knows nothing of CUDA. Pure; signal-safe. Test: tests/unit/test_cupti_pc.c.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_NV_OPTIONS_H
#define HPCRUN_LITE_GPU_CUPTI_NV_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NV_OPTIONS_SHOWN "pc[@EXP],mode=continuous|serialized|bursts[@N],notimes,latency,cupti=FILE,record[=SIZE]"
#define NV_LEAST_EXPONENT 5u /* CUPTI's own bounds */
#define NV_MOST_EXPONENT 31u
#define NV_MOST_PERCENT 50u
#define NV_USUAL_PERCENT 5u
#define NV_USUAL_RECORD_BYTES (UINT64_C(1) << 30)

enum nv_pc_mode {
	NV_PC_OFF,
	NV_PC_CONTINUOUS,  /* kernels run as without us; samples know their function, not their launch */
	NV_PC_SERIALIZED,  /* one kernel at a time; samples know their launch */
	NV_PC_BURSTS       /* continuous, with short serialized windows */
};

struct nv_options {
	enum nv_pc_mode pc;
	uint32_t exponent;  /* a sample every 2^exponent cycles of an SM; 0: chosen by the device */
	uint32_t percent;   /* BURSTS: of the launches that are serialized, at most */
	bool no_times;      /* operations are recorded without their times */
	bool latency;       /* of kernels also when they were queued and submitted */
	uint64_t record_bytes; /* bound on a recording for replay; 0: none is made */
};

/* False: some word is wrong, and `why` says so, to be put behind "gpu=nvidia "; *o is then as for "". */
bool nv_options_read(const char *options, struct nv_options *o, char *why, size_t why_bytes);

#endif
