/* SPDX-License-Identifier: BSD-3-Clause */
/* What the CUDA workloads share; see cuda_work.h. */
#include "tests/gpu/cuda_work.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct cuda_driver cuda;
CUfunction cuda_empty, cuda_spin, cuda_fault;
static _Atomic uint64_t truth[N_TRUTHS];

static const char kernels[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry empty() { ret; }\n"
	".visible .entry fault() {\n  .reg .u64 %at;\n  mov.u64 %at, 0;\n  st.global.u64 [%at], "
	"%at;\n  ret;\n}\n"
	".visible .entry spin(.param .u64 ns) {\n"
	"  .reg .u64 %start, %now, %ns; .reg .pred %more;\n"
	"  ld.param.u64 %ns, [ns];\n  mov.u64 %start, %globaltimer;\n"
	"again:\n  mov.u64 %now, %globaltimer;\n  sub.u64 %now, %now, %start;\n  setp.lt.u64 "
	"%more, %now, %ns;\n  @%more bra again;\n  ret;\n}\n";
static const char variant[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry same(.param .u64 to) {\n  .reg .u64 %%to; .reg .u32 %%v;\n  ld.param.u64 "
	"%%to, [to];\n  mov.u32 %%v, %u;\n  st.global.u32 [%%to], %%v;\n  ret;\n}\n";

void cuda_must(const char *call, CUresult r)
{
	if (r == CUDA_SUCCESS)
		return;
	fprintf(stderr, "%s: error %d\n", call, (int)r);
	exit(1);
}

static void find_driver(void)
{
#define WANTED(name) {#name, &cuda.name},
	static const struct {
		const char *name;
		void *to;
	} wanted[] = {DRIVER_FUNCTIONS(WANTED)};
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!library) {
		puts("no CUDA driver here");
		exit(77);
	}
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		void *symbol = dlsym(library, wanted[i].name);
		if (!symbol)
			printf("the driver has no %s\n", wanted[i].name), exit(77);
		memcpy(wanted[i].to, &symbol, sizeof symbol);
	}
}

static void open_context(void)
{
	CUdevice device;
	CUcontext context;
	CUmodule module;
	MUST(cuda.cuDeviceGet(&device, 0));
	MUST(cuda.cuDevicePrimaryCtxRetain(&context, device));
	MUST(cuda.cuCtxSetCurrent(context));
	MUST(cuda.cuModuleLoadData(&module, kernels));
	MUST(cuda.cuModuleGetFunction(&cuda_empty, module, "empty"));
	MUST(cuda.cuModuleGetFunction(&cuda_spin, module, "spin"));
	MUST(cuda.cuModuleGetFunction(&cuda_fault, module, "fault"));
}

void cuda_open_driver(void)
{
	find_driver();
	if (cuda.cuInit(0) != CUDA_SUCCESS) {
		puts("no CUDA device here");
		exit(77);
	}
}

void cuda_open(void)
{
	cuda_open_driver();
	open_context();
}

void cuda_reopen(void)
{
	CUdevice device;
	MUST(cuda.cuDeviceGet(&device, 0));
	MUST(cuda.cuDevicePrimaryCtxReset_v2(device));
	open_context();
}

CUmodule cuda_variant(unsigned number, CUfunction *same)
{
	char text[sizeof variant + 16];
	CUmodule module;
	snprintf(text, sizeof text, variant, number);
	MUST(cuda.cuModuleLoadData(&module, text));
	MUST(cuda.cuModuleGetFunction(same, module, "same"));
	return module;
}

void cuda_count(enum cuda_truth what, uint64_t n)
{
	atomic_fetch_add(&truth[what], n);
}

void cuda_report(void)
{
	static const char *const names[N_TRUTHS] = {
		"kernel", "copy", "copy-bytes", "set",       "set-bytes", "alloc",  "alloc-bytes",
		"free",   "sync", "graph",      "graph-ops", "refused",   "spin-ns"};
	for (int i = 0; i < N_TRUTHS; i++)
		printf("truth %s %llu\n", names[i], (unsigned long long)truth[i]);
	fflush(stdout);
}

uint64_t cuda_now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void cuda_launch_empty(CUstream s)
{
	MUST(cuda.cuLaunchKernel(cuda_empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
	cuda_count(TRUTH_KERNEL, 1);
}

void cuda_launch_spin(CUstream s, uint64_t ns)
{
	void *arguments[] = {&ns};
	MUST(cuda.cuLaunchKernel(cuda_spin, 1, 1, 1, 1, 1, 1, 0, s, arguments, NULL));
	cuda_count(TRUTH_KERNEL, 1);
	cuda_count(TRUTH_SPIN_NS, ns);
}

CUstream cuda_own_stream(CUcontext context)
{
	CUstream own;
	MUST(cuda.cuCtxSetCurrent(context));
	MUST(cuda.cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
	return own;
}

static struct {
	pthread_t thread[CUDA_LAUNCHERS];
	atomic_bool end;
	atomic_uint n_ready;
	atomic_ulong n;
} launchers;

static void *launch_on(void *arg)
{
	CUstream own = cuda_own_stream(arg);
	for (unsigned i = 0; !launchers.end; i++) {
		MUST(cuda.cuLaunchKernel(cuda_empty, 1, 1, 1, 1, 1, 1, 0, own, NULL, NULL));
		launchers.n++;
		launchers.n_ready += i == 0;
		if (i % 64 == 63)
			MUST(cuda.cuStreamSynchronize(own));
	}
	MUST(cuda.cuStreamSynchronize(own));
	return NULL;
}

void cuda_launchers_start(void)
{
	CUcontext context;
	MUST(cuda.cuCtxGetCurrent(&context));
	for (int i = 0; i < CUDA_LAUNCHERS; i++)
		pthread_create(&launchers.thread[i], NULL, launch_on, context);
	while (launchers.n_ready < CUDA_LAUNCHERS)
		usleep(1000);
}

unsigned long cuda_launchers_end(void)
{
	launchers.end = true;
	for (int i = 0; i < CUDA_LAUNCHERS; i++)
		pthread_join(launchers.thread[i], NULL);
	return launchers.n;
}
