/*
 * Operations of many kinds, for the decoder of SASS: textures, surfaces, atomics of all spaces,
 * asynchronous copies, votes and shuffles, conversions, doubles, tensor cores, fences.
 */
#include <cstdint>
static __device__ uint32_t in_shared(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}
#if __CUDA_ARCH__ >= 900
__global__ void bulk_copies(float *out, const float *in, uint64_t map)
{
	__shared__ __align__(128) uint64_t barrier[2];
	__shared__ __align__(128) float s[1024];
	uint32_t b = in_shared(barrier), to = in_shared(s);
	if (threadIdx.x == 0) {
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b));
		asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(b));
		asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
			     "[%0], [%1], 1024, [%2];" ::"r"(to),
			     "l"(in), "r"(b));
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global"
			     ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
			     "l"(map), "r"(1), "r"(2), "r"(b));
		asm volatile(
			"cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(out),
			"r"(to));
		asm volatile("cp.async.bulk.commit_group;");
		asm volatile("cp.async.bulk.wait_group 0;");
	}
	asm volatile(
		"{\n.reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
		"@!p bra AGAIN;\n}" ::"r"(b));
	out[threadIdx.x] = s[threadIdx.x];
}
#endif
#if __CUDA_ARCH__ >= 800
__global__ void copies(float *out, const float *in)
{
	__shared__ float s[2][256];
	for (int i = 0; i < 2; i++) {
		asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
				     in_shared(&s[i][threadIdx.x])),
			     "l"(in + 256 * i + threadIdx.x));
		asm volatile("cp.async.commit_group;");
	}
	asm volatile("cp.async.wait_group 1;");
	out[threadIdx.x] = s[0][threadIdx.x];
	asm volatile("cp.async.wait_group 0;");
	out[threadIdx.x + 256] = s[1][threadIdx.x];
}
#endif
__global__ void images(float *out, cudaTextureObject_t t, cudaSurfaceObject_t u)
{
	float v = tex2D<float>(t, 1, 2) + tex1Dfetch<float>(t, 3) + surf2Dread<float>(u, 4, 5);
	surf2Dwrite(v, u, 8, 9);
	out[threadIdx.x] = v + tex2Dgather<float4>(t, 1, v).x;
}
__global__ void atomics(int *p, float *f, unsigned long long *q, int *anywhere)
{
	__shared__ int s[32];
	s[threadIdx.x] = 0;
	__syncthreads();
	int v = atomicAdd(p + threadIdx.x, 3) + atomicCAS(p + 8, 1, 2) +
		atomicAdd(s + (p[1] & 31), 5);
	atomicAdd(f + 4, 2.f);
	atomicMax(p + 40, v);
	atomicExch(q, 7);
	v += atomicCAS(s + (p[2] & 31), v, 6);
	p[threadIdx.x + 64] = v + atomicAdd(p[3] ? anywhere : s, 1);
}
__global__ void warps(int *p, unsigned *out)
{
	unsigned v = __match_any_sync(~0u, p[4]) + __ballot_sync(~0u, p[6]) + __popc(p[3]) +
		     __brev(p[5]) + __clz(p[7]) + __shfl_xor_sync(~0u, p[8], 3) +
		     __shfl_sync(~0u, p[9], p[10]);
#if __CUDA_ARCH__ >= 800
	v += __reduce_add_sync(~0u, v);
#endif
	out[threadIdx.x] = v + clock();
}
__global__ void numbers(double *d, float *f, int *p, long long *q, int8_t *c)
{
	double x = sqrt(d[0]) * d[3] + (double)f[1] + p[2] + q[3];
	float y = sinf(f[0]) + rsqrtf(f[1]) + __expf(f[2]) + (float)x + (float)q[0] + p[0] / f[3];
	int i0 = 0, i1 = 0;
	asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1},{%2},{%3},{%0,%1};"
		     : "+r"(i0), "+r"(i1)
		     : "r"(p[20]), "r"(p[21]));
	d[threadIdx.x] = x > 3 ? x : -x;
	f[threadIdx.x] = y;
	q[threadIdx.x] = (long long)x + (long long)y * p[5] + q[7] / q[8];
	p[threadIdx.x] = i0 + i1 + __dp4a(p[30], p[31], p[32]) + __vadd4(p[7], p[40]) + (int)y;
	c[threadIdx.x] = (int8_t)(c[1] * c[2]);
}
__global__ void spaces(const float *in, float *out, int n)
{
	float local[40];
	for (int i = 0; i < 40; i++)
		local[i] = in[i];
	for (int i = 0; i < n; i++)
		local[(i * 7) % 40] += local[i % 40];
	__threadfence();
	__threadfence_system();
	__nanosleep(20);
	asm volatile("prefetch.global.L2 [%0];" ::"l"(in));
	out[threadIdx.x] = local[n % 40];
}
