/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pressure that takes the divergence out of a velocity: Poisson's equation by V-cycles of
 * multigrid with red-black Gauss-Seidel, starting from the pressure of the step before. Divergence,
 * cycles and gradient are captured once and launched as a graph. Where the levels end, a single
 * block does all sweeps.
 */
#include "tests/gpu/flow/grid.cuh"

#include <vector>

enum { COARSEST = 8, MAX_LEVELS = 12, SWEEPS = 2, COARSEST_SWEEPS = 40 };

struct pressure {
	int n, n_levels, n_cycles;
	float *x[MAX_LEVELS], *b[MAX_LEVELS]; /* laplacian of x = b, spacing 1 on the finest */
	struct made {
		float *of; /* the velocity that it was captured for */
		cudaGraphExec_t exec;
		work_nodes nodes;
	};
	std::vector<made> graphs;
};

__global__ void divergence(velocity v, float *b, int n)
{
	int i, j, k;
	if (my_cell(n, i, j, k))
		b[cell(i, j, k, n)] = divergence_of(v, i, j, k, n);
}

static __device__ __forceinline__ float relaxed(const float *x, const float *b, int i, int j, int k,
						int n, float h2)
{
	return (neighbours(x, i, j, k, n) - h2 * b[cell(i, j, k, n)]) * (1.0f / 6.0f);
}

__global__ void smooth(float *x, const float *b, int n, float h2, int colour)
{
	int i, j, k;
	if (my_cell(n, i, j, k) && ((i + j + k) & 1) == colour)
		x[cell(i, j, k, n)] = relaxed(x, b, i, j, k, n, h2);
}

static __device__ __forceinline__ float residual(const float *x, const float *b, int i, int j,
						 int k, int n, float h2)
{
	return b[cell(i, j, k, n)] - (neighbours(x, i, j, k, n) - 6.0f * x[cell(i, j, k, n)]) / h2;
}

/* The mean of what is left over in eight cells is the right-hand side of the coarse one. */
__global__ void restrict_residual(const float *x, const float *b, float *coarse_b, int n, float h2)
{
	int i, j, k;
	if (!my_cell(n / 2, i, j, k))
		return;
	float sum = 0;
	for (int d = 0; d < 8; d++)
		sum += residual(x, b, 2 * i + (d & 1), 2 * j + (d >> 1 & 1), 2 * k + (d >> 2), n,
				h2);
	coarse_b[cell(i, j, k, n / 2)] = sum * 0.125f;
}

__global__ void correct(float *x, const float *coarse_x, int n)
{
	int i, j, k;
	if (my_cell(n, i, j, k))
		x[cell(i, j, k, n)] +=
			between(coarse_x, 0.5f * (float)i - 0.25f, 0.5f * (float)j - 0.25f,
				0.5f * (float)k - 0.25f, n / 2);
}

__global__ void solve_coarsest(float *x, const float *b, float h2)
{
	const int n = COARSEST;
	int i = threadIdx.x, j = threadIdx.y, k = threadIdx.z;
	for (int sweep = 0; sweep < 2 * COARSEST_SWEEPS; sweep++) {
		if (((i + j + k) & 1) == (sweep & 1))
			x[cell(i, j, k, n)] = relaxed(x, b, i, j, k, n, h2);
		__syncthreads();
	}
}

__global__ void subtract_gradient(velocity v, const float *x, int n)
{
	int i, j, k;
	if (!my_cell(n, i, j, k))
		return;
	int me = cell(i, j, k, n);
	v.u[0][me] -= x[me] - x[cell(i - 1, j, k, n)];
	v.u[1][me] -= x[me] - x[cell(i, j - 1, k, n)];
	v.u[2][me] -= x[me] - x[cell(i, j, k - 1, n)];
}

static void sweep(struct pressure *p, int level, cudaStream_t s)
{
	int n = p->n >> level;
	float h2 = (float)(1 << level) * (float)(1 << level);
	for (int i = 0; i < SWEEPS; i++)
		for (int colour = 0; colour < 2; colour++)
			smooth<<<flow_blocks(n), flow_threads(), 0, s>>>(p->x[level], p->b[level],
									 n, h2, colour);
}

static void cycle(struct pressure *p, int level, cudaStream_t s)
{
	int n = p->n >> level;
	float h2 = (float)(1 << level) * (float)(1 << level);
	if (level == p->n_levels - 1) {
		solve_coarsest<<<1, dim3(COARSEST, COARSEST, COARSEST), 0, s>>>(p->x[level],
										p->b[level], h2);
		return;
	}
	sweep(p, level, s);
	restrict_residual<<<flow_blocks(n / 2), flow_threads(), 0, s>>>(p->x[level], p->b[level],
									p->b[level + 1], n, h2);
	MUST(cudaMemsetAsync(p->x[level + 1], 0,
			     (size_t)(n / 2) * (n / 2) * (n / 2) * sizeof(float), s));
	cycle(p, level + 1, s);
	correct<<<flow_blocks(n), flow_threads(), 0, s>>>(p->x[level], p->x[level + 1], n);
	sweep(p, level, s);
}

static struct pressure::made captured(struct pressure *p, struct velocity v, cudaStream_t s)
{
	struct pressure::made made = {};
	cudaGraph_t graph;
	made.of = v.u[0];
	MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	divergence<<<flow_blocks(p->n), flow_threads(), 0, s>>>(v, p->b[0], p->n);
	for (int i = 0; i < p->n_cycles; i++)
		cycle(p, 0, s);
	subtract_gradient<<<flow_blocks(p->n), flow_threads(), 0, s>>>(v, p->x[0], p->n);
	MUST(cudaStreamEndCapture(s, &graph));
	MUST(cudaGraphInstantiate(&made.exec, graph, 0));
	made.nodes = work_nodes_of(graph);
	MUST(cudaGraphDestroy(graph));
	return made;
}

struct pressure *pressure_create(int n, int cycles)
{
	struct pressure *p = new pressure();
	p->n = n;
	p->n_cycles = cycles;
	for (int size = n; size >= COARSEST && p->n_levels < MAX_LEVELS; size /= 2, p->n_levels++) {
		size_t bytes = (size_t)size * size * size * sizeof(float);
		MUST(cudaMalloc(&p->x[p->n_levels], bytes));
		MUST(cudaMalloc(&p->b[p->n_levels], bytes));
		MUST(cudaMemset(p->x[p->n_levels], 0, bytes));
		work_count(TRUTH_SET);
		work_count(TRUTH_SET_BYTES, bytes);
	}
	return p;
}

void pressure_project(struct pressure *p, struct velocity v, cudaStream_t s)
{
	struct pressure::made *graph = NULL;
	for (struct pressure::made &each : p->graphs)
		if (each.of == v.u[0])
			graph = &each;
	if (!graph) {
		p->graphs.push_back(captured(p, v, s));
		graph = &p->graphs.back();
	}
	work_graph_launch(graph->exec, graph->nodes, s);
}

const float *pressure_field(const struct pressure *p)
{
	return p->x[0];
}
