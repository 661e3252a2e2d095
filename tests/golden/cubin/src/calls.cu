#include <cstdio>
// device functions that are really called: from two kernels, from two places of one, nested, recursive, through a pointer
__device__ __noinline__ float leaf(float x) { return x * x + 1.0f; }
__device__ __noinline__ float mid(float x, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += leaf(x + i);
  return s;
}
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
typedef float (*op_t)(float);
__device__ __noinline__ float op_a(float x) { return x + 2.0f; }
__device__ __noinline__ float op_b(float x) { return x * 3.0f; }
__device__ op_t table[2] = {op_a, op_b};
__global__ void two_places(float *o, int n) {
  float a = leaf(o[threadIdx.x]);
  for (int i = 0; i < n; i++) a += mid(a, n) * 0.5f;
  if (a > 10.0f) a = leaf(a);
  o[threadIdx.x] = a;
}
__global__ void other(float *o, int n) { o[threadIdx.x] = mid(o[threadIdx.x], n) + leaf(o[0]); }
__global__ void recursive(int *o, int n) { o[threadIdx.x] = fib(n); }
__global__ void indirect(float *o, int n) { float a = o[threadIdx.x]; for (int i = 0; i < n; i++) a = table[(i + (int)a) & 1](a); o[threadIdx.x] = a; }
__global__ void divisions(double *d, int *q, int n) { int i = threadIdx.x; d[i] = d[i] / d[i + n] + sqrt(d[i + 1]); q[i] = q[i] / n + q[i + 1] % n; d[i] = pow(d[i], 1.7); }
__global__ void prints(int n) { if (threadIdx.x == 0) printf("%d\n", n); }
// SPDX-License-Identifier: BSD-3-Clause
