/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inference of a small transformer: transformer [TOKENS [plain]]. Sixteen sequences are continued
 * at once, token by token, greedily, with weights from a hash. A token is one CUDA graph of some 80
 * kernels: matrix products of cuBLAS, which is found by name (77 without), and kernels of our own
 * for the rest. With "plain" the same calls are made one by one, without a graph. Prints the time
 * of all tokens, and "truth" and "result" lines (work.cuh); what a token launches is counted by the
 * nodes of the graph.
 */
#include "work.cuh"
#include "work_library.h"

enum {
	WIDTH = 512,
	HEADS = 8,
	HEAD = WIDTH / HEADS,
	LAYERS = 8,
	HIDDEN = 4 * WIDTH,
	VOCABULARY = 8192,
	BATCH = 16,
	MOST_TOKENS = 1024,
	THREADS = 128
};

/* ---- kernels: one block for each sequence, or each sequence and head ------------------------- */

static __device__ __forceinline__ float over_warp(float a)
{
	for (int d = 16; d > 0; d /= 2)
		a += __shfl_xor_sync(~0u, a, d);
	return a;
}

/* The sum over a block, in a fixed order. */
static __device__ float over_block(float a)
{
	__shared__ float parts[THREADS / 32];
	float sum = 0;
	a = over_warp(a);
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		parts[threadIdx.x / 32] = a;
	__syncthreads();
	for (int i = 0; i < THREADS / 32; i++)
		sum += parts[i];
	return sum;
}

static __device__ __forceinline__ float pseudo_random(uint32_t i)
{
	i = (i ^ 61) ^ (i >> 16);
	i *= 9;
	i ^= i >> 4;
	i *= 0x27d4eb2d;
	i ^= i >> 15;
	return (float)(i & 0xffff) * (2.0f / 65536.0f) - 1.0f;
}

__global__ void fill(float *to, int n, uint32_t seed, float scale)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		to[i] = scale * pseudo_random((uint32_t)i + seed);
}

__global__ void embed(const float *table, const int *tokens, const int *position, float *x)
{
	for (int c = threadIdx.x; c < WIDTH; c += THREADS) {
		float angle = (float)*position * __expf(-9.2f * (float)(c / 2) / (WIDTH / 2));
		x[blockIdx.x * WIDTH + c] = table[tokens[blockIdx.x] * WIDTH + c] +
					    0.1f * (c & 1 ? __cosf(angle) : __sinf(angle));
	}
}

__global__ void normalise(const float *x, float *y)
{
	const float *mine = x + blockIdx.x * WIDTH;
	float sum = 0, squares = 0;
	for (int c = threadIdx.x; c < WIDTH; c += THREADS)
		sum += mine[c];
	float mean = over_block(sum) / WIDTH;
	for (int c = threadIdx.x; c < WIDTH; c += THREADS)
		squares += (mine[c] - mean) * (mine[c] - mean);
	float scale = rsqrtf(over_block(squares) / WIDTH + 1e-5f);
	for (int c = threadIdx.x; c < WIDTH; c += THREADS)
		y[blockIdx.x * WIDTH + c] = (mine[c] - mean) * scale;
}

static __device__ __forceinline__ float dot(const float *a, const float *b)
{
	float sum = 0;
	for (int c = 0; c < HEAD; c++)
		sum = fmaf(a[c], b[c], sum);
	return sum;
}

/* Block (head, sequence): the new key and value join the cache, then all positions so far are
 * attended to. qkv: q, k, v of each sequence. */
__global__ void attend(const float *qkv, float *keys, float *values, const int *position, float *to)
{
	__shared__ float weight[MOST_TOKENS];
	int head = blockIdx.x, sequence = blockIdx.y, now = *position, t = threadIdx.x;
	const float *q = qkv + sequence * 3 * WIDTH + head * HEAD;
	float *k = keys + (size_t)(sequence * HEADS + head) * MOST_TOKENS * HEAD,
	      *v = values + (size_t)(sequence * HEADS + head) * MOST_TOKENS * HEAD;
	if (t < HEAD) {
		k[now * HEAD + t] = q[WIDTH + t];
		v[now * HEAD + t] = q[2 * WIDTH + t];
	}
	__syncthreads();
	float total = 0;
	for (int i = t; i <= now; i += THREADS) {
		weight[i] = __expf(fminf(dot(q, k + i * HEAD) * 0.125f, 30.0f));
		total += weight[i];
	}
	total = over_block(total);
	for (int c = t; c < HEAD; c += THREADS) {
		float sum = 0;
		for (int i = 0; i <= now; i++)
			sum = fmaf(weight[i], v[i * HEAD + c], sum);
		to[sequence * WIDTH + head * HEAD + c] = sum / total;
	}
}

