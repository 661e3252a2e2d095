/* SPDX-License-Identifier: BSD-3-Clause */
/* See sqlite_write.h. Test: tests/cli/sink/sink_sqlite.sh. */
#include "hpcprof-lite/sink/sqlite/sqlite_write.h"

#include "common/base/log.h"
#include "hpcprof-lite/view/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Uses the system's message, like the other outputs: "No space left on device". */
static void check(struct sqlite_writer *w, int code)
{
	if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW ||
	    w->status != STATUS_OK)
		return;
	int error = code == SQLITE_FULL ? ENOSPC : sqlite3_system_errno(w->db);
	log_error(w->path, "%s", error ? strerror(error) : sqlite3_errmsg(w->db));
	w->status = code == SQLITE_NOMEM ? STATUS_NO_MEMORY : STATUS_IO;
}

void sqlite_fail(struct sqlite_writer *w)
{
	if (w->status == STATUS_OK)
		log_error(w->path, "out of memory");
	w->status = STATUS_NO_MEMORY;
}

void sqlite_execute(struct sqlite_writer *w, const char *sql)
{
	if (w->status == STATUS_OK)
		check(w, sqlite3_exec(w->db, sql, NULL, NULL, NULL));
}

void sqlite_begin(struct sqlite_writer *w, struct sqlite_rows *rows, const char *table,
		  unsigned n_columns)
{
	char sql[256];
	size_t n = (size_t)snprintf(sql, sizeof sql, "INSERT INTO %s VALUES(?", table);
	for (unsigned i = 1; i < n_columns; i++)
		n += (size_t)snprintf(sql + n, sizeof sql - n, ",?");
	snprintf(sql + n, sizeof sql - n, ")");
	*rows = (struct sqlite_rows){0};
	if (w->status == STATUS_OK)
		check(w, sqlite3_prepare_v2(w->db, sql, -1, &rows->insert, NULL));
}

void sqlite_int(struct sqlite_writer *w, struct sqlite_rows *rows, uint64_t value)
{
	if (w->status == STATUS_OK)
		check(w, sqlite3_bind_int64(rows->insert, ++rows->column, (sqlite3_int64)value));
}

void sqlite_null(struct sqlite_writer *w, struct sqlite_rows *rows)
{
	if (w->status == STATUS_OK)
		check(w, sqlite3_bind_null(rows->insert, ++rows->column));
}

void sqlite_real(struct sqlite_writer *w, struct sqlite_rows *rows, double value)
{
	if (w->status == STATUS_OK)
		check(w, sqlite3_bind_double(rows->insert, ++rows->column, value));
}

void sqlite_word(struct sqlite_writer *w, struct sqlite_rows *rows, const char *s)
{
	if (w->status == STATUS_OK)
		check(w, sqlite3_bind_text(rows->insert, ++rows->column, s, -1, SQLITE_STATIC));
}

void sqlite_text(struct sqlite_writer *w, struct sqlite_rows *rows, const char *s)
{
	char *clean = w->status == STATUS_OK ? names_clean(s) : NULL;
	if (!clean && w->status == STATUS_OK)
		sqlite_fail(w);
	else if (w->status == STATUS_OK)
		check(w, sqlite3_bind_text(rows->insert, ++rows->column, clean, -1, free));
}

void sqlite_row(struct sqlite_writer *w, struct sqlite_rows *rows)
{
	if (w->status == STATUS_OK) {
		check(w, sqlite3_step(rows->insert));
		sqlite3_reset(rows->insert);
	}
	rows->column = 0;
}

void sqlite_end(struct sqlite_rows *rows)
{
	sqlite3_finalize(rows->insert);
}
