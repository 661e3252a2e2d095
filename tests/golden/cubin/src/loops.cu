__global__ void nest3(float *c, const float *a, const float *b, int n) {
  for (int i = blockIdx.x; i < n; i += gridDim.x)
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
      float s = 0;
#pragma unroll 1
      for (int k = 0; k < n; k++)
        s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
}
__global__ void breaks(int *o, const int *in, int n) {
  int i = threadIdx.x, s = 0;
  while (i < n) {
    int v = in[i];
    if (v < 0) break;
    if (v == 7) { i += 2; continue; }
    do { s += v; v >>= 1; } while (v > 3);
    i += blockDim.x;
  }
  o[threadIdx.x] = s;
}
__global__ void switches(int *o, const int *in, int n) {
  int s = 0;
#pragma unroll 1
  for (int i = 0; i < n; i++)
    switch (in[i] & 15) {
    case 0: s += 3; break; case 1: s *= 5; break; case 2: s ^= in[i + 1]; break; case 3: s -= in[i + 2] * 7; break;
    case 4: s = s / (in[i] + 1); break; case 5: s <<= 2; break; case 6: s = __popc(s); break; case 7: s += in[s & 31]; break;
    case 8: s = ~s; break; case 9: s = __ffs(s); break; case 10: s += i * i; break; default: s++;
    }
  *o = s;
}
__global__ void gotos(int *o, int n) { // irreducible on purpose
  int i = 0, s = threadIdx.x;
  if (s & 1) goto mid;
top: s += i; if (s > 100000) goto out;
mid: s = s * 3 + o[s & 63]; if (++i < n) goto top;
out: o[threadIdx.x] = s;
}
__global__ void reduce(float *o, const float *in, int n) {
  __shared__ float sm[256];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += in[i];
  sm[threadIdx.x] = s; __syncthreads();
  for (int w = 128; w >= 32; w >>= 1) { if (threadIdx.x < w) sm[threadIdx.x] += sm[threadIdx.x + w]; __syncthreads(); }
  s = sm[threadIdx.x & 31];
  for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x == 0) atomicAdd(o, s);
}
__global__ void __launch_bounds__(128, 2) unrolled(float *o, const float *a) {
  float r[16];
#pragma unroll
  for (int i = 0; i < 16; i++) r[i] = a[threadIdx.x + i * 128];
#pragma unroll 1
  for (int k = 0; k < 100; k++)
#pragma unroll
    for (int i = 0; i < 16; i++) r[i] = r[i] * r[(i + 1) & 15] + k;
#pragma unroll
  for (int i = 0; i < 16; i++) o[threadIdx.x + i * 128] = r[i];
}
// SPDX-License-Identifier: BSD-3-Clause
