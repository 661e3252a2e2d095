/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways in which programs bring work to a GPU, through the run time API. One by its first argument:
 *
 *     overlap S N     S streams, N kernels of 50 us on a few units in each: they run at the same time
 *     graphs N        a captured graph, one made by hand, one instantiated twice, one updated: each launched N times
 *     cluster N       cudaLaunchKernelEx with clusters of blocks
 *     cooperative N   cudaLaunchCooperativeKernel
 *     jit N           a kernel compiled at run time by NVRTC (found by name; 77 without)
 *     blas N          matrix products of cuBLAS (found by name; 77 without). How many kernels one is: as many as a graph that captures it has nodes
 *     copies N        copies to and from the device and sets, in two streams
 *     tiny N [D]      N empty kernels from D calls deep (30); prints the time of a launch
 *     threads T N     N kernels from each of T threads, each with its stream, two launch sites
 *     devices N       N kernels on each device
 *     soak N T        N empty kernels in all from T threads; prints the resident memory at the start, in the middle and at the end
 *
 * Prints "truth" and "result" lines (work.cuh) and, where it says so, figures.
 */
#include "work.cuh"
#include "work_library.h"

#include <cooperative_groups.h>
#include <thread>
#include <unistd.h>
#include <vector>

__global__ void empty() {}

__global__ void spin(uint64_t ns)
{
	uint64_t begin, now;
	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
	while (now - begin < ns);
}

__global__ void add(float *to, float b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		to[i] = to[i] * 0.5f + b;
}

static float *floats(int n)
{
	float *p;
	MUST(cudaMalloc(&p, n * sizeof *p));
	work_set(p, 0, n * sizeof *p, 0);
	return p;
}

static cudaStream_t stream()
{
	cudaStream_t s;
	MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	return s;
}

/* ---- overlap -------------------------------------------------------------------------------------------------------- */

static void overlap(int n_streams, int n)
{
	std::vector<cudaStream_t> streams;
	for (int i = 0; i < n_streams; i++)
		streams.push_back(stream());
	for (int i = 0; i < n; i++)
		for (cudaStream_t s : streams) {
			spin<<<8, 64, 0, s>>>(50000);
			work_launched();
		}
	for (cudaStream_t s : streams)
		work_sync(s);
}

/* ---- graphs --------------------------------------------------------------------------------------------------------- */

static void launch_graph(cudaGraphExec_t exec, cudaGraph_t graph, int n, cudaStream_t s)
{
	work_nodes w = work_nodes_of(graph);
	for (int i = 0; i < n; i++)
		work_graph_launch(exec, w, s);
	work_sync(s);
}

__attribute__((noinline)) static cudaGraph_t captured(cudaStream_t s, float *a, float *b)
{
	cudaGraph_t graph;
	MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	MUST(cudaMemsetAsync(a, 0, 4096, s));
	add<<<4, 256, 0, s>>>(a, 1.0f, 1024); /* CAPTURED_FIRST */
	MUST(cudaMemcpyAsync(b, a, 4096, cudaMemcpyDeviceToDevice, s));
	for (int i = 0; i < 3; i++)
		add<<<4, 256, 0, s>>>(b, (float)i, 1024); /* CAPTURED_LOOP */
	MUST(cudaStreamEndCapture(s, &graph));
	return graph;
}

__attribute__((noinline)) static cudaGraph_t explicit_graph(float *a)
{
	cudaGraph_t graph;
	cudaGraphNode_t first, second;
	float b = 2.0f;
	int n = 1024;
	void *arguments[] = {&a, &b, &n};
	cudaKernelNodeParams kernel = {};
	kernel.func = (void *)add;
	kernel.gridDim = dim3(4);
	kernel.blockDim = dim3(256);
	kernel.kernelParams = arguments;
	MUST(cudaGraphCreate(&graph, 0));
	MUST(cudaGraphAddKernelNode(&first, graph, NULL, 0, &kernel)); /* EXPLICIT_FIRST */
	MUST(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel)); /* EXPLICIT_SECOND */
	return graph;
}

