// static shared memory of a kernel and of what it calls, and dynamic shared memory
extern __shared__ float dyn[];
__global__ void a(float*o){ dyn[threadIdx.x]=*o; __syncthreads(); o[threadIdx.x]=dyn[threadIdx.x^1]; }
__device__ __noinline__ float f(float x){ __shared__ float q[64]; q[threadIdx.x]=x; __syncthreads(); return q[threadIdx.x^3]; }
__global__ void b(float*o){ __shared__ double z[16]; z[threadIdx.x]=o[1]; __syncthreads(); o[threadIdx.x]=f(*o)+z[threadIdx.x^1]; }
// SPDX-License-Identifier: BSD-3-Clause
