#include "util.cuh"
using namespace util;
template <class T, int N> __global__ void deep(const T *in, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T a = in[i];
#pragma unroll N
  for (int k = 0; k < N * 4; k++)
    a = level1(a, in[(i + k) % n]);
  auto twice = [](T v) { return level5(v, v) * T(2); };
  out[i] = twice(a);
}
template __global__ void deep<float, 2>(const float *, float *, int);
template __global__ void deep<double, 1>(const double *, double *, int);
__global__ void nbody(const Vec *p, Vec *f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
  Vec a = p[i]; float s = 0;
  for (int j = 0; j < n; j++) { Vec b = p[j]; float r = a.dot(b); s += rsqrtf(r * r + 1e-6f) + expf(-r) + sinf(r); }
  f[i].x = s;
}
extern "C" __global__ void k_simple(int n, float *o) { float a = threadIdx.x; for (int i = 0; i < n; i++) a = level6(a, 1.0001f); if (a == 1.5f) *o = a; }
// SPDX-License-Identifier: BSD-3-Clause
