/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses CUDA in one way, by its first argument, and counts what it asks for.
 *
 *     paths        one kernel from two functions, 30 and 10 launches of 200 and 100 us
 *     calls        every kind of call once or more, on two streams, with refused and empty ones
 *     memory [N]   what is allocated, freed, refused and never freed is known: 22 MiB at the peak,
 * 2 MiB at the end, and 1 MiB pinned. N: then allocates and frees in four threads, N times each
 *     graph        a captured graph of four nodes, launched 10 times
 *     variants     two modules with kernels of one name
 *     times        kernels of known length between events; prints their sum by events
 *     storm N [T]  N empty kernels in each of T threads; prints the time of a launch
 *     contexts     five contexts, one after the other, each destroyed with work in it
 *     busy N       N kernels of 20 us, one behind the other; prints the time of all
 *     energy       0.5 s idle, a kernel of 0.6 s from one function, 0.5 s idle, one of 0.6 s from
 *         another, and then 2000 of 100 us from both in turn
 *     fault        a kernel that writes to address 0, with others before and behind it
 *     unfinished   leaves while a kernel runs for 0.3 s
 *     endless      leaves while a kernel runs for 8 s: longer than anyone may wait
 *     graphend     leaves while a graph runs, of which the first node is done and the second takes
 *         8 s
 *     late         launches a kernel and a graph at exit, when the measurement has ended
 *     fork         a child after use of CUDA that does nothing with it
 *     forkuse      ... that goes on as if it could use it, which NVIDIA's driver refuses
 *     forkfirst    a child before CUDA is used; both do what `paths` does
 *     spawn        a program is started and waited for between two launches: this one, for `paths`
 *     exec         goes on after an exec that fails, and then becomes this program, for `paths`
 *     _exit        ends without exit handlers
 *     killed       kills itself, 0.5 s after the last operation was done; on a driver that does not
 *         exist (fake_cuda.c) 0.5 s after the tool has asked for all of them
 */
#include "tests/gpu/cuda_work.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_THREADS 64

static void sync_device(void)
{
	MUST(cuda.cuCtxSynchronize());
	cuda_count(TRUTH_SYNC, 1);
}

static void sync_stream(CUstream s)
{
	MUST(cuda.cuStreamSynchronize(s));
	cuda_count(TRUTH_SYNC, 1);
}

static CUdeviceptr alloc(size_t bytes)
{
	CUdeviceptr p;
	MUST(cuda.cuMemAlloc_v2(&p, bytes));
	cuda_count(TRUTH_ALLOC, 1);
	cuda_count(TRUTH_ALLOC_BYTES, bytes);
	return p;
}

static void release(CUdeviceptr p)
{
	MUST(cuda.cuMemFree_v2(p));
	cuda_count(TRUTH_FREE, 1);
}

/* ---- paths ---- */

/* Behind the last call of a function: it is no jump then, which would leave the function out of the
 * path. */
#define NO_TAIL_CALL __asm__ volatile("")

__attribute__((noinline)) static void often(void)
{
	for (int i = 0; i < 30; i++)
		cuda_launch_spin(NULL, 200000);
	NO_TAIL_CALL;
}

__attribute__((noinline)) static void seldom(void)
{
	for (int i = 0; i < 10; i++)
		cuda_launch_spin(NULL, 100000);
	NO_TAIL_CALL;
}

static void paths(void)
{
	often();
	seldom();
	sync_device();
}

/* ---- calls ---- */

