#include "util.cuh"
__device__ float far_away(float x, int n) { float s = x; for (int i = 0; i < n; i++) s = util::level3(s, x); return s; }
__global__ void rdc_other(float *o) { o[threadIdx.x] = far_away(o[threadIdx.x], 5); }
// SPDX-License-Identifier: BSD-3-Clause
