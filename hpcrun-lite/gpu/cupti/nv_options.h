/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options after "gpu=nvidia,": pc[@EXP], mode=continuous|serialized|bursts[@N], notimes,
 * latency, energy, counters=SET[+SET...], replay-kernels, cupti=FILE, record[=SIZE], in any
 * order. The launcher uses this to check them, and the back end reads them again in the measured
 * process. Independent of CUDA. Pure; signal-safe. Tests: tests/unit/cupti/test_cupti_pc.c,
 * tests/unit/cupti/test_counters.c.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_NV_OPTIONS_H
#define HPCRUN_LITE_GPU_CUPTI_NV_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NV_OPTIONS_SHOWN \
	"pc[@EXP],mode=continuous|serialized|bursts[@N],notimes,latency,energy," \
	"counters=SET[+SET...],replay-kernels,cupti=FILE,record[=SIZE]"
#define NV_LEAST_EXPONENT 5u /* of a period; CUPTI's limits */
#define NV_MOST_EXPONENT 31u
#define NV_MOST_PERCENT 50u
#define NV_USUAL_PERCENT 5u
#define NV_USUAL_RECORD_BYTES (UINT64_C(1) << 30)

enum nv_pc_mode {
	NV_PC_OFF,
	/* kernels run undisturbed; samples know their function but not their launch */
	NV_PC_CONTINUOUS,
	NV_PC_SERIALIZED,  /* one kernel runs at a time; samples know their launch */
	NV_PC_BURSTS       /* continuous, with short serialized windows */
};

struct nv_options {
	enum nv_pc_mode pc;
	/* one sample every 2^exponent cycles of an SM; 0: depends on the device */
	uint32_t exponent;
	uint32_t percent;      /* BURSTS: the largest share of launches to serialize */
	bool no_times;         /* record operations without their times */
	bool latency;          /* also record when kernels were queued and submitted */
	bool energy;           /* also read the meters of energy of the GPUs and the host */
	const char *counters;  /* what to count for each kernel; points into the options */
	size_t n_counter_bytes; /* its length; 0: count nothing */
	bool replays_kernels;  /* kernels may run several times if counting needs it */
	uint64_t record_bytes; /* size limit of a recording for replay; 0: do not record */
};

/*
 * Returns false if an option is wrong. `why` is then the reason, a text to put after "gpu=nvidia ",
 * and *o is as for "".
 */
bool nv_options_read(const char *options, struct nv_options *o, char *why, size_t why_bytes);

#endif
