/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_waits.h. */
#include "hpcprof-lite/load/load_waits.h"

#include <stdlib.h>
#include <string.h>

/* Ids are consecutive, so a file cannot have more of them than it has room for. */
enum status load_wait_object(struct load_file *f, const uint8_t *record, uint32_t bytes)
{
	const struct msr_wait_object *r = (const void *)record;
	if (bytes < sizeof *r || r->id == 0 || r->id > f->map.n_bytes / sizeof *r ||
	    r->text_bytes == 0 || r->text_bytes > bytes - sizeof *r ||
	    record[sizeof *r + r->text_bytes - 1] != '\0')
		return STATUS_BAD_INPUT;
	if (f->wait_objects.n <= r->id
		&& !vec_extend(&f->wait_objects, r->id + 1 - f->wait_objects.n))
		return STATUS_NO_MEMORY;
	struct load_wait_object *o = &f->wait_objects.at[r->id];
	if (o->record)
		return STATUS_BAD_INPUT;
	*o = (struct load_wait_object){r, (const char *)(r + 1)};
	return STATUS_OK;
}

static bool find_metric(const struct load_file *f, unsigned *metric)
{
	for (unsigned i = 0; i < MSR_MAX_METRICS; i++)
		if (f->metrics[i] && !strcmp(f->metrics[i]->name, MSR_METRIC_OFFCPU)) {
			*metric = i;
			return true;
		}
	return false;
}

enum status load_unsampled_wait(struct load_file *f, struct load_thread *t)
{
	const struct msr_thread *r = t->record;
	unsigned metric;
	if (!r->offcpu_unsampled_ns || !r->offcpu_node || !find_metric(f, &metric))
		return STATUS_OK;
	struct msr_cell *cell = calloc(1, sizeof *cell);
	void **owned = cell ? vec_push(&f->owned) : NULL;
	if (!owned) {
		free(cell);
		return STATUS_NO_MEMORY;
	}
	*owned = cell;
	*cell = (struct msr_cell){.node = r->offcpu_node,
				  .metric = (uint16_t)metric,
				  .sum = r->offcpu_unsampled_ns};
	if (!load_cell_is_sound(f, t, cell))
		return STATUS_OK;
	struct load_part *part = vec_push(&t->cells);
	if (!part)
		return STATUS_NO_MEMORY;
	*part = (struct load_part){.content = (const void *)cell, .n_bytes = sizeof *cell};
	return STATUS_OK;
}