static cudaGraphExec_t instantiated(cudaGraph_t graph)
{
	cudaGraphExec_t exec;
	MUST(cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

static void graphs(int n)
{
	cudaStream_t s = stream();
	float *a = floats(1024), *b = floats(1024);
	cudaGraphExecUpdateResultInfo info;
	work_sync(0);
	cudaGraph_t made = captured(s, a, b), by_hand = explicit_graph(a), again = captured(s, b, a);
	cudaGraphExec_t exec = instantiated(made);
	launch_graph(exec, made, n, s);
	launch_graph(instantiated(by_hand), by_hand, n, s);
	launch_graph(instantiated(made), made, n, s); /* a second instance of the first */
	MUST(cudaGraphExecUpdate(exec, again, &info));
	launch_graph(exec, again, n, s);
	work_result("graphs", b, 4096);
}

/* ---- other launches ------------------------------------------------------------------------------------------------- */

__global__ void in_cluster(float *to)
{
	cooperative_groups::this_cluster().sync();
	to[blockIdx.x] += (float)cooperative_groups::this_cluster().block_rank();
}

static void cluster(int n)
{
	float *to = floats(64);
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};
	attribute.id = cudaLaunchAttributeClusterDimension;
	attribute.val.clusterDim.x = 4;
	attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
	config.gridDim = dim3(64);
	config.blockDim = dim3(128);
	config.attrs = &attribute;
	config.numAttrs = 1;
	for (int i = 0; i < n; i++) {
		MUST(cudaLaunchKernelEx(&config, in_cluster, to));
		work_count(TRUTH_KERNEL);
	}
	work_result("cluster", to, 64 * sizeof *to);
}

__global__ void in_grid(float *to)
{
	to[blockIdx.x] += 1.0f;
	cooperative_groups::this_grid().sync();
	to[blockIdx.x] += to[(blockIdx.x + 1) % gridDim.x] > 0 ? 1.0f : 0.0f;
}

static void cooperative(int n)
{
	float *to = floats(64);
	void *arguments[] = {&to};
	for (int i = 0; i < n; i++) {
		MUST(cudaLaunchCooperativeKernel((void *)in_grid, dim3(64), dim3(1), arguments, 0, (cudaStream_t)0));
		work_count(TRUTH_KERNEL);
	}
	work_result("cooperative", to, 64 * sizeof *to);
}

/* For the device that is there. */
static std::vector<char> compiled()
{
	static const char source[] =
		"extern \"C\" __global__ void made_at_run_time(float *to, int n)\n{\n\tfloat a = threadIdx.x;\n#pragma unroll 1\n\tfor (int i = 0; i < n; i++)\n\t\ta = a * 0.5f + 1.0f;\n\tto[threadIdx.x] = a;\n}\n";
	void *l = work_library("libnvrtc.so.13"), *program;
	char architecture[32];
	int major = 0, minor = 0;
	size_t bytes = 0;
	auto create = work_symbol<int (*)(void **, const char *, const char *, int, const char *const *, const char *const *)>(l, "nvrtcCreateProgram");
	auto compile = work_symbol<int (*)(void *, int, const char *const *)>(l, "nvrtcCompileProgram");
	auto size = work_symbol<int (*)(void *, size_t *)>(l, "nvrtcGetCUBINSize");
	auto get = work_symbol<int (*)(void *, char *)>(l, "nvrtcGetCUBIN");
	MUST(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
	MUST(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
	snprintf(architecture, sizeof architecture, "-arch=sm_%d%d", major, minor);
	const char *options[] = {architecture, "-lineinfo"};
	if (create(&program, source, "run_time.cu", 0, NULL, NULL) || compile(program, 2, options) || size(program, &bytes) || bytes == 0)
		printf("NVRTC cannot compile for %s\n", architecture), exit(77);
	std::vector<char> cubin(bytes);
	if (get(program, cubin.data()))
		exit(1);
	return cubin;
}

static void jit(int n)
{
	std::vector<char> cubin = compiled();
	cudaLibrary_t l;
	cudaKernel_t kernel;
	float *to = floats(256);
	int rounds = 100000;
	void *arguments[] = {&to, &rounds};
	MUST(cudaLibraryLoadData(&l, cubin.data(), NULL, NULL, 0, NULL, NULL, 0));
	MUST(cudaLibraryGetKernel(&kernel, l, "made_at_run_time"));
	for (int i = 0; i < n; i++) {
		MUST(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(256), arguments, 0, 0));
		work_count(TRUTH_KERNEL);
	}
	work_result("jit", to, 1024);
	MUST(cudaLibraryUnload(l));
}

/* ---- cuBLAS --------------------------------------------------------------------------------------------------------- */

static void blas(int n)
{
	enum { SIZE = 1024 };
	void *l = work_library("libcublas.so.13"), *handle;
	auto create = work_symbol<int (*)(void **)>(l, "cublasCreate_v2");
	auto set_stream = work_symbol<int (*)(void *, cudaStream_t)>(l, "cublasSetStream_v2");
	auto workspace = work_symbol<int (*)(void *, void *, size_t)>(l, "cublasSetWorkspace_v2");
	auto sgemm = work_symbol<int (*)(void *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)>(l, "cublasSgemm_v2");
	cudaStream_t s = stream();
	float *a = floats(SIZE * SIZE), *b = floats(SIZE * SIZE), *c = floats(SIZE * SIZE), one = 1.0f, half = 0.5f;
	void *space;
	MUST(cudaMalloc(&space, 32 << 20));
	add<<<SIZE * SIZE / 256, 256>>>(a, 0.25f, SIZE * SIZE);
	work_launched();
	add<<<SIZE * SIZE / 256, 256>>>(b, 0.75f, SIZE * SIZE);
	work_launched();
	work_sync(0);
	if (create(&handle) || set_stream(handle, s) || workspace(handle, space, 32 << 20))
		puts("cuBLAS does not start"), exit(77);
	auto product = [&] { return sgemm(handle, 0, 0, SIZE, SIZE, SIZE, &one, a, SIZE, b, SIZE, &half, c, SIZE); };
	cudaGraph_t graph;
	MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	int failed = product();
	MUST(cudaStreamEndCapture(s, &graph));
	size_t kernels = work_nodes_of(graph).kernels;
	for (int i = 0; i < n; i++)
		failed |= product();
	if (failed)
		exit(1);
	work_count(TRUTH_KERNEL, n * kernels);
	printf("kernels-per-product %zu\n", kernels);
	work_result("blas", c, SIZE * SIZE * sizeof *c);
}

/* ---- copies --------------------------------------------------------------------------------------------------------- */

static void copies(int n)
{
	const size_t bytes = 8 << 20;
	char *device, *other, *host;
	cudaStream_t s[2] = {stream(), stream()};
	MUST(cudaMalloc(&device, bytes));
	MUST(cudaMalloc(&other, bytes));
	MUST(cudaMallocHost(&host, bytes));
	memset(host, 3, bytes);
	for (int i = 0; i < n; i++) {
		work_copy(device, host, bytes, cudaMemcpyHostToDevice, s[0]);
		work_copy(other, device, bytes / 2, cudaMemcpyDeviceToDevice, s[0]);
		work_set(other + bytes / 2, i, bytes / 2, s[1]);
		work_sync(s[0]);
		work_copy(host, other, bytes / 4, cudaMemcpyDeviceToHost, s[1]);
	}
	work_sync(s[1]);
	work_result("copies", other, bytes);
}

/* ---- many launches -------------------------------------------------------------------------------------------------- */

static void launch_tiny(long n)
{
	work_sync(0);
	uint64_t ns = 0, begin = work_now_ns();
	for (long i = 0; i < n; i++) {
		empty<<<1, 1>>>();
		work_count(TRUTH_KERNEL);
		if (i % 512 == 511) { /* never wait for room in the queue: the time of the calls alone is wanted */
			ns += work_now_ns() - begin;
			work_sync(0);
			begin = work_now_ns();
		}
	}
	ns += work_now_ns() - begin;
	MUST(cudaGetLastError());
	work_sync(0);
	printf("ns-per-launch %.1f\n", (double)ns / (double)n);
}

__attribute__((noinline)) static void deeper(int depth, long n)
{
	if (depth > 1)
		deeper(depth - 1, n);
	else
		launch_tiny(n);
	asm volatile(""); /* no tail call */
}

static void tiny(long n, int depth)
{
	empty<<<1, 1>>>();
	work_launched();
	deeper(depth, n);
}

__attribute__((noinline)) static void short_ones(int n, cudaStream_t s)
{
	for (int i = 0; i < n; i++) {
		spin<<<1, 32, 0, s>>>(2000);
		work_launched();
	}
}

__attribute__((noinline)) static void long_ones(int n, cudaStream_t s)
{
	for (int i = 0; i < n; i++) {
		spin<<<1, 32, 0, s>>>(10000);
		work_launched();
	}
}

static void threads(int n_threads, int n)
{
	std::vector<std::thread> all;
	for (int i = 0; i < n_threads; i++)
		all.emplace_back([n] {
			cudaStream_t s = stream();
			short_ones(n / 2, s);
			long_ones(n - n / 2, s);
			work_sync(s);
		});
	for (std::thread &t : all)
		t.join();
}

static void devices(int n, int n_devices)
{
	for (int d = 0; d < n_devices; d++) {
		MUST(cudaSetDevice(d));
		for (int i = 0; i < n; i++) {
			spin<<<1, 32>>>(100000);
			work_launched();
		}
	}
	for (int d = 0; d < n_devices; d++) {
		MUST(cudaSetDevice(d));
		MUST(cudaDeviceSynchronize());
		work_count(TRUTH_SYNC);
	}
	printf("devices %d\n", n_devices);
}

static long resident_kib()
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void soak(long n, int n_threads)
{
	std::vector<std::thread> all;
	std::atomic<long> done{0};
	std::atomic<long> middle{0};
	empty<<<1, 1>>>();
	work_launched();
	work_sync(0);
	printf("resident-kib start %ld\n", resident_kib());
	for (int i = 0; i < n_threads; i++)
		all.emplace_back([&, n, n_threads] {
			cudaStream_t s = stream();
			for (long k = 0; k < n / n_threads; k++) {
				empty<<<1, 1, 0, s>>>();
				if (k % 4096 != 4095)
					continue;
				MUST(cudaStreamSynchronize(s));
				if (done.fetch_add(4096) < n / 2 && done >= n / 2)
					middle = resident_kib();
			}
			work_count(TRUTH_KERNEL, n / n_threads);
			work_count(TRUTH_SYNC, n / n_threads / 4096);
			MUST(cudaGetLastError());
			work_sync(s);
		});
	for (std::thread &t : all)
		t.join();
	printf("resident-kib middle %ld\nresident-kib end %ld\n", middle.load(), resident_kib());
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 10, m = argc > 3 ? atol(argv[3]) : 0;
	int n_devices = work_open();
	if (!strcmp(way, "overlap"))
		overlap((int)n, m ? (int)m : 100);
	else if (!strcmp(way, "graphs"))
		graphs((int)n);
	else if (!strcmp(way, "cluster"))
		cluster((int)n);
	else if (!strcmp(way, "cooperative"))
		cooperative((int)n);
	else if (!strcmp(way, "jit"))
		jit((int)n);
	else if (!strcmp(way, "blas"))
		blas((int)n);
	else if (!strcmp(way, "copies"))
		copies((int)n);
	else if (!strcmp(way, "tiny"))
		tiny(n, m ? (int)m : 30);
	else if (!strcmp(way, "threads"))
		threads((int)n, m ? (int)m : 100);
	else if (!strcmp(way, "devices"))
		devices((int)n, n_devices);
	else if (!strcmp(way, "soak"))
		soak(n, m ? (int)m : 1);
	else
		return 2;
	work_report();
	return 0;
}
