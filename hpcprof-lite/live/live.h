/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpcprof-lite --live: looks at a run while it goes on. It only reads: the measurement files are
 * mapped, never locked or written. Test: tests/cli/live/live_run.sh.
 */
#ifndef HPCPROF_LITE_LIVE_LIVE_H
#define HPCPROF_LITE_LIVE_LIVE_H

#include "common/base/status.h"

#include <stddef.h>

struct live_options {
	const char *prometheus_file; /* for node_exporter; NULL: none */
	const char *version;         /* of this program */
};

/*
 * Shows the state of the run in the directories on standard output, until the run ends, the user
 * types q, or SIGINT, SIGTERM or SIGHUP comes, by which the process then ends. A terminal shows a
 * screen that changes, anything else gets lines. With a Prometheus file, only a terminal gets
 * something. STATUS_NOT_FOUND: no measurement began within 10 s. Logs.
 */
enum status live_run(char *const *directories, size_t n, const struct live_options *o);

#endif
