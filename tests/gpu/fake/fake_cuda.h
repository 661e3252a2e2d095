/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver and the CUPTI that do not exist: what their parts fake_cuda.c, fake_cupti.c,
 * fake_counters.c, fake_device.c, fake_memory.c, fake_nvml.c and fake_pc.c need of each other. */
#ifndef TESTS_GPU_FAKE_CUDA_H
#define TESTS_GPU_FAKE_CUDA_H

#include "hpcrun-lite/gpu/cupti/front/nv_headers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define API __attribute__((visibility("default")))
/* Built a second time, with FAKE_CUPTI_12, as driver and CUPTI of CUDA 12.4 are: records of that
 * length, no cuptiSubscribe_v2 and cuCtxSynchronize_v2, no counters, no sample with a
 * place beside records of kernels, and a crash if there is no buffer for records. FAKE_CUDA=12.8:
 * CUPTI has the version of 12.8.0, which is as 12.4 in this. */
#ifdef FAKE_CUPTI_12
#define FAKE_CUDA_VERSION 12040
#define FAKE_CUPTI_VERSION 22
typedef CUpti_ActivityKernel9 fake_kernel_record;
typedef CUpti_ActivityMemcpy5 fake_copy_record;
#else
#define FAKE_CUDA_VERSION 13000
#define FAKE_CUPTI_VERSION 130001
typedef CUpti_ActivityKernel10 fake_kernel_record;
typedef CUpti_ActivityMemcpy6 fake_copy_record;
#endif
#define FAKE_UNITS 12u
#define FAKE_CLOCK_KHZ 1000000u
#define FAKE_MOST_DEVICES 4u

/* ---- fake_cupti.c */

extern pthread_mutex_t fake_lock; /* of all there is; held inside of calls */
extern bool fake_has_latency;
bool fake_is(const char *how); /* FAKE_CUDA is that */
uint64_t fake_now_ns(void);

/* A call of the driver's: the tool is told when it begins and when it ends, and nothing else
 * happens in between. */
struct call {
	CUpti_CallbackData d;
	CUpti_CallbackId id;
	uint64_t data, runtime_data;
	CUresult result;
	bool is_told;        /* that it begins */
	uint64_t n_switches; /* of kinds of records: beginnings and ends, when it began */
};
void fake_enter(struct call *c, CUpti_CallbackId id, const char *name, const void *params,
		const char *symbol);
CUresult fake_leave(struct call *c, CUresult r);
#define ENTER(f, symbol, ...) \
	struct call call; \
	const f##_params params = {__VA_ARGS__}; \
	fake_enter(&call, CUPTI_DRIVER_TRACE_CBID_##f, #f, &params, symbol)
#define LEAVE(r) return fake_leave(&call, r)
/* Inside of a call: an operation has this record, if its kind is wanted, and is complete then. */
void fake_record(const void *record, size_t bytes, uint64_t end_ns);
bool fake_has_kernel_records(void); /* kernels are recorded */

/* The tool is told what happens to a resource of the current context. */
void fake_resource(CUpti_CallbackId id, void *descriptor);

/* ---- fake_cuda.c */

/* when all its streams have done what they were asked for */
uint64_t fake_busy_until_ns(uint32_t device);
/* How long its streams have worked until now, if they did one after the other. */
uint64_t fake_busy_ns(uint32_t device, uint64_t now);
/* Inside of a call. waits: until it is done. */
CUresult fake_copy(CUstream stream, unsigned kind, uint64_t bytes, uint32_t id, bool waits);
CUresult fake_peer_copy(CUstream stream, CUcontext to, CUcontext from, uint64_t bytes, uint32_t id);
CUresult fake_set(CUstream stream, uint64_t bytes, uint32_t id);

/* ---- fake_device.c */

uint32_t fake_device_of(CUcontext c);
/* Of the calling thread. */
uint32_t fake_current(void);
CUcontext fake_context(void);

/* ---- fake_counters.c */

#ifdef FAKE_CUPTI_12
#define fake_counters_replay(device) false
#define fake_counters_kernel(device, ns, threads) false
#else
/* Kernels run several times, inside of their launch, and their records have no times. */
bool fake_counters_replay(uint32_t device);
/* A kernel was launched. True: a kernel of CUPTI's own follows it. */
bool fake_counters_kernel(uint32_t device, uint64_t ns, uint64_t threads);
#endif

/* ---- fake_pc.c */

/* The checksum of a module that is being loaded. */
uint64_t fake_pc_load(const void *image, size_t bytes);
/* A kernel that was launched. branch: which half of its instructions it runs. */
struct fake_run {
	uint64_t crc, begin_ns, end_ns;
	uint32_t branch, index, correlation;
	char *name;
};
void fake_pc_kernel(uint32_t device, const struct fake_run *r);
/* Launches return when their kernel has ended. */
bool fake_pc_is_serialized(uint32_t device);
/* Records of kernels cannot be enabled any more. */
bool fake_pc_is_enabled(void);
/* There are samples, or kernels that will have some, that nobody has asked for yet, though they
 * could be had. */
bool fake_pc_is_unread(void);
void fake_pc_context_gone(uint32_t device);

#endif
