/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes rows of SQLite tables and the parts of the sink sqlite. The first failure is logged and
 * kept in `status`; later calls do nothing. Test: tests/cli/sink/sink_sqlite.sh.
 */
#ifndef HPCPROF_LITE_SINK_SQLITE_SQLITE_WRITE_H
#define HPCPROF_LITE_SINK_SQLITE_SQLITE_WRITE_H

#include "hpcprof-lite/sink/sink.h"

#include <sqlite3.h>

struct sqlite_writer {
	const struct model *m;
	const char *path;
	sqlite3 *db;
	enum status status;
};

void sqlite_execute(struct sqlite_writer *w, const char *sql);
/* Call it if memory is short in this process. The functions below notice SQLite's own errors. */
void sqlite_fail(struct sqlite_writer *w);

/* Rows of one table: begin; for each row its columns in order, then sqlite_row(); end. */
struct sqlite_rows {
	sqlite3_stmt *insert;
	int column; /* the last one with a value; the first is 1 */
};
void sqlite_begin(struct sqlite_writer *w, struct sqlite_rows *rows, const char *table,
		  unsigned n_columns);
void sqlite_int(struct sqlite_writer *w, struct sqlite_rows *rows, uint64_t value);
void sqlite_null(struct sqlite_writer *w, struct sqlite_rows *rows);
void sqlite_real(struct sqlite_writer *w, struct sqlite_rows *rows, double value);
/* The string must outlive the row. */
void sqlite_word(struct sqlite_writer *w, struct sqlite_rows *rows, const char *s);
/* Copies the string. U+FFFD replaces each byte that is not UTF-8. */
void sqlite_text(struct sqlite_writer *w, struct sqlite_rows *rows, const char *s);
void sqlite_row(struct sqlite_writer *w, struct sqlite_rows *rows);
void sqlite_end(struct sqlite_rows *rows);

/* The tables of all kinds of records, and their rows. */
void sqlite_create_tables(struct sqlite_writer *w);
void sqlite_put_records(struct sqlite_writer *w);
/* The indices and views that come after the rows. */
extern const char sqlite_views[];

#endif
