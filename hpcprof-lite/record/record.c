/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of fields; see record.h. Test: tests/cli/sink/sink_agree.sh. */
#include "hpcprof-lite/record/record_build.h"

#include <stdio.h>
#include <string.h>

static uint64_t read_number(const uint8_t *at, size_t n_bytes)
{
	uint8_t small;
	uint16_t half;
	uint32_t word;
	uint64_t whole;
	switch (n_bytes) {
	case sizeof small: return memcpy(&small, at, sizeof small), small;
	case sizeof half: return memcpy(&half, at, sizeof half), half;
	case sizeof word: return memcpy(&word, at, sizeof word), word;
	default: return memcpy(&whole, at, sizeof whole), whole;
	}
}

static struct value read_member(const struct field *f, const struct record *r, unsigned item)
{
	const size_t n_bytes = f->n_items ? f->n_bytes / f->n_items : f->n_bytes;
	const uint8_t *at = (const uint8_t *)r->at + f->offset + item * n_bytes;
	struct value v = {.is_known = true};
	if (f->kind == FIELD_REAL) {
		memcpy(&v.real, at, sizeof v.real);
	} else if (f->kind == FIELD_TEXT || (f->kind == FIELD_WORD && !f->word)) {
		memcpy(&v.text, at, sizeof v.text);
		v.is_known = v.text != NULL;
	} else {
		v.n = read_number(at, n_bytes);
		if ((f->kind == FIELD_SIGNED || f->kind == FIELD_RANK) && n_bytes == 4)
			v.n = (uint64_t)(int64_t)(int32_t)(uint32_t)v.n;
	}
	if (f->word) {
		v.text = f->word((unsigned)v.n);
		v.is_known = v.text != NULL;
	}
	return v;
}

struct value field_value(const struct field *f, const struct record *r, unsigned item)
{
	struct value v = f->get ? f->get(r) : read_member(f, r, item);
	if (f->is_known && !f->is_known(r))
		v.is_known = false;
	if (f->kind == FIELD_ID && v.n == MODEL_NONE)
		v.is_known = false;
	if (f->kind == FIELD_RANK && (int64_t)v.n < 0)
		v.is_known = false;
	if (f->kind == FIELD_TIME && v.n == 0)
		v.is_known = false;
	return v;
}

const char *field_unit(const struct field *f)
{
	static const char *const ends[][2] = {{"_ns", "ns"},         {"_uj", "microjoules"},
					      {"_mw", "milliwatts"}, {"_bytes", "bytes"},
					      {"_mhz", "MHz"},       {"_khz", "kHz"}};
	const size_t n = strlen(f->name);
	if (f->unit || strcmp(f->name, "ns") == 0)
		return f->unit ? f->unit : f->name;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		const size_t n_end = strlen(ends[i][0]);
		if (n > n_end && strcmp(f->name + n - n_end, ends[i][0]) == 0)
			return ends[i][1];
	}
	return NULL;
}

const char *field_column(const struct field *f, unsigned item, char to[FIELD_NAME])
{
	if (!f->n_items)
		return f->name;
	snprintf(to, FIELD_NAME, "%s_%c", f->name, (char)('x' + item));
	return to;
}

struct value value_rank(int32_t rank)
{
	return (struct value){.n = (uint64_t)(int64_t)rank, .is_known = true};
}

struct value value_place(const struct model *m, uint32_t file, uint32_t line, uint64_t link_addr)
{
	if (file != MODEL_NONE)
		return (struct value){.text = m->files[file].path, .n = line, .is_known = true};
	return (struct value){.n = link_addr, .is_known = link_addr != 0};
}

bool record_always(const struct record *parent)
{
	return parent != NULL;
}

/* ---- all kinds ---- */

static const struct record_part *const parts[] = {
	&record_part_run,       &record_part_code,     &record_part_gpu,
	&record_part_processes, &record_part_profiles, &record_part_parallel,
	&record_part_findings,  &record_part_balance,  &record_part_memory, &record_part_mpi,
	&record_part_mpi_tables, &record_part_nccl,    &record_part_nvtx,
	&record_part_ledgers};
enum { N_PARTS = sizeof parts / sizeof *parts };

const struct record_kind *record_kind_at(unsigned i)
{
	for (unsigned k = 0; k < N_PARTS; k++) {
		if (i < parts[k]->n_kinds)
			return parts[k]->kinds[i];
		i -= parts[k]->n_kinds;
	}
	return NULL;
}

bool records_visit(const struct model *m, struct record_visitor *v)
{
	bool ok = true;
	for (unsigned i = 0; i < N_PARTS && ok && !v->is_done; i++)
		ok = !parts[i]->visit || parts[i]->visit(m, v);
	return ok;
}