static void copies(CUstream s)
{
	enum { BYTES = 1 << 20 };
	CUdeviceptr a = alloc(BYTES), b = alloc(BYTES);
	void *host;
	MUST(cuda.cuMemHostAlloc(&host, BYTES, 0));
	memset(host, 7, BYTES);
	cuda_count(TRUTH_ALLOC, 1);
	cuda_count(TRUTH_ALLOC_BYTES, BYTES);
	MUST(cuda.cuMemcpyHtoD_v2(a, host, BYTES));
	MUST(cuda.cuMemcpyHtoDAsync_v2(a, host, BYTES / 2, s));
	MUST(cuda.cuMemcpyDtoD_v2(b, a, BYTES));
	sync_stream(s);
	MUST(cuda.cuMemcpyDtoHAsync_v2(host, b, BYTES / 4, s));
	MUST(cuda.cuMemcpyDtoH_v2(host, b, 64));
	MUST(cuda.cuMemcpyHtoD_v2(a, host, 0)); /* nothing */
	cuda_count(TRUTH_COPY, 5);
	cuda_count(TRUTH_COPY_BYTES, BYTES + BYTES / 2 + BYTES + BYTES / 4 + 64);
	cuda_count(TRUTH_SYNC, 2); /* inside of the two blocking copies */
	MUST(cuda.cuMemsetD8_v2(a, 1, 4096));
	MUST(cuda.cuMemsetD32Async(b, 2, 1000, s));
	MUST(cuda.cuMemsetD8_v2(a, 1, 0)); /* nothing */
	cuda_count(TRUTH_SET, 2);
	cuda_count(TRUTH_SET_BYTES, 4096 + 4000);
	sync_stream(s);
	release(a);
	release(b);
	MUST(cuda.cuMemFreeHost(host));
	cuda_count(TRUTH_FREE, 1);
}

static void pools(CUstream s)
{
	CUdeviceptr p;
	MUST(cuda.cuMemAllocAsync(&p, 12345, s));
	MUST(cuda.cuMemFreeAsync(p, s));
	cuda_count(TRUTH_ALLOC, 1);
	cuda_count(TRUTH_ALLOC_BYTES, 12345);
	cuda_count(TRUTH_FREE, 1);
}

