/* A small solver in the style of hand-written OpenCL C: attributes, macros, branches of the preprocessor, #line. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#ifdef USE_DOUBLE
typedef double real;
#else
typedef float real;
#endif

#define AT(i, j) ((i) * (width) + (j))
#define TILE 16
#if 0
__kernel void disabled(__global real *never) { }
#endif

static inline real average(__global const real *in, int width, int i, int j)
{
	return (real)0.25 * (in[AT(i - 1, j)] + in[AT(i + 1, j)] +
		in[AT(i, j - 1)] + in[AT(i, j + 1)]);
}

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void jacobi(__global const real *restrict in, __global real *restrict out, int width, int height)
{
	int j = get_global_id(0), i = get_global_id(1);
	if (i > 0 && j > 0 && i < height - 1 && j < width - 1) /* not the rim } */
		out[AT(i, j)] = average(in, width, i, j);
}

kernel void residual(global const real *a, global const real *b,
#ifdef USE_LOCAL
	local real *scratch,
#endif
	global real *sums)
{
	size_t n = get_global_size(0);
	real sum = 0;
	for (size_t k = get_global_id(0); k < n; k += n) {
		real d = a[k] - b[k];
		sum += d * d;
	}
	sums[get_global_id(0)] = sum;
}

#line 1000 "generated/fill.cl"
__kernel void fill(__global real *a, real value) {
	a[get_global_id(0)] = value;
}
