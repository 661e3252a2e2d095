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
	sqlite3_stmt *insert; /* into the table that sqlite_begin() named */
	int column;           /* that was bound last; the first is 1 */
	enum status status;
};

void sqlite_execute(struct sqlite_writer *w, const char *sql);
/* For out of memory in this process; SQLite's own errors are noticed by the functions below. */
void sqlite_fail(struct sqlite_writer *w);

/* Rows of one table: begin; for each row its columns in order, then sqlite_row(); end. */
void sqlite_begin(struct sqlite_writer *w, const char *table, unsigned n_columns);
void sqlite_int(struct sqlite_writer *w, uint64_t value);
void sqlite_id(struct sqlite_writer *w, uint32_t id);     /* MODEL_NONE becomes NULL */
void sqlite_time(struct sqlite_writer *w, uint64_t ns);   /* 0 becomes NULL */
void sqlite_real(struct sqlite_writer *w, double value);
/* The string must outlive the row; NULL becomes NULL. */
void sqlite_word(struct sqlite_writer *w, const char *s);
/* Copies the string. U+FFFD replaces each byte that is not UTF-8. */
void sqlite_text(struct sqlite_writer *w, const char *s);
void sqlite_row(struct sqlite_writer *w);
void sqlite_end(struct sqlite_writer *w);

/* All tables; the indices and views that come after the rows. */
extern const char sqlite_tables[], sqlite_views[];

/* Run, modules, files, functions, metrics, contexts, totals. */
void sqlite_put_code(struct sqlite_writer *w);
/* Devices, queues, shapes. */
void sqlite_put_gpu(struct sqlite_writer *w);
void sqlite_put_energy(struct sqlite_writer *w);
/* Processes, profiles, values, samples, operations, ledgers. */
void sqlite_put_profiles(struct sqlite_writer *w);
/* Times of NCCL, and who came last. */
void sqlite_put_nccl(struct sqlite_writer *w);
/* Ranges and marks of NVTX. */
void sqlite_put_nvtx(struct sqlite_writer *w);

#endif
