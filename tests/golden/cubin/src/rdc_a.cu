extern __device__ float far_away(float x, int n);
__device__ __forceinline__ float near(float x) { return far_away(x, 3) + 1.0f; }
__global__ void rdc_kernel(float *o, int n) { float a = o[threadIdx.x]; for (int i = 0; i < n; i++) a = near(a) - far_away(a, i); o[threadIdx.x] = a; }
// SPDX-License-Identifier: BSD-3-Clause
