/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_occupancy.h. Test: tests/unit/prof_gpu/test_gpu_occupancy.c. */
#include "hpcprof-lite/attribute/gpu/metrics/gpu_occupancy.h"

enum {
	REGISTER_UNIT = 256
}; /* a warp gets registers in units of this size, on all devices since 5.0 */

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* The number of parts of an SM. Each part has its own registers and schedulers. */
static uint32_t parts_of(const struct msr_gpu_def_device_limits *l)
{
	return l->compute_major == 6 && l->compute_minor == 0 ? 2 : 4;
}

static uint64_t threads_of(const struct msr_gpu_shape *s)
{
	uint64_t n = s->block[0];
	for (unsigned i = 1; i < 3; i++)
		n *= s->block[i] ? s->block[i] : 1;
	return n;
}

/*
 * Warps get registers from their part of the SM. The check whether a group may run at all counts
 * its warps as if they were spread evenly over the parts. On 6.0, a group must also fit as on 6.1,
 * so that what runs on one device of that family runs on all.
 */
static uint64_t groups_by_registers(const struct msr_gpu_def_device *d,
				    const struct msr_gpu_def_device_limits *l, uint32_t registers,
				    uint64_t warps)
{
	uint64_t of_warp = round_up((uint64_t)registers * d->lanes, REGISTER_UNIT),
		 parts = parts_of(l),
		 most = l->registers_per_group ? l->registers_per_group : d->registers_per_unit;
	if (registers > (l->compute_major < 7 ? 255u : 256u) || of_warp * round_up(warps, 4) > most)
		return 0;
	return of_warp ? d->registers_per_unit / parts / of_warp * parts / warps : UINT64_MAX;
}

/*
 * Counts a block's shared memory, static and dynamic, rounded up. Since 8.0, the run time takes
 * some for itself.
 */
static uint64_t groups_by_shared(const struct msr_gpu_def_device *d,
				 const struct msr_gpu_def_device_limits *l,
				 const struct msr_gpu_shape *s)
{
	uint64_t own = (uint64_t)s->static_shared_bytes + s->dynamic_shared_bytes,
		 taken = round_up(own + l->reserved_shared_bytes, l->compute_major < 8 ? 256 : 128);
	uint64_t most = l->shared_bytes_per_group_optin > l->shared_bytes_per_group
				? l->shared_bytes_per_group_optin
				: l->shared_bytes_per_group;
	if (most && own > most)
		return 0;
	return taken ? d->shared_bytes_per_unit / taken : UINT64_MAX;
}

bool gpu_occupancy(const struct msr_gpu_def_device *d, const struct msr_gpu_def_device_limits *l,
		   const struct msr_gpu_shape *s, struct gpu_occupancy *out)
{
	uint64_t threads = threads_of(s);
	if (l->compute_major < 5 || l->compute_major > 12 || !d->lanes || !d->threads_per_unit ||
	    !d->registers_per_unit || !d->shared_bytes_per_unit || !d->groups_per_unit || !threads)
		return false;
	if (threads > (d->group_max ? d->group_max : d->threads_per_unit))
		return false;
	uint64_t warps = (threads + d->lanes - 1) / d->lanes,
		 warps_most = d->threads_per_unit / d->lanes;
	const uint64_t groups[MODEL_N_LIMITS] = {warps_most / warps, d->groups_per_unit,
						 groups_by_registers(d, l, s->registers, warps),
						 groups_by_shared(d, l, s)};
	*out = (struct gpu_occupancy){.warps_most = (uint32_t)warps_most};
	for (unsigned i = 1; i < MODEL_N_LIMITS; i++)
		if (groups[i] < groups[out->limit])
			out->limit = (enum model_gpu_limit)i;
	out->groups = (uint32_t)groups[out->limit];
	out->warps = (uint32_t)(groups[out->limit] * warps);
	return out->groups > 0;
}

/*
 * taken_of(): how much of the limiting resource the shape takes. with(): the shape with `n` of it
 * instead.
 */
static uint32_t taken_of(const struct msr_gpu_shape *s, enum model_gpu_limit limit)
{
	switch (limit) {
	case MODEL_LIMIT_REGISTERS: return s->registers;
	case MODEL_LIMIT_SHARED: return s->static_shared_bytes + s->dynamic_shared_bytes;
	default: return (uint32_t)threads_of(s);
	}
}

static struct msr_gpu_shape with(const struct msr_gpu_shape *s, enum model_gpu_limit limit,
				 uint32_t n)
{
	struct msr_gpu_shape other = *s;
	if (limit == MODEL_LIMIT_REGISTERS) {
		other.registers = n;
	} else if (limit == MODEL_LIMIT_SHARED) {
		other.static_shared_bytes = n;
		other.dynamic_shared_bytes = 0;
	} else {
		other.block[0] = n;
		other.block[1] = other.block[2] = 1;
	}
	return other;
}

/*
 * If the number of blocks is the limit, tries larger blocks. For other limits, tries less of the
 * resource.
 */
bool gpu_occupancy_ease(const struct msr_gpu_def_device *d,
			const struct msr_gpu_def_device_limits *l, const struct msr_gpu_shape *s,
			const struct gpu_occupancy *now, uint32_t *eased, struct gpu_occupancy *out)
{
	enum { SHARED_UNIT = 128, REGISTERS_UNIT = 8 };
	const bool grows = now->limit == MODEL_LIMIT_GROUPS;
	const uint32_t unit = now->limit == MODEL_LIMIT_REGISTERS ? REGISTERS_UNIT
			      : now->limit == MODEL_LIMIT_SHARED  ? SHARED_UNIT
								  : d->lanes,
		       taken = taken_of(s, now->limit), least = unit,
		       most = grows ? d->threads_per_unit : taken;
	if (now->warps >= now->warps_most || !unit || !taken)
		return false;
	for (uint32_t n = grows ? (taken / unit + 1) * unit : (taken - 1) / unit * unit;
	     n >= least && n <= most; n = grows ? n + unit : n - unit) {
		const struct msr_gpu_shape other = with(s, now->limit, n);
		if (gpu_occupancy(d, l, &other, out) && out->warps > now->warps) {
			*eased = n;
			return true;
		}
	}
	return false;
}
