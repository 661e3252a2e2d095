#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
__global__ void tc(const half *a, const half *b, float *c, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa; wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb; wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int i = 0; i < k; i += 16) { wmma::load_matrix_sync(fa, a + i, k); wmma::load_matrix_sync(fb, b + i, k); wmma::mma_sync(fc, fa, fb, fc); }
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
// SPDX-License-Identifier: BSD-3-Clause
