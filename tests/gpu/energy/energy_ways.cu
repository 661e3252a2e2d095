/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses energy of a GPU in known ways, and reads NVML's meter itself. One by its first argument:
 *
 *     steps          2 s idle, kernels of 100 ms that compute (2 s), 2 s idle, kernels of 100 ms
 *         that read memory (2 s), 1 s idle, kernels of 200 us of both kinds in turn (1 s),
 *         100 ms of computing and 400 ms of sleep in turn (3 s), 1 s idle
 *     poll FILE      0.5 s idle, 1 s computing, 1.5 s idle, and reads the meter all the time: each
 *         change of the meter in FILE, as "NS OLDER-NS MJ MW", the times by CLOCK_MONOTONIC
 *
 *     rest           10 s idle
 *
 * Prints "truth" and "result" lines (work.cuh); of each step "step NAME START END MJ", where MJ is
 * the difference of the meter, read right after one of its changes; of poll "calls N MEDIAN-NS
 * MOST-NS", what a reading takes.
 */
#include "tests/gpu/work.cuh"

#include <algorithm>
#include <atomic>
#include <dlfcn.h>
#include <thread>
#include <vector>

static const uint64_t SECOND_NS = 1000000000;
static const size_t MEMORY_BYTES = (size_t)4 << 30;

/* ---- the meter ---- */

static int (*nvml_energy)(void *, unsigned long long *);
static int (*nvml_power)(void *, unsigned *);
static void *device;

template <typename F> static void find(void *library, const char *name, F *to)
{
	*to = (F)dlsym(library, name);
	if (!*to) {
		fprintf(stderr, "no %s\n", name);
		exit(1);
	}
}

static void open_meter()
{
	int (*init)(), (*by_bus)(const char *, void **);
	char bus[32];
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	find(library, "nvmlInit_v2", &init);
	find(library, "nvmlDeviceGetHandleByPciBusId_v2", &by_bus);
	find(library, "nvmlDeviceGetTotalEnergyConsumption", &nvml_energy);
	find(library, "nvmlDeviceGetPowerUsage", &nvml_power);
	MUST(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
	if (init() != 0 || by_bus(bus, &device) != 0) {
		fputs("NVML has no such device\n", stderr);
		exit(1);
	}
}

static uint64_t read_meter()
{
	unsigned long long mj = 0;
	if (nvml_energy(device, &mj) != 0) {
		fputs("NVML has no energy of the device\n", stderr);
		exit(1);
	}
	return mj;
}

/* Waits for the next change. */
static uint64_t read_fresh_meter()
{
	uint64_t before = read_meter(), now;
	while ((now = read_meter()) == before)
		;
	return now;
}

/* ---- kernels ---- */

__device__ static uint64_t device_ns()
{
	uint64_t now;
	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
	return now;
}

__global__ void compute(uint64_t ns, float *out)
{
	uint64_t begin = device_ns();
	float a = threadIdx.x, b = 1.0001f, c = blockIdx.x, d = 0.5f;
	do {
		for (int i = 0; i < 2000; i++) {
			a = fmaf(a, b, d);
			c = fmaf(c, b, d);
			d = fmaf(d, b, a);
		}
	} while (device_ns() - begin < ns);
	if (a + c + d == 0.125f)
		*out = a;
}

__global__ void stream(uint64_t ns, const float4 *from, size_t n, float *out)
{
	uint64_t begin = device_ns();
	size_t step = (size_t)gridDim.x * blockDim.x;
	size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	do {
		for (int i = 0; i < 32; i++, at = at + step < n ? at + step : at + step - n) {
			float4 v = from[at];
			sum += v.x + v.y + v.z + v.w;
		}
	} while (device_ns() - begin < ns);
	if (sum == 0.125f)
		*out = sum;
}

static int n_blocks;
static float *out;
static float4 *memory;

__attribute__((noinline)) static void launch_compute(uint64_t ns)
{
	compute<<<n_blocks, 256>>>(ns, out);
	work_launched();
}

__attribute__((noinline)) static void launch_stream(uint64_t ns)
{
	stream<<<n_blocks, 256>>>(ns, memory, MEMORY_BYTES / sizeof *memory, out);
	work_launched();
}

static void rest(uint64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / SECOND_NS), .tv_nsec = (long)(ns % SECOND_NS)};
	while (nanosleep(&t, &t) != 0)
		;
}

