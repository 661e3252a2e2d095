/* SPDX-License-Identifier: BSD-3-Clause */
/* See sqlite_write.h. Test: tests/cli/sink/sink_sqlite.sh. */
#include "hpcprof-lite/sink/sqlite/sqlite_write.h"

#include "common/base/log.h"
#include "hpcprof-lite/sink/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The system's words are those of the other outputs: "No space left on device". */
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

void sqlite_begin(struct sqlite_writer *w, const char *table, unsigned n_columns)
{
	char sql[256];
	size_t n = (size_t)snprintf(sql, sizeof sql, "INSERT INTO %s VALUES(?", table);
	for (unsigned i = 1; i < n_columns; i++)
		n += (size_t)snprintf(sql + n, sizeof sql - n, ",?");
	snprintf(sql + n, sizeof sql - n, ")");
	w->insert = NULL;
	w->column = 0;
	if (w->status == STATUS_OK)
		check(w, sqlite3_prepare_v2(w->db, sql, -1, &w->insert, NULL));
}

void sqlite_int(struct sqlite_writer *w, uint64_t value)
{
	if (w->status == STATUS_OK)
		check(w, sqlite3_bind_int64(w->insert, ++w->column, (sqlite3_int64)value));
}

static void put_null(struct sqlite_writer *w)
{
	if (w->status == STATUS_OK)
		check(w, sqlite3_bind_null(w->insert, ++w->column));
}

void sqlite_id(struct sqlite_writer *w, uint32_t id)
{
	if (id == MODEL_NONE)
		put_null(w);
	else
		sqlite_int(w, id);
}

void sqlite_time(struct sqlite_writer *w, uint64_t ns)
{
	if (ns == 0)
		put_null(w);
	else
		sqlite_int(w, ns);
}

void sqlite_real(struct sqlite_writer *w, double value)
{
	if (w->status == STATUS_OK)
		check(w, sqlite3_bind_double(w->insert, ++w->column, value));
}

void sqlite_word(struct sqlite_writer *w, const char *s)
{
	if (w->status == STATUS_OK)
		check(w, sqlite3_bind_text(w->insert, ++w->column, s, -1, SQLITE_STATIC));
}

void sqlite_text(struct sqlite_writer *w, const char *s)
{
	char *clean = s && w->status == STATUS_OK ? names_clean(s) : NULL;
	if (s && !clean && w->status == STATUS_OK)
		sqlite_fail(w);
	else if (w->status == STATUS_OK)
		check(w, sqlite3_bind_text(w->insert, ++w->column, clean, -1, free));
}

void sqlite_row(struct sqlite_writer *w)
{
	if (w->status == STATUS_OK) {
		check(w, sqlite3_step(w->insert));
		sqlite3_reset(w->insert);
	}
	w->column = 0;
}

void sqlite_end(struct sqlite_writer *w)
{
	sqlite3_finalize(w->insert);
	w->insert = NULL;
}
