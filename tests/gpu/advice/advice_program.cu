/* SPDX-License-Identifier: BSD-3-Clause */
/* Flaws in what the host asks for. See advice_ways.h. */
#include "tests/gpu/advice/advice_ways.h"

static const size_t COPY_FLOATS = (size_t)1 << 23;

__global__ void add_one(float *at, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	if (thread < n)
		at[thread] += 1;
}

/* ---- launches: many short kernels, each launched by a call ---- */

static const unsigned N_SHORT = 2000, SHORT_FLOATS = 1u << 14;

static void launch_all(cudaStream_t s)
{
	for (unsigned i = 0; i < N_SHORT; i++)
		add_one<<<SHORT_FLOATS / 256, 256, 0, s>>>(advice_output(SHORT_FLOATS),
							   SHORT_FLOATS); /* LAUNCHES */
}

static void launches_flawed(cudaStream_t s)
{
	launch_all(s);
	MUST(cudaStreamSynchronize(s));
}

static void launches_cured(cudaStream_t s)
{
	static cudaGraphExec_t exec;
	if (!exec) {
		cudaGraph_t graph;
		advice_output(SHORT_FLOATS); /* a capture must not allocate it */
		MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
		launch_all(s);
		MUST(cudaStreamEndCapture(s, &graph));
		MUST(cudaGraphInstantiate(&exec, graph, 0));
	}
	MUST(cudaGraphLaunch(exec, s));
	MUST(cudaStreamSynchronize(s));
}

/* ---- waits: the host waits for each kernel, and needs none of their results ---- */

static void waits_flawed(cudaStream_t s)
{
	for (unsigned i = 0; i < N_SHORT / 4; i++) {
		add_one<<<1u << 12, 256, 0, s>>>(advice_output(1u << 20), 1u << 20);
		MUST(cudaStreamSynchronize(s)); /* WAITS */
	}
}

static void waits_cured(cudaStream_t s)
{
	for (unsigned i = 0; i < N_SHORT / 4; i++)
		add_one<<<1u << 12, 256, 0, s>>>(advice_output(1u << 20), 1u << 20);
	MUST(cudaStreamSynchronize(s));
}

/* ---- pageable: copies from memory that the driver cannot reach itself ---- */

static float *host_memory(bool is_pinned)
{
	static float *made[2];
	if (!made[is_pinned]) {
		if (is_pinned)
			MUST(cudaMallocHost(&made[1], COPY_FLOATS * sizeof(float)));
		else
			made[0] = (float *)malloc(COPY_FLOATS * sizeof(float));
		memset(made[is_pinned], 0, COPY_FLOATS * sizeof(float));
	}
	return made[is_pinned];
}

static void copy_from(bool is_pinned, cudaStream_t s)
{
	MUST(cudaMemcpyAsync(advice_output(COPY_FLOATS), host_memory(is_pinned),
			     COPY_FLOATS * sizeof(float), cudaMemcpyHostToDevice, s));
	add_one<<<advice_blocks(COPY_FLOATS, 256), 256, 0, s>>>(advice_output(COPY_FLOATS),
								COPY_FLOATS);
	MUST(cudaStreamSynchronize(s));
}

static void pageable_flawed(cudaStream_t s)
{
	copy_from(false, s);
}

static void pageable_cured(cudaStream_t s)
{
	copy_from(true, s);
}

/* ---- overlap: each piece is copied and then computed on, in one stream or in two ---- */

__global__ void compute_on(float *at, unsigned n_floats, unsigned n)
{
	unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
	if (thread >= n_floats)
		return;
	float a = at[thread];
	for (unsigned i = 0; i < n; i++)
		a = fmaf(a, 0.5f, 0.25f);
	at[thread] = a;
}

static void pieces(unsigned n_streams, cudaStream_t s)
{
	static cudaStream_t other;
	const unsigned n_pieces = 16, n_floats = COPY_FLOATS / n_pieces;
	if (!other)
		MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	for (unsigned p = 0; p < n_pieces; p++) {
		cudaStream_t at = p % n_streams ? other : s;
		float *to = advice_output(COPY_FLOATS) + (size_t)p * n_floats;
		MUST(cudaMemcpyAsync(to, host_memory(true) + (size_t)p * n_floats,
				     n_floats * sizeof(float), cudaMemcpyHostToDevice, at));
		compute_on<<<n_floats / 256, 256, 0, at>>>(to, n_floats, 4096);
	}
	MUST(cudaStreamSynchronize(other));
	MUST(cudaStreamSynchronize(s));
}

static void overlap_flawed(cudaStream_t s)
{
	pieces(1, s);
}

static void overlap_cured(cudaStream_t s)
{
	pieces(2, s);
}

const advice_way advice_program[] = {
	{"launches", launches_flawed, launches_cured, true},
	{"waits", waits_flawed, waits_cured, true},
	{"pageable", pageable_flawed, pageable_cured, true},
	{"overlap", overlap_flawed, overlap_cured, true},
	{},
};