/* ---- steps ---- */

__attribute__((noinline)) static void short_kernels()
{
	for (int i = 0; i < 2500; i++) {
		launch_compute(200000);
		launch_stream(200000);
	}
}

__attribute__((noinline)) static void pulses()
{
	for (int i = 0; i < 6; i++) {
		launch_compute(SECOND_NS / 10);
		work_sync(0);
		rest(SECOND_NS * 4 / 10);
	}
}

template <typename F> static void step(const char *name, F f)
{
	uint64_t before = read_fresh_meter(), start = work_now_ns();
	f();
	work_sync(0);
	uint64_t end = work_now_ns(), after = read_fresh_meter();
	printf("step %s %llu %llu %llu\n", name, (unsigned long long)start, (unsigned long long)end,
	       (unsigned long long)(after - before));
}

static void steps()
{
	step("idle-1", [] { rest(2 * SECOND_NS); });
	step("compute", [] { for (int i = 0; i < 20; i++) launch_compute(SECOND_NS / 10); });
	step("idle-2", [] { rest(2 * SECOND_NS); });
	step("stream", [] { for (int i = 0; i < 20; i++) launch_stream(SECOND_NS / 10); });
	step("idle-3", [] { rest(SECOND_NS); });
	step("short", short_kernels);
	step("pulses", pulses);
	step("idle-4", [] { rest(SECOND_NS); });
}

/* ---- the meter's own period ---- */

static std::atomic<bool> is_over;

static void poll(const char *path)
{
	FILE *to = fopen(path, "w");
	std::vector<uint64_t> calls;
	uint64_t last = read_meter(), older = work_now_ns();
	unsigned last_power = 0;
	while (!is_over) {
		unsigned power = 0;
		uint64_t begin = work_now_ns(), mj = read_meter(), end = work_now_ns();
		nvml_power(device, &power);
		calls.push_back(end - begin);
		if (mj != last || power != last_power)
			fprintf(to, "%llu %llu %llu %u\n", (unsigned long long)begin,
				(unsigned long long)older, (unsigned long long)mj, power);
		last = mj;
		last_power = power;
		older = begin;
		rest(200000);
	}
	fclose(to);
	std::sort(calls.begin(), calls.end());
	printf("calls %zu %llu %llu\n", calls.size(),
	       (unsigned long long)calls[calls.size() / 2], (unsigned long long)calls.back());
}

static void poll_beside(const char *path)
{
	std::thread reader(poll, path);
	rest(SECOND_NS / 2);
	uint64_t start = work_now_ns();
	for (int i = 0; i < 10; i++)
		launch_compute(SECOND_NS / 10);
	work_sync(0);
	printf("step busy %llu %llu 0\n", (unsigned long long)start,
	       (unsigned long long)work_now_ns());
	rest(SECOND_NS * 3 / 2);
	is_over = true;
	reader.join();
}

int main(int argc, char **argv)
{
	cudaDeviceProp p;
	work_open();
	MUST(cudaGetDeviceProperties(&p, 0));
	n_blocks = p.multiProcessorCount * 8;
	MUST(cudaMalloc(&out, sizeof *out));
	MUST(cudaMalloc(&memory, MEMORY_BYTES));
	open_meter();
	launch_compute(1000000);
	work_sync(0);
	if (argc == 2 && !strcmp(argv[1], "rest"))
		rest(10 * SECOND_NS);
	else if (argc == 3 && !strcmp(argv[1], "poll"))
		poll_beside(argv[2]);
	else if (argc == 2 && !strcmp(argv[1], "steps"))
		steps();
	else
		return 2;
	work_report();
	return 0;
}