static void refused(void)
{
	if (cuda.cuLaunchKernel(cuda_empty, 1, 1, 1, 4096, 1, 1, 0, NULL, NULL, NULL) ==
		    CUDA_SUCCESS ||
	    cuda.cuLaunchKernel(cuda_empty, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS)
		exit(1);
	cuda_count(TRUTH_REFUSED, 2);
	cuda_count(TRUTH_KERNEL, 2);
}

/* ---- memory ---- */

__attribute__((noinline)) static CUdeviceptr hold(size_t mib)
{
	CUdeviceptr p = alloc(mib << 20);
	NO_TAIL_CALL;
	return p;
}

__attribute__((noinline)) static void scratch(size_t mib)
{
	CUdeviceptr p = alloc(mib << 20);
	release(p);
	NO_TAIL_CALL;
}

__attribute__((noinline)) static void too_much(void)
{
	CUdeviceptr p;
	if (cuda.cuMemAlloc_v2(&p, (size_t)1 << 45) != CUDA_ERROR_OUT_OF_MEMORY)
		exit(1);
	cuda_count(TRUTH_REFUSED, 1);
	cuda_count(TRUTH_ALLOC, 1);
}

struct churn {
	CUcontext context;
	long n;
};

static void *churn(void *arg)
{
	const struct churn *c = arg;
	CUdeviceptr p;
	MUST(cuda.cuCtxSetCurrent(c->context));
	for (long i = 0; i < c->n; i++) {
		MUST(cuda.cuMemAlloc_v2(&p, 512));
		MUST(cuda.cuMemFree_v2(p));
	}
	return NULL;
}

static void memory(long n)
{
	enum { CHURNERS = 4 };
	pthread_t thread[CHURNERS];
	struct churn churned = {.n = n};
	void *pinned;
	CUdeviceptr a = hold(4);
	for (int i = 0; i < 3; i++)
		scratch(8);
	hold(2);
	scratch(16);
	too_much();
	MUST(cuda.cuMemHostAlloc(&pinned, (size_t)1 << 20, 0));
	cuda_count(TRUTH_ALLOC, 1);
	cuda_count(TRUTH_ALLOC_BYTES, 1 << 20);
	release(a);
	MUST(cuda.cuCtxGetCurrent(&churned.context));
	for (int i = 0; i < CHURNERS && n; i++)
		pthread_create(&thread[i], NULL, churn, &churned);
	for (int i = 0; i < CHURNERS && n; i++)
		pthread_join(thread[i], NULL);
	cuda_count(TRUTH_ALLOC, (uint64_t)n * CHURNERS);
	cuda_count(TRUTH_FREE, (uint64_t)n * CHURNERS);
}

static void launch_ex(CUstream s)
{
	const CUlaunchConfig config = {.gridDimX = 3,
				       .gridDimY = 1,
				       .gridDimZ = 1,
				       .blockDimX = 64,
				       .blockDimY = 1,
				       .blockDimZ = 1,
				       .hStream = s};
	MUST(cuda.cuLaunchKernelEx(&config, cuda_empty, NULL, NULL));
	cuda_count(TRUTH_KERNEL, 1);
}

static void wait_event(CUstream s)
{
	CUevent e;
	MUST(cuda.cuEventCreate(&e, 0));
	cuda_launch_spin(s, 50000);
	MUST(cuda.cuEventRecord(e, s));
	MUST(cuda.cuEventSynchronize(e));
	cuda_count(TRUTH_SYNC, 1);
}

static void calls(void)
{
	CUstream s;
	MUST(cuda.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	copies(s);
	pools(s);
	refused();
	launch_ex(s);
	wait_event(s);
	cuda_launch_empty(NULL);
	sync_device();
}

/* ---- graph, variants, times ---- */

__attribute__((noinline)) static CUgraphExec capture(CUstream s, CUdeviceptr p)
{
	CUgraph graph;
	CUgraphExec exec;
	uint64_t ns = 20000;
	void *arguments[] = {&ns};
	MUST(cuda.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	MUST(cuda.cuLaunchKernel(cuda_spin, 1, 1, 1, 1, 1, 1, 0, s, arguments, NULL));
	MUST(cuda.cuLaunchKernel(cuda_empty, 2, 1, 1, 32, 1, 1, 0, s, NULL, NULL));
	MUST(cuda.cuMemsetD32Async(p, 3, 256, s));
	cuda_launch_empty(NULL); /* not captured: another stream */
	MUST(cuda.cuLaunchKernel(cuda_empty, 4, 1, 1, 32, 1, 1, 0, s, NULL, NULL));
	MUST(cuda.cuStreamEndCapture(s, &graph));
	MUST(cuda.cuGraphInstantiateWithFlags(&exec, graph, 0));
	return exec;
}

static void graph(void)
{
	CUstream s;
	CUdeviceptr p = alloc(4096);
	MUST(cuda.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CUgraphExec exec = capture(s, p);
	for (int i = 0; i < 10; i++)
		MUST(cuda.cuGraphLaunch(exec, s));
	cuda_count(TRUTH_GRAPH, 10);
	cuda_count(TRUTH_GRAPH_OPS, 40);
	sync_stream(s);
}

static void variants(void)
{
	CUdeviceptr p = alloc(64);
	CUfunction f[2];
	cuda_variant(1, &f[0]);
	cuda_variant(2, &f[1]);
	void *arguments[] = {&p};
	for (int i = 0; i < 6; i++)
		MUST(cuda.cuLaunchKernel(f[i & 1], 1, 1, 1, (unsigned)(i & 1) + 1, 1, 1, 0, NULL,
					 arguments, NULL));
	cuda_count(TRUTH_KERNEL, 6);
	sync_device();
}

static void times(void)
{
	CUevent begin, end;
	double sum = 0;
	MUST(cuda.cuEventCreate(&begin, 0));
	MUST(cuda.cuEventCreate(&end, 0));
	for (int i = 1; i <= 20; i++) {
		float ms = 0;
		MUST(cuda.cuEventRecord(begin, NULL));
		cuda_launch_spin(NULL, (uint64_t)i * 1000000);
		MUST(cuda.cuEventRecord(end, NULL));
		MUST(cuda.cuEventSynchronize(end));
		cuda_count(TRUTH_SYNC, 1);
		MUST(cuda.cuEventElapsedTime(&ms, begin, end));
		sum += ms;
	}
	printf("events-ns %.0f\n", sum * 1e6);
}

/* ---- storm ---- */

struct storm {
	long n;
	CUcontext context;
	double ns;
};

static void *storm_thread(void *arg)
{
	struct storm *s = arg;
	CUstream stream;
	MUST(cuda.cuCtxSetCurrent(s->context));
	MUST(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < 1000; i++)
		cuda_launch_empty(stream);
	MUST(cuda.cuStreamSynchronize(stream));
	cuda_count(TRUTH_SYNC, 1);
	uint64_t begin = cuda_now_ns();
	for (long i = 0; i < s->n; i++) {
		cuda_launch_empty(stream);
		/* never wait for room in the queue: the time of the calls alone is wanted */
		if (i % 512 == 511) {
			s->ns += (double)(cuda_now_ns() - begin);
			sync_stream(stream);
			begin = cuda_now_ns();
		}
	}
	s->ns += (double)(cuda_now_ns() - begin);
	sync_stream(stream);
	return NULL;
}

static void storm(long n, int n_threads)
{
	pthread_t thread[MAX_THREADS];
	struct storm s[MAX_THREADS] = {{0}};
	double ns = 0;
	for (int i = 0; i < n_threads; i++) {
		s[i].n = n;
		MUST(cuda.cuCtxGetCurrent(&s[i].context));
		pthread_create(&thread[i], NULL, storm_thread, &s[i]);
	}
	for (int i = 0; i < n_threads; i++) {
		pthread_join(thread[i], NULL);
		ns += s[i].ns;
	}
	printf("ns-per-launch %.0f\n", ns / (double)n / n_threads);
}

static void busy(long n)
{
	cuda_launch_empty(NULL);
	sync_device();
	uint64_t begin = cuda_now_ns();
	for (long i = 0; i < n; i++)
		cuda_launch_spin(NULL, 20000);
	sync_device();
	printf("elapsed-ns %llu\n", (unsigned long long)(cuda_now_ns() - begin));
}

/* ---- energy ---- */

/* They differ, so that the compiler does not make one of them. */
__attribute__((noinline)) static void spin_here(uint64_t ns)
{
	cuda_launch_spin(NULL, ns);
	__asm__ volatile("# here");
}

__attribute__((noinline)) static void spin_there(uint64_t ns)
{
	cuda_launch_spin(NULL, ns);
	__asm__ volatile("# there");
}

static void energy(void)
{
	usleep(500000);
	spin_here(600000000);
	sync_device();
	usleep(500000);
	spin_there(600000000);
	for (int i = 0; i < 1000; i++) {
		spin_here(100000);
		spin_there(100000);
	}
	sync_device();
}

/* ---- faults, contexts, ends ---- */

static void fault(void)
{
	cuda_launch_spin(NULL, 1000000);
	sync_device();
	cuda_launch_spin(NULL, 20000000); /* so that what follows is accepted */
	MUST(cuda.cuLaunchKernel(cuda_fault, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	cuda_count(TRUTH_KERNEL, 1);
	cuda_launch_empty(NULL);
	CUresult r = cuda.cuCtxSynchronize();
	printf("fault is told: %d\n", r != CUDA_SUCCESS);
}

static void contexts(void)
{
	for (int i = 0; i < 5; i++) {
		for (int k = 0; k < 10; k++)
			cuda_launch_empty(NULL);
		cuda_launch_spin(NULL, 1000000);
		cuda_reopen();
	}
}

static void leave_running(uint64_t ns)
{
	cuda_launch_empty(NULL);
	cuda_launch_spin(NULL, ns);
}

static void leave_graph_running(void)
{
	CUstream s;
	CUgraph graph;
	CUgraphExec exec;
	CUdeviceptr p = alloc(4096);
	uint64_t ns = 8000000000u;
	void *arguments[] = {&ns};
	MUST(cuda.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	MUST(cuda.cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	MUST(cuda.cuLaunchKernel(cuda_empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
	MUST(cuda.cuLaunchKernel(cuda_spin, 1, 1, 1, 1, 1, 1, 0, s, arguments, NULL));
	MUST(cuda.cuMemsetD32Async(p, 3, 256, s));
	MUST(cuda.cuLaunchKernel(cuda_empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
	MUST(cuda.cuStreamEndCapture(s, &graph));
	MUST(cuda.cuGraphInstantiateWithFlags(&exec, graph, 0));
	MUST(cuda.cuGraphLaunch(exec, s));
	cuda_count(TRUTH_GRAPH, 1);
	cuda_count(TRUTH_GRAPH_OPS, 4);
}

static CUgraphExec late_graph;

/* Was registered before CUDA was there, so it comes after all that CUDA and its tools do at
 * exit. */
static void launch_late(void)
{
	if (!late_graph)
		return;
	cuda.cuLaunchKernel(cuda_empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	cuda.cuGraphLaunch(late_graph, NULL);
}

static void leave_late(void)
{
	CUstream s;
	CUdeviceptr p = alloc(4096);
	MUST(cuda.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	late_graph = capture(s, p);
	MUST(cuda.cuGraphLaunch(late_graph, s));
	sync_stream(s);
	cuda_count(TRUTH_KERNEL, 1);
	cuda_count(TRUTH_GRAPH, 2);
}

static void fork_after_use(void)
{
	cuda_launch_empty(NULL);
	sync_device();
	pid_t child = fork();
	if (child == 0)
		exit(5);
	int status = 0;
	waitpid(child, &status, 0);
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	cuda_launch_empty(NULL);
	sync_device();
}

static void launch_and_wait(void)
{
	cuda_launch_empty(NULL);
	sync_device();
}

static void wait_for_child(pid_t child)
{
	int status = 0;
	waitpid(child, &status, 0);
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void fork_and_use(void)
{
	launch_and_wait();
	pid_t child = fork();
	if (child == 0) {
		cuda.cuLaunchKernel(cuda_empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
		cuda.cuCtxSynchronize();
		_exit(6); /* as those of Python's multiprocessing do */
	}
	wait_for_child(child);
	launch_and_wait();
}

static void fork_first(void)
{
	fflush(NULL);
	pid_t child = fork();
	cuda_open();
	paths();
	if (child == 0)
		exit(7);
	wait_for_child(child);
}

static const char *const again[] = {"cuda_calls", "paths", NULL};

static void spawn(void)
{
	pid_t child;
	launch_and_wait();
	fflush(NULL);
	if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, (char *const *)(uintptr_t)again,
			environ) != 0)
		exit(1);
	wait_for_child(child);
	launch_and_wait();
}

static void become_another(void)
{
	launch_and_wait();
	execv("/nowhere/at/all", (char *const *)(uintptr_t)again);
	for (int i = 0; i < 9; i++)
		launch_and_wait();
	usleep(1500000); /* a tool may rest after what it took for the end */
	launch_and_wait();
	fflush(NULL);
	execv("/proc/self/exe", (char *const *)(uintptr_t)again);
	exit(1);
}

static void kill_self(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD),
	     *symbol = driver ? dlsym(driver, "fake_is_unread") : NULL;
	bool (*is_unread)(void) = NULL;
	memcpy(&is_unread, &symbol, sizeof symbol);
	for (int i = 0; i < 6000 && is_unread && is_unread(); i++)
		usleep(10000);
	usleep(500000);
	raise(SIGKILL);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "calls";
	long n = argc > 2 ? atol(argv[2]) : 100000;
	int n_threads = argc > 3 ? atoi(argv[3]) : 1;
	atexit(launch_late);
	if (strcmp(way, "forkfirst") != 0)
		cuda_open();
	if (!strcmp(way, "paths"))
		paths();
	else if (!strcmp(way, "calls"))
		calls();
	else if (!strcmp(way, "memory"))
		memory(argc > 2 ? n : 0);
	else if (!strcmp(way, "graph"))
		graph();
	else if (!strcmp(way, "variants"))
		variants();
	else if (!strcmp(way, "times"))
		times();
	else if (!strcmp(way, "storm"))
		storm(n, n_threads < 1 || n_threads > MAX_THREADS ? 1 : n_threads);
	else if (!strcmp(way, "busy"))
		busy(n);
	else if (!strcmp(way, "energy"))
		energy();
	else if (!strcmp(way, "fault"))
		fault();
	else if (!strcmp(way, "contexts"))
		contexts();
	else if (!strcmp(way, "unfinished"))
		leave_running(300000000);
	else if (!strcmp(way, "endless"))
		leave_running(8000000000u);
	else if (!strcmp(way, "graphend"))
		leave_graph_running();
	else if (!strcmp(way, "late"))
		leave_late();
	else if (!strcmp(way, "fork"))
		fork_after_use();
	else if (!strcmp(way, "forkuse"))
		fork_and_use();
	else if (!strcmp(way, "forkfirst"))
		fork_first();
	else if (!strcmp(way, "spawn"))
		spawn();
	else if (!strcmp(way, "exec"))
		become_another();
	else
		paths();
	cuda_report();
	if (!strcmp(way, "_exit"))
		_exit(3);
	if (!strcmp(way, "killed"))
		kill_self();
	return 0;
}
