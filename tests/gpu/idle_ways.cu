/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaves a GPU idle for known times and reasons. One by its first argument, N rounds:
 *
 *     compute N    the host computes for 20 ms between kernels of 5 ms that it waits for
 *     sleep N      the host sleeps for 20 ms between them
 *     sync N       kernels of 20 us, each waited for
 *     launch N     empty kernels, of which only the last is waited for; each launch takes 30 us
 *     queue N      kernels of 20 us, launched at once: nothing but the first launch is waited for
 *     copy N       copies of 64 MiB from pinned memory, and an empty kernel after each
 *     overlap N    the same copies in one stream, kernels of 1 ms in another
 *     shared N     two threads: one computes for 20 ms between kernels of 5 ms, the other all the
 *         time
 *
 * Prints "truth" and "result" lines (work.cuh) and the clocks that the host read itself, by
 * CLOCK_MONOTONIC: "host work NS" is what it did in between, "host wait NS" what it spent in calls
 * that waited, "host all NS" all from the first launch to the end of the last wait, "host spin NS"
 * what the kernels ran at least.
 */
#include "work.cuh"

#include <atomic>
#include <thread>

static const uint64_t HOST_NS = 20000000, LONG_NS = 5000000, SHORT_NS = 20000, LAUNCH_NS = 30000;
static const size_t COPY_BYTES = (size_t)64 << 20;
static uint64_t work_time, wait_time, spin_time;

__global__ void empty() {}

__global__ void spin(uint64_t ns)
{
	uint64_t begin, now;
	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
	while (now - begin < ns);
}

__attribute__((noinline)) static void host_compute(uint64_t ns)
{
	uint64_t begin = work_now_ns();
	while (work_now_ns() - begin < ns)
		;
	work_time += work_now_ns() - begin;
}

__attribute__((noinline)) static void host_sleep(uint64_t ns)
{
	uint64_t begin = work_now_ns();
	struct timespec rest = {.tv_sec = 0, .tv_nsec = (long)ns};
	while (nanosleep(&rest, &rest) != 0)
		;
	work_time += work_now_ns() - begin;
}

/* Until `done`, beside the thread that launches. */
__attribute__((noinline)) static void other_compute(const std::atomic<bool> *done)
{
	while (!*done)
		;
}

__attribute__((noinline)) static void host_wait(cudaStream_t s)
{
	uint64_t begin = work_now_ns();
	work_sync(s);
	wait_time += work_now_ns() - begin;
}

static void launch_spin(cudaStream_t s, uint64_t ns)
{
	spin<<<1, 1, 0, s>>>(ns);
	work_launched();
	spin_time += ns;
}

static void launch_empty(cudaStream_t s)
{
	empty<<<1, 1, 0, s>>>();
	work_launched();
}

static cudaStream_t stream()
{
	cudaStream_t s;
	MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	return s;
}

static void kernels(const char *way, int n, cudaStream_t s)
{
	bool is_long = !strcmp(way, "compute") || !strcmp(way, "sleep") || !strcmp(way, "shared"),
	     waits = is_long || !strcmp(way, "sync"), is_launch = !strcmp(way, "launch");
	for (int i = 0; i < n; i++) {
		if (i && (!strcmp(way, "compute") || !strcmp(way, "shared")))
			host_compute(HOST_NS);
		if (i && !strcmp(way, "sleep"))
			host_sleep(HOST_NS);
		if (is_launch) {
			host_compute(LAUNCH_NS);
			launch_empty(s);
		} else {
			launch_spin(s, is_long ? LONG_NS : SHORT_NS);
		}
		if (waits)
			host_wait(s);
	}
	host_wait(s);
}

static void copies(bool beside, int n, cudaStream_t s)
{
	void *from, *to;
	cudaStream_t other = beside ? stream() : s;
	MUST(cudaMallocHost(&from, COPY_BYTES));
	MUST(cudaMalloc(&to, COPY_BYTES));
	for (int i = 0; i < n; i++) {
		work_copy(to, from, COPY_BYTES, cudaMemcpyHostToDevice, s);
		if (beside)
			launch_spin(other, 1000000);
		else
			launch_empty(other);
	}
	host_wait(s);
	if (beside)
		host_wait(other);
	MUST(cudaFree(to));
	MUST(cudaFreeHost(from));
}

int main(int argc, char **argv)
{
	if (argc < 3 || atoi(argv[2]) < 1)
		return 2;
	const char *way = argv[1];
	int n = atoi(argv[2]);
	work_open();
	cudaStream_t s = stream();
	launch_empty(s); /* both are loaded at their first launch */
	launch_spin(s, 1000);
	work_sync(s);
	spin_time = 0;
	std::atomic<bool> done(false);
	std::thread other;
	uint64_t begin = work_now_ns();
	if (!strcmp(way, "shared"))
		other = std::thread(other_compute, &done);
	if (!strcmp(way, "copy") || !strcmp(way, "overlap"))
		copies(!strcmp(way, "overlap"), n, s);
	else
		kernels(way, n, s);
	uint64_t all = work_now_ns() - begin;
	done = true;
	if (other.joinable())
		other.join();
	printf("host work %llu\nhost wait %llu\nhost all %llu\nhost spin %llu\n",
	       (unsigned long long)work_time, (unsigned long long)wait_time,
	       (unsigned long long)all, (unsigned long long)spin_time);
	work_report();
	return 0;
}