static __device__ __forceinline__ float gelu(float a)
{
	return 0.5f * a * (1.0f + tanhf(0.79788456f * (a + 0.044715f * a * a * a)));
}

__global__ void activate(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] = gelu(x[i]);
}

/* The likeliest token of each sequence becomes the next; equals: the first. */
__global__ void choose(const float *logits, int *tokens, int *position)
{
	__shared__ float best[THREADS];
	__shared__ int where[THREADS];
	int t = threadIdx.x;
	best[t] = -1e30f;
	where[t] = 0;
	for (int i = t; i < VOCABULARY; i += THREADS)
		if (logits[blockIdx.x * VOCABULARY + i] > best[t]) {
			best[t] = logits[blockIdx.x * VOCABULARY + i];
			where[t] = i;
		}
	__syncthreads();
	if (t != 0)
		return;
	for (int i = 1; i < THREADS; i++)
		if (best[i] > best[0] || (best[i] == best[0] && where[i] < where[0])) {
			best[0] = best[i];
			where[0] = where[i];
		}
	tokens[blockIdx.x] = where[0];
	if (blockIdx.x == 0)
		++*position;
}

/* ---- the model ------------------------------------------------------------------------------- */

struct model {
	float *table, *qkv[LAYERS], *out[LAYERS], *up[LAYERS], *down[LAYERS]; /* weights */
	float *keys[LAYERS], *values[LAYERS];
	float *x, *y, *three, *wide, *logits;
	int *tokens, *position;
	void *blas;
	int (*sgemm)(void *, int, int, int, int, int, const float *, const float *, int,
		     const float *, int, const float *, float *, int);
	cudaStream_t stream;
};

static float *filled(size_t n, float scale, cudaStream_t s)
{
	static uint32_t seed = 1;
	float *p;
	MUST(cudaMalloc(&p, n * sizeof *p));
	fill<<<256, 256, 0, s>>>(p, (int)n, seed, scale);
	work_launched();
	seed += 2654435761u;
	return p;
}

static void open_blas(struct model *m)
{
	void *l = work_library("libcublas.so.13"), *space;
	MUST(cudaMalloc(&space, 32 << 20)); /* ours, so that graphs and plain calls do the same */
	m->sgemm = work_symbol<decltype(m->sgemm)>(l, "cublasSgemm_v2");
	if (work_symbol<int (*)(void **)>(l, "cublasCreate_v2")(&m->blas) ||
	    work_symbol<int (*)(void *, cudaStream_t)>(l, "cublasSetStream_v2")(m->blas,
										m->stream) ||
	    work_symbol<int (*)(void *, void *, size_t)>(l, "cublasSetWorkspace_v2")(m->blas, space,
										     32 << 20))
		puts("cuBLAS does not start"), exit(77);
}

static void create(struct model *m)
{
	const float scale = 1.5f / sqrtf(WIDTH);
	MUST(cudaStreamCreateWithFlags(&m->stream, cudaStreamNonBlocking));
	open_blas(m);
	m->table = filled((size_t)VOCABULARY * WIDTH, 1.0f, m->stream);
	for (int i = 0; i < LAYERS; i++) {
		m->qkv[i] = filled((size_t)WIDTH * 3 * WIDTH, scale, m->stream);
		m->out[i] = filled((size_t)WIDTH * WIDTH, scale, m->stream);
		m->up[i] = filled((size_t)WIDTH * HIDDEN, scale, m->stream);
		m->down[i] = filled((size_t)HIDDEN * WIDTH, 0.5f * scale, m->stream);
		m->keys[i] = filled((size_t)BATCH * WIDTH * MOST_TOKENS, 0, m->stream);
		m->values[i] = filled((size_t)BATCH * WIDTH * MOST_TOKENS, 0, m->stream);
	}
	m->x = filled(BATCH * WIDTH, 0, m->stream);
	m->y = filled(BATCH * WIDTH, 0, m->stream);
	m->three = filled(BATCH * 3 * WIDTH, 0, m->stream);
	m->wide = filled(BATCH * HIDDEN, 0, m->stream);
	m->logits = filled((size_t)BATCH * VOCABULARY, 0, m->stream);
	int first[BATCH];
	for (int i = 0; i < BATCH; i++)
		first[i] = 37 * i + 5;
	MUST(cudaMalloc(&m->tokens, sizeof first));
	MUST(cudaMalloc(&m->position, sizeof(int)));
	work_set(m->position, 0, sizeof(int), m->stream);
	work_copy(m->tokens, first, sizeof first, cudaMemcpyHostToDevice, m->stream);
	work_sync(m->stream);
}

