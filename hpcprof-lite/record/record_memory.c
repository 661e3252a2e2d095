/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of processes; see record.h. Test: tests/cli/memory/memory_truth.sh. */
#include "hpcprof-lite/record/record_build.h"

#define AMOUNT(member, name, meaning) REAL(model_memory, member.value, name, meaning)
#define ERROR(member, name) \
	REAL(model_memory, member.error, name, "Half of the 95 % interval of the number before")

static const struct field fields[] = {
	KEY,
	ID(model_memory, process, "process", NULL),
	COUNT(model_memory, period, "period_bytes", "Mean between two samples; 1: all allocations"),
	COUNT(model_memory, bytes.n_samples, "samples", NULL),
	AMOUNT(bytes, "allocated_bytes", "Estimated from samples, as all that follow"),
	ERROR(bytes, "allocated_error_bytes"),
	AMOUNT(mapped, "mapped_bytes", "Part of allocated_bytes: by mmap"),
	AMOUNT(calls, "calls", "Allocations"),
	ERROR(calls, "calls_error"),
	AMOUNT(temporary, "temporary_calls", "Freed by their thread before its next allocation"),
	ERROR(temporary, "temporary_error"),
	AMOUNT(peak, "peak_bytes", "Live at peak_ns"),
	ERROR(peak, "peak_error_bytes"),
	TIME(model_memory, peak_ns, "When most bytes were live"),
	AMOUNT(end, "end_bytes", "Never freed"),
	ERROR(end, "end_error_bytes"),
	COUNT(model_memory, n_unfollowed, "unfollowed", "Samples in no live bytes: no room"),
	COUNT(model_memory, n_lost, "lost", "Sampled allocations without a record; in no number"),
};
static const struct record_kind record_memory = {
	.name = "memory",
	.table = "memory",
	.json = "memory",
	.parent = &record_run,
	.meaning = "Memory that a process allocated, if MEMORY was measured",
	.sinks = RECORD_ALL,
	FIELDS(fields)};

static const char *table_word(unsigned table)
{
	return table == MODEL_MEMORY_SIZES ? "size" : table == MODEL_MEMORY_LIVES ? "life" : NULL;
}

static bool has_limit(const struct record *r)
{
	return ((const struct model_memory_class *)r->at)->limit < UINT64_MAX - 1;
}

static const struct field class_fields[] = {
	OWNER("memory", "memory"),
	{.name = "by",
	 .meaning = "size (bytes) or life (ns)",
	 .kind = FIELD_WORD,
	 .word = table_word,
	 FIELD_AT(model_memory_class, table)},
	{.name = "up_to",
	 .meaning = "And more than the class before; the last life: not freed",
	 .kind = FIELD_COUNT,
	 .is_optional = true,
	 .is_known = has_limit,
	 FIELD_AT(model_memory_class, limit)},
	COUNT(model_memory_class, n_samples, "samples", NULL),
	REAL(model_memory_class, calls, "calls", NULL),
	REAL(model_memory_class, bytes, "allocated_bytes", NULL),
	REAL(model_memory_class, peak_bytes, "peak_bytes", NULL),
	REAL(model_memory_class, end_bytes, "end_bytes", NULL),
	REAL(model_memory_class, temporary_calls, "temporary_calls", NULL),
};
static const struct record_kind record_class = {
	.name = "memory-class",
	.table = "memory_class",
	.json = "classes",
	.parent = &record_memory,
	.meaning = "Allocations of one class of sizes or life times",
	.sinks = RECORD_ALL,
	FIELDS(class_fields)};

static bool visit_all(const struct model *m, struct record_visitor *v)
{
	for (uint32_t i = 0; i < m->n_memory && !v->is_done; i++) {
		const struct record r = {.m = m, .owner = i};
		record_visit(v, &r, &record_memory, &m->memory[i], i);
		for (size_t k = 0; k < MODEL_MEMORY_SIZES_N + MODEL_MEMORY_LIVES_N; k++)
			if (m->memory[i].classes[k].n_samples)
				record_visit(v, &r, &record_class, &m->memory[i].classes[k], 0);
	}
	return true;
}

static const struct record_kind *const kinds[] = {&record_memory, &record_class};
const struct record_part record_part_memory = {KINDS(kinds), visit_all};
