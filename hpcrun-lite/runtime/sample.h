/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a signal to a recorded sample: the only code that runs in our handler. Tests: tests/cli/run_*.sh, tests/bench/bench_sample.c.
 */
#ifndef HPCRUN_LITE_RUNTIME_SAMPLE_H
#define HPCRUN_LITE_RUNTIME_SAMPLE_H

#include "hpcrun-lite/source/source.h"

#include <stdbool.h>

/* Installs the handler of RUNTIME_SIGNAL with libc's own sigaction. Not signal-safe. */
bool sample_install(void);

/* For struct source_host: a sample from a source with a handler of its own. */
void sample_from_source(const struct source_expiry *expiry, void *ucontext);

#endif
