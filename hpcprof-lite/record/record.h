/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model as records, for the exports of everything: --all, json and sqlite. Each kind of record
 * has one table of fields, with their names, units, meanings and where the values come from. An
 * export adds only its syntax. What it writes, and its schema, come from these tables, so a field
 * that is added to a table is in every export. Tests: tests/cli/sink/sink_records.sh,
 * tests/cli/sink/sink_agree.sh.
 */
#ifndef HPCPROF_RECORD_RECORD_H
#define HPCPROF_RECORD_RECORD_H

#include "hpcprof-lite/model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORD_TEXT = 1, RECORD_JSON = 2, RECORD_SQL = 4 }; /* the exports, as a set */
/* The version of all three formats. It grows with every change of a table. */
enum { RECORD_VERSION = 5 };

enum field_kind {
	FIELD_COUNT,
	FIELD_SIGNED,
	FIELD_RANK,    /* negative: none */
	FIELD_BOOL,
	FIELD_REAL,
	FIELD_ID,      /* the id of a record; MODEL_NONE: none */
	FIELD_KEY,     /* the id of the record itself; in JSON its index in the array */
	FIELD_TIME,    /* nanoseconds since 1970; 0: unknown */
	FIELD_LINE,    /* of source; 0: unknown */
	FIELD_ADDRESS, /* 0: unknown, or none */
	FIELD_TEXT,    /* foreign text */
	FIELD_WORD,    /* one of our words */
	FIELD_PLACE    /* file and line; without a line the address */
};

/* One record while it is visited. */
struct record {
	const struct model *m;
	const struct record_kind *kind;
	const void *at;    /* the struct of the model that the fields are read from */
	const char *whose; /* of ledgers: "process", "profile", "all" */
	uint32_t id;       /* index of the record among those of its kind */
	uint32_t owner;    /* id of the record that it belongs to */
};

struct value {
	uint64_t n;        /* all but REAL, TEXT and WORD; SIGNED and RANK: as an int64_t */
	double real;
	/* TEXT, WORD, PLACE (the path; NULL: `n` is the address). Valid until the next value. */
	const char *text;
	bool is_known;
};

struct field {
	const char *name;    /* in all exports; with its unit: "gap_ns" */
	const char *meaning; /* NULL: the name says it all */
	const char *unit;    /* NULL: none, or the name ends with it */
	enum field_kind kind;
	unsigned sinks;      /* the exports that have it; 0: all */
	bool is_optional;    /* JSON leaves it out if it is unknown, false, or no address */
	uint8_t n_items;     /* x, y, z of a shape: 3; others: 0 */
	uint16_t offset, n_bytes;            /* in record.at, if there is no `get` */
	const char *of;                      /* ID: the table in SQL that it refers to */
	const char *(*word)(unsigned value); /* WORD, if there is no `get` */
	struct value (*get)(const struct record *r);
	/* NULL: known, unless the value of its kind says otherwise */
	bool (*is_known)(const struct record *r);
	/*
	 * Ledgers: JSON and SQL have these fields as numbers by group and name. `title` is for
	 * outputs that have only a list of names.
	 */
	const char *group, *count; /* count: the name in its group; NULL: `name` */
	const char *title;
	bool is_sparse;      /* left out of the list of numbers if it is 0 */
};

enum record_form { /* in JSON */
	RECORD_OBJECTS, /* an array of objects */
	RECORD_TUPLES,  /* an array of arrays */
	RECORD_VALUES,  /* an array with the last field of each record */
	RECORD_OBJECT,  /* one object */
	RECORD_COUNTS   /* one object of groups of numbers; `at` is a struct record_counts */
};

struct record_kind {
	const char *name;   /* text: the first field of the line */
	const char *table;  /* in SQL; NULL: none */
	const char *json;   /* key in the object of the parent */
	const char *meaning;
	const struct record_kind *parent; /* in JSON; NULL: the outermost object itself */
	enum record_form form;
	unsigned sinks;
	const struct field *fields;
	unsigned n_fields;
	/*
	 * True: JSON has an empty array, or null for an object, if there is no record. NULL: never.
	 */
	bool (*is_wanted)(const struct record *parent);
};

/* A number of a ledger: how many of "group" are "name". */
struct words_count {
	const char *group, *name;
	uint64_t n;
};
struct record_counts {
	const struct words_count *at;
	size_t n;
};

/* `is_wanted` of kinds whose member is always there. */
bool record_always(const struct record *parent);

/* The kinds by index; NULL: there are no more. In JSON, members have this order. */
const struct record_kind *record_kind_at(unsigned i);

struct record_visitor {
	unsigned sink; /* RECORD_TEXT and so on */
	bool is_done;  /* the visitor does not want more */
	void (*visit)(struct record_visitor *v, const struct record *r);
};
/*
 * Visits all records of the export. The children that a record has in JSON come before the next
 * record; children of one kind come together. False if memory is short.
 */
bool records_visit(const struct model *m, struct record_visitor *v);
/* Visits the last records of the text: the ledger of the run, and whether all ledgers close. */
void records_visit_end(const struct model *m, struct record_visitor *v);

/* True if the export has the field. */
static inline bool field_is_in(const struct field *f, unsigned sink)
{
	return !f->sinks || f->sinks & sink;
}
/* The value of a field; `item` is below n_items, or 0. */
struct value field_value(const struct field *f, const struct record *r, unsigned item);
/* "ns", "bytes" and so on; NULL: a number without a unit, or no number. */
const char *field_unit(const struct field *f);
/* The name of the column: "grid_y". `to` holds FIELD_NAME bytes. */
enum { FIELD_NAME = 64 };
const char *field_column(const struct field *f, unsigned item, char to[FIELD_NAME]);

#endif
