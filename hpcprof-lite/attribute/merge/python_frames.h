/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unifies the Python functions of all processes before the merge, so that a Python frame is the
 * same in every process. Code objects become functions, one for each (file, name, first line). Each
 * .py file becomes a module. Test: tests/cli/python/python_frames.sh.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_MERGE_PYTHON_FRAMES_H
#define HPCPROF_LITE_ATTRIBUTE_MERGE_PYTHON_FRAMES_H

#include "hpcprof-lite/attribute/merge/merge_modules.h"
#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/model.h"

/*
 * A bit in msr_module.flags of a record that we made for a Python source file. No file contains
 * this bit.
 */
#define PYTHON_MODULE 0x4000u

struct python_function {
	const char *name;     /* "Net.forward"; owned by the model */
	const char *file;     /* NULL: unknown */
	uint32_t module, line;
	bool is_torch_module; /* not a function but a module of PyTorch: see torch_modules.h */
};

/*
 * A Python frame in the merged tree has the module of its function. Its link address holds function
 * and line.
 */
#define PYTHON_LINE_BITS 24u
#define PYTHON_LINE_MAX ((1u << PYTHON_LINE_BITS) - 1)
#define PYTHON_FUNCTIONS_MAX (1u << 22)

struct python_file; /* what merge_thread() needs from one measurement file */

/*
 * Translates an address of the file to module and link address in the merged tree. False: the
 * address is not in the logical module of the file. Any thread may call it.
 */
bool python_translate(const struct python_file *f, msr_addr addr, uint32_t *module,
	uint64_t *place);

/* Adds the modules of Python files to those of the run. */
extern const struct topic_ops topic_python;

#endif
