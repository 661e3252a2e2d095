#pragma once
// inlined from another file, six levels deep
namespace util {
template <class T> __device__ __forceinline__ T level6(T a, T b) { return a * b + T(0.5); }
template <class T> __device__ __forceinline__ T level5(T a, T b) { return level6(a, b) + level6(b, a * T(2)); }
template <class T> __device__ __forceinline__ T level4(T a, T b) {
  T s = 0;
  for (int i = 0; i < 3; i++) s += level5(a + T(i), b);
  return s;
}
template <class T> __device__ __forceinline__ T level3(T a, T b) { return level4(a, b) - level6(a, b); }
template <class T> __device__ __forceinline__ T level2(T a, T b) { return a > b ? level3(a, b) : level3(b, a) * T(3); }
template <class T> __device__ __forceinline__ T level1(T a, T b) { return level2(a, b) + T(1); }
struct Vec { float x, y, z; __device__ __forceinline__ float dot(const Vec &o) const { return x * o.x + y * o.y + z * o.z; } };
}
// SPDX-License-Identifier: BSD-3-Clause
