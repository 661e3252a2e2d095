/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shares the energy of GPUs among the operations that ran. The energy between two changes of a
 * device's meter is divided by time. Energy that the device uses while idle is left out where it is
 * known. doc/energy.md has the definitions. Tests: tests/unit/prof_gpu/test_gpu_energy.c,
 * tests/cli/gpu/energy.sh.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_ENERGY_GPU_ENERGY_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_ENERGY_GPU_ENERGY_H

#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/load/load_file.h"
#include "hpcprof-lite/model/private.h"

/* ---- meters (gpu_energy_meters.c) ---- */

/* A reading from a file, with its device and process in the model. Times are CLOCK_REALTIME. */
struct gpu_energy_reading {
	const char *meter; /* its name, borrowed */
	uint32_t device;   /* MODEL_NONE: the host */
	uint32_t process;
	struct model_energy_change change;
};
typedef VEC(struct gpu_energy_reading) gpu_energy_readings;

/*
 * Appends the readings of a file (gpu_energy_read.c). device_of: by device id of the file. False if
 * memory is short.
 */
bool gpu_energy_read(const struct load_file *f, uint32_t process, const uint32_t *device_of,
		     gpu_energy_readings *to);
/*
 * Makes the meters of the model. If several processes read one device, their readings become one
 * meter. The meter of a host is that of the process that read it longest. Sorts `r`. The devices
 * and processes must exist. False if memory is short.
 */
bool gpu_energy_make_meters(struct model *m, gpu_energy_readings *r);

/* ---- energy of operations (gpu_energy.c) ---- */

/* The energy that the operations of one (profile, context) used. */
struct gpu_energy_share {
	uint32_t profile, context;
	uint64_t n; /* operations */
	uint64_t uj;
	uint64_t shared_uj; /* the part used while operations of other contexts ran */
	uint64_t read_ns;   /* the part of their time in which the meter was read */
};

enum gpu_energy_metric {
	GPU_ENERGY_OPERATIONS,
	GPU_ENERGY_SHARED,
	GPU_ENERGY_TIME,
	GPU_ENERGY_METRICS
};

struct gpu_energy {
	VEC(struct gpu_energy_share) shares; /* by profile, then context */
	struct model_energy *sums;           /* by meter of the model */
	bool occurs[GPU_ENERGY_METRICS];     /* some share is not 0 */
};

/*
 * Finds the energy used in [from_ns, until_ns). `m` must be a whole run with its time lines and
 * private_->gpu_times. False if memory is short. In all cases call gpu_energy_free().
 */
bool gpu_energy_find(const struct model *m, uint64_t from_ns, uint64_t until_ns,
		     struct gpu_energy *out);
void gpu_energy_free(struct gpu_energy *e);

/* Appends the metrics that occur. index_of[]: their index in the model, or MODEL_NONE. */
bool gpu_energy_add_metrics(struct model *m, const struct gpu_energy *e,
			    uint32_t index_of[GPU_ENERGY_METRICS]);

/* ---- one device (gpu_energy_share.c) ---- */

/* The energy of one (profile, context) of a device. */
struct gpu_energy_cell {
	uint32_t profile, context;
	uint64_t n;
	double uj, shared_uj;
	uint64_t read_ns;
};

struct gpu_energy_device {
	const struct model *m;
	uint32_t device;
	const struct model_meter *meter;
	uint64_t from_ns, until_ns;
	struct model_energy *sum;
	VEC(struct gpu_energy_cell) cells; /* in no order */
};

/* Rounds to the nearest integer. The cap is for damaged files, which may hold any number. */
static inline uint64_t gpu_energy_round(double v)
{
	return v < 0x1p63 ? (uint64_t)(v + 0.5) : (uint64_t)INT64_MAX;
}

/* Sets `sum` and `cells`. False if memory is short. */
bool gpu_energy_share(struct gpu_energy_device *d);

/* In gpu_energy_topic.c. */
extern const struct topic_ops topic_gpu_energy;

#endif
