/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The (team) functions of heat.h for an OpenCL device; this text stands behind kernels.cl and
 * speaks of cells and rows as it does.
 */

/* --- properties ------------------------------------------------------------------------------- */

inline double half_difference(global const double *field, int before, int after)
{
	return 0.5 * (field[after] - field[before]);
}

/* A melting cell is not uniform: means over eight points of a linear reconstruction of the
 * enthalpy. */
void average_over_points(const struct material *material, double enthalpy, double dx, double dy,
			 double dz, struct material_point *mean)
{
	double conduct = 0, liquid = 0, per_capacity = 0;

	for (int i = 0; i < 8; i++) {
		struct material_point point;

		material_state(material,
			       enthalpy + (i & 1 ? 0.25 : -0.25) * dx +
				       (i & 2 ? 0.25 : -0.25) * dy + (i & 4 ? 0.25 : -0.25) * dz,
			       &point);
		conduct += point.conduct;
		liquid += point.liquid;
		per_capacity += 1 / point.capacity;
	}
	mean->conduct = conduct / 8;
	mean->liquid = liquid / 8;
	mean->capacity = 8 / per_capacity;
}

kernel void properties(int rows, int nx, int ny, struct material material,
		       global const double *restrict enthalpy, global double *restrict temperature,
		       global double *restrict conduct, global double *restrict capacity,
		       global double *restrict liquid)
{
	const int i = get_global_id(0);

	if (i >= rows)
		return;

	const int x = i % nx, y = i / nx % ny, plane = nx * ny, cell = i + plane;
	struct material_point point;

	material_state(&material, enthalpy[cell], &point);
	if (material_is_mushy(&material, enthalpy[cell])) {
		const double dx = half_difference(enthalpy, x > 0 ? cell - 1 : cell,
						  x < nx - 1 ? cell + 1 : cell);
		const double dy = half_difference(enthalpy, y > 0 ? cell - nx : cell,
						  y < ny - 1 ? cell + nx : cell);
		const double dz = half_difference(enthalpy, i >= plane ? cell - plane : cell,
						  i < rows - plane ? cell + plane : cell);

		average_over_points(&material, enthalpy[cell], dx, dy, dz, &point);
	}
	temperature[cell] = point.temperature;
	conduct[cell] = point.conduct;
	capacity[cell] = point.capacity;
	liquid[cell] = point.liquid;
}

/* --- the linear system ------------------------------------------------------------------------ */

kernel void assemble(int rows, int nx, int ny, double cell_m, double dt_s, double time_s,
		     struct wall bottom, struct wall top, struct torch torch,
		     global const ulong *restrict row_start, global const int *restrict column,
		     global double *restrict value, global const double *restrict enthalpy,
		     global const double *restrict enthalpy_old,
		     global const double *restrict temperature,
		     global const double *restrict conduct, global const double *restrict capacity,
		     global double *restrict rhs, global double *restrict solution)
{
	const int i = get_global_id(0);

	if (i >= rows)
		return;

	const int plane = nx * ny, cell = i + plane, first = row_start[i], end = row_start[i + 1];
	const double volume = cell_m * cell_m * cell_m, stored = volume * capacity[cell] / dt_s;
	double diagonal = stored;
	double heat =
		stored * temperature[cell] + volume * (enthalpy_old[cell] - enthalpy[cell]) / dt_s;

	for (int k = first + 1; k < end; k++) {
		const double conductance =
			face_conductance(conduct[cell], conduct[column[k]], cell_m);

		value[k] = -conductance;
		diagonal += conductance;
	}
	if (i < plane) {
		const double conductance = wall_conductance(&bottom, conduct[cell], cell_m);

		diagonal += conductance;
		heat += conductance * bottom.bath;
	}
	if (i >= rows - plane) {
		const double conductance = wall_conductance(&top, conduct[cell], cell_m);

		diagonal += conductance;
		heat += conductance * top.bath;
	}
	if (torch.power > 0)
		heat += torch_heat(&torch, cell_m, nx, ny, i % nx, i / nx % ny, i / plane, time_s);
	value[first] = diagonal;
	rhs[cell] = heat;
	solution[cell] = temperature[cell];
}

kernel void update_enthalpy(int rows, int plane, global const double *restrict capacity,
			    global const double *restrict solution,
			    global const double *restrict temperature,
			    global double *restrict enthalpy)
{
	const int i = get_global_id(0);

	if (i < rows)
		enthalpy[i + plane] +=
			capacity[i + plane] * (solution[i + plane] - temperature[i + plane]);
}

/* --- sums over the mesh: one work-group for each plane ---------------------------------------- */

inline double wall_heat(const struct wall *wall, double conduct, double solution, double cell_m)
{
	return wall_conductance(wall, conduct, cell_m) * (wall->bath - solution);
}

kernel void heat_into_planes(int nx, int ny, double cell_m, double time_s, struct wall bottom,
			     struct wall top, struct torch torch,
			     global const double *restrict conduct,
			     global const double *restrict solution, global double *restrict sums,
			     local double *part)
{
	const int plane = nx * ny, z = get_group_id(0), nz = get_num_groups(0);
	double sum = 0;

	for (int i = get_local_id(0); i < plane; i += get_local_size(0)) {
		const int cell = (z + 1) * plane + i;

		if (z == 0)
			sum += wall_heat(&bottom, conduct[cell], solution[cell], cell_m);
		if (z == nz - 1)
			sum += wall_heat(&top, conduct[cell], solution[cell], cell_m);
		if (torch.power > 0)
			sum += torch_heat(&torch, cell_m, nx, ny, i % nx, i / nx, z, time_s);
	}
	sum = group_sum(sum, part);
	if (get_local_id(0) == 0)
		sums[z] = sum;
}

kernel void sum_planes(int plane, global const double *restrict field, global double *restrict sums,
		       local double *part)
{
	const int first = ((int)get_group_id(0) + 1) * plane;
	double sum = 0;

	for (int i = get_local_id(0); i < plane; i += get_local_size(0))
		sum += field[first + i];
	sum = group_sum(sum, part);
	if (get_local_id(0) == 0)
		sums[get_group_id(0)] = sum;
}

kernel void largest_in_planes(int plane, global const double *restrict field,
			      global double *restrict largest, local double *part)
{
	const int first = ((int)get_group_id(0) + 1) * plane, item = get_local_id(0);
	double mine = field[first];

	for (int i = item; i < plane; i += get_local_size(0))
		mine = fmax(mine, field[first + i]);
	part[item] = mine;
	for (int reach = get_local_size(0) / 2; reach > 0; reach /= 2) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (item < reach)
			part[item] = fmax(part[item], part[item + reach]);
	}
	if (item == 0)
		largest[get_group_id(0)] = part[0];
}
