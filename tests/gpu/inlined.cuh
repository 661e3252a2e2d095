/* SPDX-License-Identifier: BSD-3-Clause */
/* Device functions that are inlined into each other from a header, eight deep: the lines of
 * all_levels in truth_kernels.cu lie in here. */
#ifndef TESTS_GPU_INLINED_CUH
#define TESTS_GPU_INLINED_CUH

namespace inlined {
__device__ __forceinline__ float level8(float a, float b)
{
	return fmaf(a, b, 0.25f);
}
__device__ __forceinline__ float level7(float a, float b)
{
	return level8(level8(a, b), b);
}
__device__ __forceinline__ float level6(float a, float b)
{
	return level7(level7(a, b), b);
}
__device__ __forceinline__ float level5(float a, float b)
{
	return level6(level6(a, b), b);
}
template <class T> __device__ __forceinline__ T level4(T a, T b)
{
	return level5(level5(a, b), b);
}
template <class T> __device__ __forceinline__ T level3(T a, T b)
{
	return level4(level4(a, b), b);
}
struct scale {
	float b;
	__device__ __forceinline__ float level2(float a) const { return level3(a, b); }
};
__device__ __forceinline__ float level1(float a, const scale &s)
{
	return s.level2(a);
}
} // namespace inlined

#endif
