/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the outputs that the arguments ask for: reports to standard output, files in a database.
 * Test: tests/cli/prof/prof_output.sh.
 */
#ifndef HPCPROF_LITE_HPCPROF_OUTPUTS_H
#define HPCPROF_LITE_HPCPROF_OUTPUTS_H

#include "hpcprof-lite/hpcprof_arguments.h"
#include "hpcprof-lite/model/model.h"

/* True if some output is a file. */
bool outputs_in_files(const struct arguments *a);
/*
 * Writes all outputs, or those that this rank writes. The n directories have the measurements.
 * Failures are logged. Raises SIGPIPE if nobody reads standard output any more.
 */
enum status outputs_write(const struct model *m, const struct arguments *a,
			  char *const *directories, size_t n);

#endif
