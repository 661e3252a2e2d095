/* SPDX-License-Identifier: BSD-3-Clause */
/* See python_glue.h. Test: tests/cli/python/python_frames.sh. */
#include "hpcrun-lite/runtime/glue/python_glue.h"

#include "hpcrun-lite/python/python.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/records.h"

/*
 * Retries for a moment, because another thread needs a microsecond to write a record. If that
 * thread was preempted, this record is lost.
 */
static void *begin_python_record(enum msr_kind kind, size_t n_bytes)
{
	enum { TRIES = 200 };
	enum msr_loss cause = MSR_LOSS_BUSY;
	void *record = NULL;
	for (int i = 0; !record && cause == MSR_LOSS_BUSY && i < TRIES; i++)
		record = records_begin(kind, n_bytes, &cause);
	return record;
}

static void end_python_record(enum msr_kind kind, size_t n_bytes)
{
	records_end(kind, n_bytes);
}

static uint16_t add_python_module(void)
{
	return module_add_logical("[python]", MSR_MODULE_PYTHON);
}

void python_glue_start(void)
{
	static struct python_host host = {.begin_record = begin_python_record,
					  .end_record = end_python_record,
					  .module = add_python_module,
					  .note = runtime_note};
	host.names_modules = process.config.torch;
	if (process.config.python)
		python_init(&host);
}
