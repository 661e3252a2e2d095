/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of kernels.h for an OpenCL 1.2 device with double precision; physics.h stands in
 * front of this text. One work-item a cell; i is a row of the matrix, and its cell in a field is i
 * + plane, behind the lower ghost plane. Work-items beyond the last row do nothing. Sums are formed
 * by one work-group for each plane of cells; the host adds up the planes, in order.
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

/* --- vectors ---------------------------------------------------------------------------------- */

kernel void add_scaled(int rows, int plane, double a, global const double *restrict x,
		       global double *restrict y)
{
	const int i = get_global_id(0);

	if (i < rows)
		y[i + plane] += a * x[i + plane];
}

kernel void scale_add(int rows, int plane, double a, global const double *restrict x,
		      global double *restrict y)
{
	const int i = get_global_id(0);

	if (i < rows)
		y[i + plane] = x[i + plane] + a * y[i + plane];
}

/* Adds up what the work-items of a group hold; the first one gets the sum. The size of a group is a
 * power of two. */
double group_sum(double mine, local double *part)
{
	const int item = get_local_id(0);

	part[item] = mine;
	for (int reach = get_local_size(0) / 2; reach > 0; reach /= 2) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (item < reach)
			part[item] += part[item + reach];
	}
	return part[item];
}

kernel void dot_planes(int plane, global const double *restrict x, global const double *restrict y,
		       global double *restrict sums, local double *part)
{
	const int first = ((int)get_group_id(0) + 1) * plane;
	double sum = 0;

	for (int i = get_local_id(0); i < plane; i += get_local_size(0))
		sum += x[first + i] * y[first + i];
	sum = group_sum(sum, part);
	if (get_local_id(0) == 0)
		sums[get_group_id(0)] = sum;
}

/* --- the matrix ------------------------------------------------------------------------------- */

inline double row_dot(global const ulong *row_start, global const int *column,
		      global const double *value, int row, global const double *x)
{
	const int end = row_start[row + 1];
	double sum = 0;

	for (int k = row_start[row]; k < end; k++)
		sum += value[k] * x[column[k]];
	return sum;
}

kernel void multiply(int rows, int plane, global const ulong *restrict row_start,
		     global const int *restrict column, global const double *restrict value,
		     global const double *restrict x, global double *restrict y)
{
	const int i = get_global_id(0);

	if (i < rows)
		y[i + plane] = row_dot(row_start, column, value, i, x);
}

kernel void residual(int rows, int plane, global const ulong *restrict row_start,
		     global const int *restrict column, global const double *restrict value,
		     global const double *restrict b, global const double *restrict x,
		     global double *restrict r)
{
	const int i = get_global_id(0);

	if (i < rows)
		r[i + plane] = b[i + plane] - row_dot(row_start, column, value, i, x);
}

kernel void jacobi(int rows, int plane, global const ulong *restrict row_start,
		   global const int *restrict column, global const double *restrict value, double w,
		   global const double *restrict b, global const double *restrict x,
		   global double *restrict x_new)
{
	const int i = get_global_id(0);

	if (i < rows) {
		const double r = b[i + plane] - row_dot(row_start, column, value, i, x);

		x_new[i + plane] = x[i + plane] + w * r / value[row_start[i]];
	}
}

kernel void jacobi_from_zero(int rows, int plane, global const ulong *restrict row_start,
			     global const double *restrict value, double w,
			     global const double *restrict b, global double *restrict x_new)
{
	const int i = get_global_id(0);

	if (i < rows)
		x_new[i + plane] = w * b[i + plane] / value[row_start[i]];
}

/* --- between grids ---------------------------------------------------------------------------- */

/* Numbers of cells in x and y, and the first cell of a row of cells in a field. */
inline int row_of_cells(int nx, int ny, int y, int z)
{
	return ((z + 1) * ny + y) * nx;
}

/* i is a cell of the coarse grid, which has nx x ny cells in a plane. */
kernel void restrict_to_coarse(int rows, int nx, int ny, global const double *restrict x_fine,
			       global double *restrict x_coarse)
{
	const int i = get_global_id(0);

	if (i < rows) {
		const int x = i % nx, y = i / nx % ny, z = i / (nx * ny);
		global const double *child =
			x_fine + row_of_cells(2 * nx, 2 * ny, 2 * y, 2 * z) + 2 * x;
		const int row = 2 * nx, plane = 4 * nx * ny;

		x_coarse[i + nx * ny] = child[0] + child[1] + child[row] + child[row + 1] +
					child[plane] + child[plane + 1] + child[plane + row] +
					child[plane + row + 1];
	}
}

/* i is a cell of the fine grid, which has nx x ny cells in a plane. */
kernel void prolong(int rows, int nx, int ny, global const double *restrict x_coarse,
		    global double *restrict x_fine)
{
	const int i = get_global_id(0);

	if (i < rows) {
		const int x = i % nx, y = i / nx % ny, z = i / (nx * ny);

		x_fine[i + nx * ny] += x_coarse[row_of_cells(nx / 2, ny / 2, y / 2, z / 2) + x / 2];
	}
}

/* What a step by delta from a fine cell is on the coarse grid: 0 while it stays in the same coarse
 * cell. odd_* tell which of the eight children the cell is; nx x ny are the coarse grid's. */
inline int coarse_step(int nx, int ny, int delta, int odd_x, int odd_y, int odd_z)
{
	const int row = 2 * nx, plane = 4 * nx * ny;

	if (delta == (odd_x ? 1 : -1))
		return delta;
	if (delta == (odd_y ? row : -row))
		return delta > 0 ? nx : -nx;
	if (delta == (odd_z ? plane : -plane))
		return delta > 0 ? nx * ny : -nx * ny;
	return 0;
}

/* A row of the coarse matrix from the rows of its eight children; i is its cell, of nx x ny in a
 * plane. */
kernel void coarsen(int rows, int nx, int ny, double scale, global const ulong *restrict fine_start,
		    global const int *restrict fine_column,
		    global const double *restrict fine_value,
		    global const ulong *restrict row_start, global const int *restrict column,
		    global double *restrict value)
{
	const int i = get_global_id(0);

	if (i >= rows)
		return;

	const int x = i % nx, y = i / nx % ny, z = i / (nx * ny);
	const int first = row_start[i], end = row_start[i + 1], parent = i + nx * ny;
	double diagonal = 0;

	for (int k = first; k < end; k++)
		value[k] = 0;
	for (int child = 0; child < 8; child++) {
		const int odd_x = child & 1, odd_y = child >> 1 & 1, odd_z = child >> 2;
		const int cell =
			row_of_cells(2 * nx, 2 * ny, 2 * y + odd_y, 2 * z + odd_z) + 2 * x + odd_x;
		const int row = cell - 4 * nx * ny;

		for (int k = fine_start[row]; k < (int)fine_start[row + 1]; k++) {
			const int step =
				coarse_step(nx, ny, fine_column[k] - cell, odd_x, odd_y, odd_z);

			diagonal += fine_value[k];
			for (int j = first + 1; step != 0 && j < end; j++) {
				if (column[j] == parent + step)
					value[j] += scale * fine_value[k];
			}
		}
	}
	for (int k = first + 1; k < end; k++)
		diagonal -= value[k];
	value[first] = diagonal;
}
