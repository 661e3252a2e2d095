/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of which it is known by construction where their time goes and why: what PC samples must say. One way by its first argument, each with its own launches, event times and results:
 *
 *     line N       one hot line: all instructions but some 30 a thread are on the line HOT_LINE
 *     ratio N      two loops of equal bodies, with 3:1 rounds; prints "share ratio X", the first one's part of the time by the warps' own clocks
 *     barrier N    31 of 32 warps wait at a barrier for the one that works
 *     chase N      dependent loads, each far from the one before: waiting for memory
 *     pipe N       matrix multiplications from all warps: waiting for the tensor pipe
 *     paths N      one kernel from two functions in turn: 3 N launches and N, of as much work each
 *     mixed N      the same, but the two make the kernel take different branches of unequal length
 *     inline N     eight levels of inlined functions, from a header
 *     called N     a device function that is not inlined, called from two places, with 3:1 rounds
 *     recurse N    recursion whose depth differs by lane
 *     all N        everything above
 *
 * N is the number of launches of about 2 ms. Prints "truth", "events-ns" and "result" lines (work.cuh).
 */
#include "inlined.cuh"
#include "work.cuh"

#define BLOCKS (2 * n_units)

static int n_units;
static float *out;

/* Launches a kernel as often as asked, between two events, and once before, with next to nothing to do, so that its code is there and the device is awake.
 * launch(n): with n rounds. */
template <class F> static void timed(const char *name, int launches, int rounds, F launch)
{
	work_timer t;
	for (int i = -1; i < launches; i++) {
		if (i == 0)
			t.begin(0);
		launch(i < 0 ? 1 : rounds);
		work_launched();
	}
	t.end(0);
	t.report(name);
}

/*
 * ---- line, ratio: a chain of additions that depend on each other takes 4 cycles each whatever else runs ----
 *
 * The address of a sample is that of the next instruction in memory when one was just issued, also behind a branch that is taken: so what is behind a loop stands on its line.
 */

#define CHAIN_4(a, b) a = fmaf(a, b, 0.5f), a = fmaf(a, b, 0.5f), a = fmaf(a, b, 0.5f), a = fmaf(a, b, 0.5f)
#define CHAIN_16(a, b) CHAIN_4(a, b), CHAIN_4(a, b), CHAIN_4(a, b), CHAIN_4(a, b)

__global__ void hot_line(int n, float b, float *to)
{
	float a = threadIdx.x;
	_Pragma("unroll 1") for (int i = 0; i < n; i++) CHAIN_16(a, b); to[blockIdx.x * blockDim.x + threadIdx.x] = a; /* HOT_LINE */
}

__device__ unsigned long long cycles_of_3, cycles_of_1;

/*
 * Equal bodies need not take equal time: how they lie in the instruction cache matters. So each warp reads its clock. And it is alone on its multiprocessor, which gives a sample an interval however many
 * warps it has: where some are ahead of others, shares of samples are not those of the warps' time.
 */
__global__ void two_loops(int n, float b, float *to)
{
	float a = threadIdx.x;
	long long begin = clock64();
	_Pragma("unroll 1") for (int i = 0; i < 3 * n; i++) CHAIN_16(a, b); to[blockIdx.x * blockDim.x + threadIdx.x] = a; /* LOOP_OF_3 */
	long long middle = clock64();
	_Pragma("unroll 1") for (int i = 0; i < n; i++) CHAIN_16(a, b); to[blockIdx.x * blockDim.x + threadIdx.x] += a; /* LOOP_OF_1 */
	long long end = clock64();
	if (threadIdx.x % 32 == 0) {
		atomicAdd(&cycles_of_3, (unsigned long long)(middle - begin));
		atomicAdd(&cycles_of_1, (unsigned long long)(end - middle));
	}
}

static void line(int launches)
{
	timed("hot_line", launches, 50000, [](int n) { hot_line<<<BLOCKS, 256>>>(n, 0.5f, out); });
	work_result("line", out, 1024);
}

static void ratio(int launches)
{
	timed("two_loops", launches, 12500, [](int n) { two_loops<<<n_units, 32>>>(n, 0.5f, out); });
	unsigned long long three = 0, one = 0;
	MUST(cudaMemcpyFromSymbol(&three, cycles_of_3, sizeof three));
	MUST(cudaMemcpyFromSymbol(&one, cycles_of_1, sizeof one));
	work_count(TRUTH_COPY, 2);
	work_count(TRUTH_COPY_BYTES, sizeof three + sizeof one);
	work_count(TRUTH_SYNC, 2); /* inside of the blocking copies */
	printf("share ratio %.6f\n", (double)three / (double)(three + one));
	work_result("ratio", out, 1024);
}

/* ---- stalls that are forced ----------------------------------------------------------------------------------------- */

