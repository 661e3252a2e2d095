/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of sinks: one row each. */
#include "config.h"

#include "hpcprof-lite/sinks.h"

#include "hpcprof-lite/sink/cctdb/cctdb_sink.h"
#include "hpcprof-lite/sink/folded_sink.h"
#include "hpcprof-lite/sink/html/html_sink.h"
#include "hpcprof-lite/sink/json/brief_sink.h"
#include "hpcprof-lite/sink/json/json_sink.h"
#include "hpcprof-lite/sink/otf2/otf2_sink.h"
#include "hpcprof-lite/sink/perfetto/perfetto_sink.h"
#include "hpcprof-lite/sink/pprof/pprof_sink.h"
#include "hpcprof-lite/sink/sqlite/sqlite_sink.h"
#include "hpcprof-lite/sink/text/text_sink.h"

#include <stddef.h>

const struct sink_ops *const sinks[] = {
	&sink_text,
	&sink_html,
	&sink_cctdb,
#ifdef HAVE_OTF2
	&sink_otf2,
#endif
	&sink_folded,
	&sink_pprof,
	&sink_json,
#ifdef HAVE_SQLITE3
	&sink_sqlite,
#endif
	&sink_perfetto,
	&sink_brief,
	NULL,
};
