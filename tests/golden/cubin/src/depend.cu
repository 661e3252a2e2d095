/*
 * Kernels whose waits have a known cause. A comment "NAME:" names the line of a cause, "after NAME"
 * says that the most likely cause of a wait on that line is there, "carried after NAME" that it is
 * there in an earlier iteration of the loop. tests/cli/struct/struct_depend.sh reads them.
 */
static __device__ __forceinline__ float load(const float *p)
{
	float v;
	asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p)); // inlined:
	return v;
}
static __device__ __forceinline__ float twice(float v)
{
	return v * 2; // after inlined
}
__global__ void chase(void **p, int n, void **out)
{
	void **q = p;
#pragma unroll 1
	for (int i = 0; i < n; i++)
		asm volatile("ld.global.u64 %0, [%0];" : "+l"(q)); // chase: carried after chase
	*out = q;
}
__global__ void late(const float *a, const int *index, const float *b, float *out)
{
	int i = threadIdx.x;
	float x, y, z;
	int k;
	asm volatile("ld.global.f32 %0, [%1];" : "=f"(x) : "l"(a + i));
	asm volatile("ld.global.f32 %0, [%1];" : "=f"(y) : "l"(a + i + 999));
	asm volatile("ld.global.s32 %0, [%1];" : "=r"(k) : "l"(index + i)); // index:
	asm volatile("ld.global.f32 %0, [%1];" : "=f"(z) : "l"(b + k)); // late:
	x *= y;
	x += z; // after late
	out[i] = x;
}
__global__ void far(const float *a, float *out, int n)
{
	int i = threadIdx.x;
	float v, w = 1;
	asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(a + i)); // far:
	if (n & 1)
		asm volatile("bar.warp.sync -1;");
#pragma unroll 1
	for (int k = 0; k < n; k++)
		asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(w));
	if (n & 2)
		asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(w));
	asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(w) : "f"(v)); // after far
	out[i] = w;
}
__global__ void carried(const float *a, float *out, int n)
{
	float v = 1, s = 0;
#pragma unroll 1
	for (int k = 0; k < n; k++) {
		asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(s) : "f"(v)); // carried after next
		asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(a + k)); // next:
	}
	out[threadIdx.x] = s;
}
__global__ void inlined(const float *a, float *out)
{
	out[threadIdx.x] = twice(load(a + threadIdx.x));
}
__global__ void root(const float *a, float *out)
{
	float v = a[threadIdx.x], r;
	asm volatile("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v)); // root:
	asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(r)); // after root
	out[threadIdx.x] = r;
}
__global__ void unequal(float *out, const int *n)
{
	__shared__ float s[256];
	float w = threadIdx.x;
	if (threadIdx.x < 32) {
		int m = *n;
#pragma unroll 1
		for (int k = 0; k < m; k++) // slow:
			asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(w)); // slow:
	}
	s[threadIdx.x] = w;
	__syncthreads(); // after slow
	out[threadIdx.x] = s[threadIdx.x ^ 1];
}
