/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The building blocks of the tables of records. Only hpcprof-lite/record and the text include this.
 */
#ifndef HPCPROF_RECORD_RECORD_BUILD_H
#define HPCPROF_RECORD_RECORD_BUILD_H

#include "hpcprof-lite/record/record.h"

#define FIELD_AT(type, member)                                                                     \
	.offset = offsetof(struct type, member), .n_bytes = sizeof(((struct type *)0)->member)

/* Fields that are members of a struct, with the name of the member or another one. */
#define MEMBER(kind_, type, member, name_, meaning_)                                               \
	{.name = (name_), .meaning = (meaning_), .kind = (kind_), FIELD_AT(type, member)}
#define COUNT(type, member, name, meaning) MEMBER(FIELD_COUNT, type, member, name, meaning)
#define FLAG(type, member, meaning) MEMBER(FIELD_BOOL, type, member, #member, meaning)
#define REAL(type, member, name, meaning) MEMBER(FIELD_REAL, type, member, name, meaning)
#define TEXT(type, member, name, meaning) MEMBER(FIELD_TEXT, type, member, name, meaning)
#define TIME(type, member, meaning) MEMBER(FIELD_TIME, type, member, #member, meaning)
#define ID(type, member, of_, meaning_)                                                            \
	{.name = #member, .meaning = (meaning_), .kind = FIELD_ID, .of = (of_),                    \
	 FIELD_AT(type, member)}
#define WORD(type, member, word_, meaning_)                                                        \
	{.name = #member, .meaning = (meaning_), .kind = FIELD_WORD, .word = (word_),              \
	 FIELD_AT(type, member)}
/* A field whose value comes from a function. */
#define GET(kind_, name_, get_, meaning_)                                                          \
	{.name = (name_), .meaning = (meaning_), .kind = (kind_), .get = (get_)}
#define KEY {.name = "id", .kind = FIELD_KEY, .get = value_of_id}
/* The record that this one belongs to. JSON nests this one in it instead. */
#define OWNER(name_, of_)                                                                          \
	{.name = (name_), .kind = FIELD_ID, .of = (of_), .sinks = RECORD_TEXT | RECORD_SQL,        \
	 .get = value_of_owner}
#define FIELDS(array) .fields = (array), .n_fields = sizeof(array) / sizeof *(array)
/* A kind that only the text has. */
#define RECORD_LINE(name_, meaning_, fields_)                                                      \
	{.name = (name_), .meaning = (meaning_), .sinks = RECORD_TEXT, FIELDS(fields_)}
#define RECORD_ALL (RECORD_TEXT | RECORD_JSON | RECORD_SQL)

static inline struct value value_count(uint64_t n)
{
	return (struct value){.n = n, .is_known = true};
}
static inline struct value value_id(uint32_t id)
{
	return (struct value){.n = id, .is_known = id != MODEL_NONE};
}
static inline struct value value_real(double x)
{
	return (struct value){.real = x, .is_known = true};
}
static inline struct value value_text(const char *s) /* NULL: unknown */
{
	return (struct value){.text = s, .is_known = s != NULL};
}
static inline struct value value_of_id(const struct record *r)
{
	return value_count(r->id);
}
static inline struct value value_of_owner(const struct record *r)
{
	return value_id(r->owner);
}
static inline struct value value_of_whose(const struct record *r)
{
	return value_text(r->whose);
}
/* The line, or the address if the line is unknown. */
struct value value_place(const struct model *m, uint32_t file, uint32_t line, uint64_t link_addr);
/* The rank of a process; negative: none. */
struct value value_rank(int32_t rank);

static inline void record_visit(struct record_visitor *v, const struct record *r,
				const struct record_kind *kind, const void *at, uint32_t id)
{
	if (kind->sinks & v->sink)
		v->visit(v, &(struct record){.m = r->m, .kind = kind, .at = at,
					     .whose = r->whose, .id = id, .owner = r->owner});
}
/*
 * Visits the numbers of a ledger: a record of this kind in JSON, rows of the table "ledger" in SQL.
 */
struct record_ledger_owner {
	uint32_t process, profile;
	const char *backend;
};
void record_visit_counts(struct record_visitor *v, const struct model *m,
			 const struct record_kind *kind, const struct words_count *counts, size_t n,
			 struct record_ledger_owner owner);

/* Kinds that are visited together. */
struct record_part {
	const struct record_kind *const *kinds;
	unsigned n_kinds;
	bool (*visit)(const struct model *m, struct record_visitor *v); /* false: out of memory */
};
extern const struct record_part record_part_run, record_part_code, record_part_gpu,
	record_part_processes, record_part_profiles, record_part_parallel, record_part_findings,
	record_part_balance, record_part_memory, record_part_mpi, record_part_mpi_tables,
	record_part_nccl, record_part_nvtx, record_part_ledgers;
#define KINDS(array) .kinds = (array), .n_kinds = sizeof(array) / sizeof *(array)

extern const struct record_kind record_run, record_gpu, record_process, record_mpi;

#endif
