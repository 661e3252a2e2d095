/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the CUDA C++ workloads share: calls that must succeed, the program's own count of what it
 * asked for, its own times by events, a checksum of results. Counts are made beside each call, by
 * hand, so that they are independent of any tool. Statuses: 0 as expected; 1 something failed; 77
 * there is no CUDA here. Thread-safe but for work_timer.
 */
#ifndef TESTS_GPU_WORK_CUH
#define TESTS_GPU_WORK_CUH

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <time.h>

#define MUST(call) work_must(#call, (call))

inline void work_must(const char *call, cudaError_t e)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(e));
	exit(1);
}

/* Ends the program with 77 where there is no device. Returns how many there are. */
inline int work_open()
{
	int n = 0;
	if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) {
		puts("no CUDA device here");
		exit(77);
	}
	return n;
}

/* What a tool has to find; names as tests/gpu/cuda_work.c prints them. */
enum work_truth {
	TRUTH_KERNEL,
	TRUTH_COPY,
	TRUTH_COPY_BYTES,
	TRUTH_SET,
	TRUTH_SET_BYTES,
	TRUTH_SYNC,
	TRUTH_GRAPH,
	TRUTH_GRAPH_KERNELS,
	TRUTH_GRAPH_COPIES,
	TRUTH_GRAPH_SETS,
	N_TRUTHS
};
inline std::atomic<uint64_t> work_counts[N_TRUTHS];

inline void work_count(work_truth what, uint64_t n = 1)
{
	work_counts[what] += n;
}

/* Prints "truth NAME N", one a line. */
inline void work_report()
{
	static const char *const names[N_TRUTHS] = {
		"kernel", "copy",  "copy-bytes",    "set",          "set-bytes",
		"sync",   "graph", "graph-kernels", "graph-copies", "graph-sets"};
	for (int i = 0; i < N_TRUTHS; i++)
		printf("truth %s %llu\n", names[i], (unsigned long long)work_counts[i]);
	fflush(stdout);
}

/* Behind each launch: counts it, and reports a refused one. */
inline void work_launched()
{
	MUST(cudaGetLastError());
	work_count(TRUTH_KERNEL);
}

inline void work_copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t s)
{
	MUST(cudaMemcpyAsync(to, from, bytes, kind, s));
	work_count(TRUTH_COPY);
	work_count(TRUTH_COPY_BYTES, bytes);
}

inline void work_set(void *to, int value, size_t bytes, cudaStream_t s)
{
	MUST(cudaMemsetAsync(to, value, bytes, s));
	work_count(TRUTH_SET);
	work_count(TRUTH_SET_BYTES, bytes);
}

inline void work_sync(cudaStream_t s)
{
	MUST(cudaStreamSynchronize(s));
	work_count(TRUTH_SYNC);
}

inline uint64_t work_now_ns()
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* FNV-1a over the bits of results: equal runs print equal lines "result NAME HEX". */
inline uint64_t work_hash(const void *data, size_t bytes, uint64_t h = 1469598103934665603u)
{
	for (size_t i = 0; i < bytes; i++)
		h = (h ^ ((const uint8_t *)data)[i]) * 1099511628211u;
	return h;
}

inline void work_result(const char *name, const void *device, size_t bytes)
{
	void *host = malloc(bytes);
	MUST(cudaDeviceSynchronize());
	work_count(TRUTH_SYNC);
	MUST(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
	work_count(TRUTH_COPY);
	work_count(TRUTH_COPY_BYTES, bytes);
	work_count(TRUTH_SYNC); /* inside of the blocking copy */
	printf("result %s %016llx\n", name, (unsigned long long)work_hash(host, bytes));
	free(host);
}

/* What a graph does each time it is launched. */
struct work_nodes {
	size_t kernels, copies, sets;
};

inline work_nodes work_nodes_of(cudaGraph_t graph)
{
	work_nodes w = {};
	size_t n = 0;
	MUST(cudaGraphGetNodes(graph, NULL, &n));
	cudaGraphNode_t *node = new cudaGraphNode_t[n];
	MUST(cudaGraphGetNodes(graph, node, &n));
	for (size_t i = 0; i < n; i++) {
		cudaGraphNodeType type;
		MUST(cudaGraphNodeGetType(node[i], &type));
		w.kernels += type == cudaGraphNodeTypeKernel;
		w.copies += type == cudaGraphNodeTypeMemcpy;
		w.sets += type == cudaGraphNodeTypeMemset;
	}
	delete[] node;
	return w;
}

inline void work_graph_launch(cudaGraphExec_t exec, work_nodes w, cudaStream_t s)
{
	MUST(cudaGraphLaunch(exec, s));
	work_count(TRUTH_GRAPH);
	work_count(TRUTH_GRAPH_KERNELS, w.kernels);
	work_count(TRUTH_GRAPH_COPIES, w.copies);
	work_count(TRUTH_GRAPH_SETS, w.sets);
}

/* Times by events: begin, launches, end. report prints "events-ns NAME NS". */
class work_timer {
	cudaEvent_t first, last;
	double sum_ns = 0;

public:
	work_timer()
	{
		MUST(cudaEventCreate(&first));
		MUST(cudaEventCreate(&last));
	}
	void begin(cudaStream_t s) { MUST(cudaEventRecord(first, s)); }
	void end(cudaStream_t s)
	{
		float ms = 0;
		MUST(cudaEventRecord(last, s));
		MUST(cudaEventSynchronize(last));
		work_count(TRUTH_SYNC);
		MUST(cudaEventElapsedTime(&ms, first, last));
		sum_ns += ms * 1e6;
	}
	void report(const char *name) { printf("events-ns %s %.0f\n", name, sum_ns); }
};

#endif
