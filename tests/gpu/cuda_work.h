/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the CUDA workloads share: the driver API found at run time, so that they are built and start
 * without a driver, kernels as PTX, and the program's own count of what it asked for. Statuses: 0
 * as expected; 1 something failed; 77 there is no CUDA here.
 */
#ifndef TESTS_GPU_CUDA_WORK_H
#define TESTS_GPU_CUDA_WORK_H

#include <cuda.h>
#include <stdint.h>

#define DRIVER_FUNCTIONS(F) \
	F(cuInit) F(cuDeviceGet) F(cuDeviceGetCount) F(cuDevicePrimaryCtxRetain) \
	F(cuDevicePrimaryCtxReset_v2) F(cuCtxSetCurrent) F(cuCtxGetCurrent) F(cuCtxSynchronize) \
	F(cuModuleLoadData) F(cuModuleUnload) F(cuModuleGetFunction) F(cuMemAlloc_v2) \
	F(cuMemFree_v2) F(cuMemHostAlloc) F(cuMemFreeHost) F(cuMemAllocAsync) F(cuMemFreeAsync) \
	F(cuStreamCreate) F(cuStreamSynchronize) F(cuLaunchKernel) F(cuLaunchKernelEx) \
	F(cuMemcpyHtoD_v2) F(cuMemcpyHtoDAsync_v2) F(cuMemcpyDtoH_v2) F(cuMemcpyDtoHAsync_v2) \
	F(cuMemcpyDtoD_v2) F(cuMemcpyPeer) F(cuMemcpyPeerAsync) F(cuMemsetD8_v2) \
	F(cuMemsetD32Async) F(cuEventCreate) F(cuEventRecord) F(cuEventSynchronize) \
	F(cuEventElapsedTime) F(cuStreamBeginCapture_v2) F(cuStreamEndCapture) \
	F(cuGraphInstantiateWithFlags) F(cuGraphLaunch)
#define DRIVER_FIELD(name) __typeof__(&name) name;
struct cuda_driver {
	DRIVER_FUNCTIONS(DRIVER_FIELD)
};
#undef DRIVER_FIELD
extern struct cuda_driver cuda;

/* Ends the program when the call did not succeed. */
#define MUST(call) cuda_must(#call, (call))
void cuda_must(const char *call, CUresult r);

/* The driver alone. */
void cuda_open_driver(void);
/* Driver, first device, its context, the module with the kernels. */
void cuda_open(void);
/* The context is destroyed with all that is in it, and made anew. */
void cuda_reopen(void);
/* nothing; (uint64_t ns): keeps one thread of the device busy for that long; writes to address 0 */
extern CUfunction cuda_empty, cuda_spin, cuda_fault;
/* Another module with a kernel `same` that differs from that of other numbers. */
CUmodule cuda_variant(unsigned number, CUfunction *same);

/* Counted by the workloads: what a tool has to find. Thread-safe. */
enum cuda_truth {
	TRUTH_KERNEL,
	TRUTH_COPY,
	TRUTH_COPY_BYTES,
	TRUTH_SET,
	TRUTH_SET_BYTES,
	TRUTH_ALLOC,
	TRUTH_ALLOC_BYTES,
	TRUTH_FREE,
	TRUTH_SYNC,
	TRUTH_GRAPH,
	TRUTH_GRAPH_OPS,
	TRUTH_REFUSED,
	TRUTH_SPIN_NS,
	N_TRUTHS
};
void cuda_count(enum cuda_truth what, uint64_t n);
/* Prints the counts, one a line: "truth NAME N". */
void cuda_report(void);

uint64_t cuda_now_ns(void);
void cuda_launch_empty(CUstream s);
void cuda_launch_spin(CUstream s, uint64_t ns);

/* A stream of a thread that has no context yet. */
CUstream cuda_own_stream(CUcontext context);
/* Threads that launch empty kernels, each on a stream of its own. None is counted as a truth. */
enum { CUDA_LAUNCHERS = 4 };
/* Returns when each thread has launched. */
void cuda_launchers_start(void);
/* Returns the number of launches. */
unsigned long cuda_launchers_end(void);

#endif
