/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the source files that contexts name are, and where their copies are. Test:
 * tests/unit/sink/test_sink_cctdb.c.
 */
#ifndef HPCPROF_SINK_SOURCE_FIND_H
#define HPCPROF_SINK_SOURCE_FIND_H

#include "common/rights/rights.h"
#include "hpcprof-lite/sink/sink.h"

#include <limits.h>

/*
 * Sets *relative to the path below "src", such as "src/usr/..."; "." and ".." are resolved in the
 * text. The caller owns it. NULL: the path is relative or names the root directory. False: memory
 * is short.
 */
bool source_relative(const char *path, char **relative);
/*
 * The copy of a source file in one of the source_dirs, or the file itself. `relative` is from
 * source_relative(path). The result is `archived` or `path`.
 */
const char *source_find(const struct sink_options *o, const char *relative, const char *path,
			char archived[PATH_MAX]);

/*
 * Finds the owners of the model's measurement files. False if memory is short. In all cases call
 * rights_free().
 */
bool source_owners_find(const struct model *m, struct rights *owners);

#endif
