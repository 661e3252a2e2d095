/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of meters of energy and of their changes. Test: tests/cli/gpu/energy.sh. */
#include "hpcprof-lite/sink/sqlite/sqlite_write.h"

void sqlite_put_energy(struct sqlite_writer *w)
{
	const struct model *m = w->m;
	sqlite_begin(w, "meter", 17);
	for (uint32_t i = 0; i < m->n_meters; i++) {
		const struct model_meter *meter = &m->meters[i];
		const struct model_energy *e = &meter->sum;
		const uint64_t fields[] = {
			e->covered_ns, e->total_uj, e->operations_uj, e->shared_uj, e->idle_uj,
			e->unknown_uj, e->busy_ns,  e->idle_ns,       e->idle_mw,   e->step_ns,
			e->late_ns,    e->error_uj, e->n_changes};
		sqlite_int(w, i);
		sqlite_text(w, meter->name);
		sqlite_id(w, meter->device);
		sqlite_int(w, meter->process);
		for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
			sqlite_int(w, fields[k]);
		sqlite_row(w);
	}
	sqlite_end(w);
	sqlite_begin(w, "meter_change", 5);
	for (uint32_t i = 0; i < m->n_meters; i++)
		for (size_t k = 0; k < m->meters[i].n_changes; k++) {
			const struct model_energy_change *c = &m->meters[i].changes[k];
			sqlite_int(w, i);
			sqlite_int(w, c->time_ns);
			sqlite_int(w, c->unchanged_ns);
			sqlite_int(w, c->energy_uj);
			sqlite_int(w, c->begins);
			sqlite_row(w);
		}
	sqlite_end(w);
}