__global__ void wait_at_barrier(int n, float b, float *to)
{
	float a = threadIdx.x;
	for (int i = 0; i < n; i++) {
		if (threadIdx.x < 32)
			_Pragma("unroll 1") for (int k = 0; k < 64; k++) CHAIN_16(a, b);
		__syncthreads();
	}
	to[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

static void barrier(int launches)
{
	timed("wait_at_barrier", launches, 800, [](int n) { wait_at_barrier<<<n_units, 1024>>>(n, 0.5f, out); });
	work_result("barrier", out, 1024);
}

__global__ void follow(const uint32_t *next, int n, uint32_t mask, uint32_t *to)
{
	uint32_t at = (blockIdx.x * blockDim.x + threadIdx.x) * 4099u & mask;
	for (int i = 0; i < n; i++)
		at = next[at]; /* CHASE_LINE */
	to[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

__global__ void make_chain(uint32_t *next, uint32_t mask)
{
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i <= mask; i += gridDim.x * blockDim.x)
		next[i] = (i * 1664525u + 1013904223u) & mask; /* a full cycle (Knuth) */
}

static void chase(int launches)
{
	const uint32_t mask = (1u << 28) - 1; /* 1 GiB, far more than the cache */
	uint32_t *next;
	MUST(cudaMalloc(&next, ((size_t)mask + 1) * 4));
	make_chain<<<1024, 256>>>(next, mask);
	work_launched();
	timed("follow", launches, 4000, [=](int n) { follow<<<n_units, 32>>>(next, n, mask, (uint32_t *)out); });
	work_result("chase", out, 1024);
	MUST(cudaFree(next));
}

/* Four independent products for each warp, so that no warp waits for its own: the pipe is what all wait for. */
__global__ void multiply(int n, float *to)
{
	float c[4][4] = {};
	const uint32_t a = 0x3c003c00u, b = 0x38003800u; /* pairs of 1.0 and 0.5 */
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 4; k++)
			asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};" : "+f"(c[k][0]), "+f"(c[k][1]), "+f"(c[k][2]), "+f"(c[k][3]) : "r"(a), "r"(b));
	to[blockIdx.x * blockDim.x + threadIdx.x] = c[0][0] + c[1][1] + c[2][2] + c[3][3];
}

static void pipe(int launches)
{
	timed("multiply", launches, 48000, [](int n) { multiply<<<n_units, 512>>>(n, out); });
	work_result("pipe", out, 1024);
}

/* ---- two paths ------------------------------------------------------------------------------------------------------ */

__global__ void shared_kernel(int n, int branch, float b, float *to)
{
	float a = threadIdx.x;
	if (branch)
		_Pragma("unroll 1") for (int i = 0; i < n; i++) CHAIN_16(a, b); /* BRANCH_1 */
	else
		_Pragma("unroll 1") for (int i = 0; i < n; i++) a = sinf(a * 1000.0f) + b; /* BRANCH_0 */
	to[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

__attribute__((noinline)) static void thrice(int launches, int branch)
{
	for (int i = 0; i < 3 * launches; i++) {
		shared_kernel<<<BLOCKS, 256>>>(50000, branch, 0.5f, out);
		work_launched();
	}
	work_sync(0);
}

__attribute__((noinline)) static void once(int launches, int branch)
{
	for (int i = 0; i < launches; i++) {
		shared_kernel<<<BLOCKS, 256>>>(50000, branch, 0.5f, out);
		work_launched();
	}
	work_sync(0);
}

static void paths(int launches)
{
	for (int i = 0; i < launches; i++) {
		thrice(1, 1);
		once(1, 1);
	}
	work_result("paths", out, 1024);
}

static void mixed(int launches)
{
	for (int i = 0; i < launches; i++) {
		thrice(1, 1);
		once(1, 0);
	}
	work_result("mixed", out, 1024);
}

/* ---- inlined, called, recursive device functions -------------------------------------------------------------------- */

__global__ void all_levels(int n, float b, float *to)
{
	float a = threadIdx.x;
	const inlined::scale s = {b};
	_Pragma("unroll 1") for (int i = 0; i < n; i++) a = inlined::level1(a, s);
	to[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

static void inlining(int launches)
{
	timed("all_levels", launches, 40000, [](int n) { all_levels<<<BLOCKS, 256>>>(n, 0.5f, out); });
	work_result("inline", out, 1024);
}

__device__ __noinline__ float callee(float a, float b)
{
	_Pragma("unroll 1") for (int i = 0; i < 16; i++) CHAIN_16(a, b); /* CALLEE_LINE */
	return a;
}

__global__ void caller(int n, float b, float *to)
{
	float a = threadIdx.x;
	for (int i = 0; i < 3 * n; i++)
		a = callee(a, b); /* CALL_OF_3 */
	to[blockIdx.x * blockDim.x + threadIdx.x] = a;
	for (int i = 0; i < n; i++)
		a = callee(a, b + 1e-6f); /* CALL_OF_1 */
	to[blockIdx.x * blockDim.x + threadIdx.x] += a;
}

static void called(int launches)
{
	timed("caller", launches, 750, [](int n) { caller<<<BLOCKS, 256>>>(n, 0.5f, out); });
	work_result("called", out, 1024);
}

__device__ __noinline__ float down(int depth, float a)
{
	if (depth <= 0)
		return a;
	return fmaf(down(depth - 1, a * 0.5f), 0.5f, down(depth - 2, a + 1.0f));
}

__global__ void recursive(int n, float *to)
{
	float a = threadIdx.x;
	for (int i = 0; i < n; i++)
		a = down((int)(threadIdx.x % 11), a) * 0.001f;
	to[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

static void recursion(int launches)
{
	MUST(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
	timed("recursive", launches, 200, [](int n) { recursive<<<n_units, 64>>>(n, out); });
	work_result("recurse", out, 256);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int launches);
	} ways[] = {{"line", line}, {"ratio", ratio}, {"barrier", barrier}, {"chase", chase}, {"pipe", pipe}, {"paths", paths}, {"mixed", mixed}, {"inline", inlining}, {"called", called}, {"recurse", recursion}};
	const char *way = argc > 1 ? argv[1] : "all";
	int launches = argc > 2 ? atoi(argv[2]) : 10;
	bool found = false;
	work_open();
	MUST(cudaDeviceGetAttribute(&n_units, cudaDevAttrMultiProcessorCount, 0));
	MUST(cudaMalloc(&out, (size_t)BLOCKS * 1024 * sizeof *out));
	for (auto &w : ways) {
		if (strcmp(way, w.name) && strcmp(way, "all"))
			continue;
		w.run(launches);
		found = true;
	}
	work_report();
	return found ? 0 : 2;
}
