/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a run for the textfile collector of Prometheus' node_exporter, in its text format
 * (https://prometheus.io/docs/instrumenting/exposition_formats/). A file is written whole or not
 * at all. Test: tests/cli/live/live_prometheus.sh.
 */
#ifndef HPCPROF_LITE_LIVE_LIVE_PROMETHEUS_H
#define HPCPROF_LITE_LIVE_LIVE_PROMETHEUS_H

#include "common/base/map.h"
#include "common/base/status.h"
#include "common/base/vec.h"
#include "hpcprof-lite/model/model.h"

/* Zero it, and set the first three. */
struct live_prometheus {
	const char *path;       /* the file */
	const char *directory;  /* the measurement directory, for the label of all series */
	const char *version;    /* of this program */
	struct map counters;    /* hash of a series: index into `values` */
	VEC(double) values;     /* what was written last: counters never go down */
	double cpu_seconds, at; /* when the file was written last; 0: never */
	bool failed;            /* the last attempt failed, and that was logged */
};

/* Logs a failure, and the first success after one. The old file stays then. */
enum status live_prometheus_write(struct live_prometheus *p, const struct model *m);
void live_prometheus_close(struct live_prometheus *p);

#endif
