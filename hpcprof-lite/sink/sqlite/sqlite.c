/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink sqlite: profile.sqlite, the whole model with its time lines in tables, and the questions
 * of the report as views. Everything is one transaction without a journal. A file that fails is
 * removed, and hpcprof-lite gives the directory its name when all is complete. Tables:
 * hpcprof-lite/record. Described in doc/formats/sqlite.md. Test: tests/cli/sink/sink_sqlite.sh.
 */
#include "hpcprof-lite/sink/sqlite/sqlite_sink.h"
#include "hpcprof-lite/sink/sqlite/sqlite_write.h"

#include "common/base/log.h"
#include "hpcprof-lite/record/record.h"
#include "hpcprof-lite/sink/outfile.h"

#include <stdio.h>

/* No other process knows the file, so it needs no locks, which some file systems do not have. */
static void open_database(struct sqlite_writer *w)
{
	static const char vfs[] = "unix-none";
	char version[64];
	int code =
		sqlite3_open_v2(w->path, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, vfs);
	if (code != SQLITE_OK) {
		log_error(w->path, "%s", sqlite3_errstr(code));
		w->status = STATUS_IO;
	}
	sqlite_execute(w, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
			  "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -16384;"
			  "BEGIN");
	snprintf(version, sizeof version, "PRAGMA user_version = %d", RECORD_VERSION);
	sqlite_execute(w, version);
}

static enum status write_sqlite(const struct model *m, const struct sink_options *o)
{
	struct outfile file;
	enum status status = outfile_create(&file, o->directory, "profile.sqlite");
	if (status != STATUS_OK)
		return status;
	struct sqlite_writer w = {.m = m, .path = file.path};
	open_database(&w);
	sqlite_create_tables(&w);
	sqlite_put_records(&w);
	sqlite_execute(&w, sqlite_views);
	sqlite_execute(&w, "COMMIT");
	sqlite3_close(w.db);
	if (w.status == STATUS_OK)
		return outfile_close(&file);
	outfile_abandon(&file);
	return w.status;
}

const struct sink_ops sink_sqlite = {
	.name = "sqlite",
	.what = "everything as tables and views, for SQL",
	.makes_files = true,
	.on_request = true,
	.write = write_sqlite,
};