/* to (BATCH rows of n_out) = from (BATCH rows of n_in) times weights (n_in rows of n_out), added to
 * `to` times `keep`. cuBLAS counts by columns. */
static void product(struct model *m, const float *from, const float *weights, float *to, int n_in,
		    int n_out, float keep)
{
	const float one = 1.0f;
	if (m->sgemm(m->blas, 0, 0, n_out, BATCH, n_in, &one, weights, n_out, from, n_in, &keep, to,
		     n_out)) {
		fputs("cublasSgemm failed\n", stderr);
		exit(1);
	}
}

static void attention(struct model *m, int layer)
{
	normalise<<<BATCH, THREADS, 0, m->stream>>>(m->x, m->y);
	product(m, m->y, m->qkv[layer], m->three, WIDTH, 3 * WIDTH, 0);
	attend<<<dim3(HEADS, BATCH), THREADS, 0, m->stream>>>(m->three, m->keys[layer],
							      m->values[layer], m->position, m->y);
	product(m, m->y, m->out[layer], m->x, WIDTH, WIDTH, 1);
}

static void perceptron(struct model *m, int layer)
{
	normalise<<<BATCH, THREADS, 0, m->stream>>>(m->x, m->y);
	product(m, m->y, m->up[layer], m->wide, WIDTH, HIDDEN, 0);
	activate<<<BATCH * HIDDEN / 256, 256, 0, m->stream>>>(m->wide, BATCH * HIDDEN);
	product(m, m->wide, m->down[layer], m->x, HIDDEN, WIDTH, 1);
}

static void forward(struct model *m)
{
	embed<<<BATCH, THREADS, 0, m->stream>>>(m->table, m->tokens, m->position, m->x);
	for (int layer = 0; layer < LAYERS; layer++) {
		attention(m, layer);
		perceptron(m, layer);
	}
	normalise<<<BATCH, THREADS, 0, m->stream>>>(m->x, m->y);
	product(m, m->y, m->table, m->logits, WIDTH, VOCABULARY, 0);
	choose<<<BATCH, THREADS, 0, m->stream>>>(m->logits, m->tokens, m->position);
	MUST(cudaGetLastError());
}

static cudaGraphExec_t captured(struct model *m, work_nodes *nodes)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	MUST(cudaStreamBeginCapture(m->stream, cudaStreamCaptureModeRelaxed));
	forward(m);
	MUST(cudaStreamEndCapture(m->stream, &graph));
	MUST(cudaGraphInstantiate(&exec, graph, 0));
	*nodes = work_nodes_of(graph);
	return exec;
}

int main(int argc, char **argv)
{
	int n_tokens = argc > 1 ? atoi(argv[1]) : 500;
	bool plain = argc > 2 && !strcmp(argv[2], "plain");
	struct model m = {};
	work_nodes nodes;
	if (n_tokens < 1 || n_tokens > MOST_TOKENS)
		return 2;
	work_open();
	create(&m);
	cudaGraphExec_t exec = captured(&m, &nodes);
	uint64_t begin = work_now_ns();
	for (int i = 0; i < n_tokens; i++) {
		if (plain) {
			forward(&m);
			work_count(TRUTH_KERNEL, nodes.kernels);
			work_count(TRUTH_SET, nodes.sets);
		} else {
			work_graph_launch(exec, nodes, m.stream);
		}
		if (i % 16 == 15)
			work_sync(m.stream);
	}
	work_sync(m.stream);
	printf("elapsed-ns %llu\nkernels-per-token %zu\n",
	       (unsigned long long)(work_now_ns() - begin), nodes.kernels);
	work_result("tokens", m.tokens, BATCH * sizeof(int));
	work_result("logits", m.logits, (size_t)BATCH * VOCABULARY * sizeof(float));
	work_report();
	return 0;
}
