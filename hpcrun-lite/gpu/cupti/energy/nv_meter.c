/* SPDX-License-Identifier: BSD-3-Clause */
/* See nv_meter.h. Test: tests/unit/cupti/test_energy.c. */
#include "hpcrun-lite/gpu/cupti/energy/nv_meter.h"

#define NEAR_NS UINT64_C(5000000)   /* between readings when a change is expected */
#define BEFORE_NS UINT64_C(4000000) /* a change may come this much earlier than expected */
#define LEAST_STEP_NS NV_METER_PERIOD_NS

/* The reading at read_ns shows a change; the one before it had the old value. */
static void learn_step(struct nv_meter *m, uint64_t read_ns)
{
	uint64_t seen_ns = read_ns - m->changed_ns;
	if (!m->step_ns)
		m->step_ns = seen_ns;
	else if (m->read_ns == m->changed_ns) /* in the first reading: the step is shorter */
		m->step_ns -= m->step_ns / 8;
	else if (seen_ns < m->step_ns + m->step_ns / 2) /* otherwise we missed a change */
		m->step_ns = (7 * m->step_ns + seen_ns) / 8;
	if (m->step_ns < LEAST_STEP_NS)
		m->step_ns = LEAST_STEP_NS;
}

bool nv_meter_read(struct nv_meter *m, uint64_t energy_uj, uint64_t read_ns,
		   struct msr_gpu_energy *change)
{
	bool is_change = m->is_read && energy_uj > m->energy_uj;
	if (is_change) {
		*change =
			(struct msr_gpu_energy){.time_ns = read_ns,
						.unchanged_ns = m->read_ns,
						.energy_uj = energy_uj,
						.meter = m->id,
						.device = m->device,
						.flags = m->has_begun ? 0 : MSR_GPU_ENERGY_BEGINS};
		if (m->has_changed)
			learn_step(m, read_ns);
		m->has_begun = m->has_changed = true;
		m->older_ns = m->read_ns;
		m->changed_ns = read_ns;
	} else if (!m->is_read || energy_uj < m->energy_uj) {
		m->has_begun = m->has_changed = false;
	}
	m->is_read = true;
	m->energy_uj = energy_uj;
	m->read_ns = read_ns;
	return is_change;
}

uint64_t nv_meter_next(const struct nv_meter *m)
{
	if (!m->is_read)
		return 0;
	if (!m->has_changed || !m->step_ns || m->read_ns > m->changed_ns + 2 * m->step_ns)
		return m->read_ns + NV_METER_PERIOD_NS;
	/* After a change, wait at least for three quarters of a step. */
	bool is_fresh = m->read_ns == m->changed_ns;
	uint64_t soon_ns = m->read_ns + (is_fresh ? m->step_ns / 4 * 3 : NEAR_NS),
		 expected_ns = m->older_ns + m->step_ns - BEFORE_NS;
	return expected_ns > soon_ns ? expected_ns : soon_ns;
}
