/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Python functions of all processes: code objects of the files become functions, one for each (file, name, first line), and each .py file a module. Before the merge, so that a Python frame
 * is the same whatever process it comes from. Test: tests/cli/python_frames.sh.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_PYTHON_FRAMES_H
#define HPCPROF_LITE_ATTRIBUTE_PYTHON_FRAMES_H

#include "hpcprof-lite/attribute/merge_modules.h"
#include "hpcprof-lite/load/load_job.h"
#include "hpcprof-lite/model/model.h"

/* In msr_module.flags of a record that was made up for a file of Python source. No file holds this flag. */
#define PYTHON_MODULE 0x4000u

struct python_function {
	const char *name;     /* "Net.forward"; owned by the model */
	const char *file;     /* NULL: not known */
	uint32_t module, line;
};

/* In the merged tree a Python frame is its function's module and, as link address, its function and line. */
#define PYTHON_LINE_BITS 24u
#define PYTHON_LINE_MAX ((1u << PYTHON_LINE_BITS) - 1)
#define PYTHON_FUNCTIONS_MAX (1u << 22)

struct python_file; /* what merge_thread() needs of one measurement file */

/* Zero-initialise. */
struct python_part {
	VEC(struct python_function) functions;
	struct map by_identity;
	struct python_file *files; /* by file of the job; NULL: there is no Python */
	size_t n_files;
};

/* Adds the modules of Python files to `modules`. False when memory is short. */
bool python_unify(struct python_part *p, struct load_job *job, struct merge_modules *modules, struct model *m);
/* NULL: no Python in this file. */
const struct python_file *python_of_file(const struct python_part *p, size_t file);
/* The module and link address in the merged tree of an address of the file. False: it is none in the file's logical module. Any thread. */
bool python_translate(const struct python_file *f, msr_addr addr, uint32_t *module, uint64_t *place);
void python_free(struct python_part *p);

#endif
