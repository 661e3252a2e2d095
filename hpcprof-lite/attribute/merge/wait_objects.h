/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names what threads waited on. Ids of WAIT_OBJECT records are valid in one process only, so
 * contexts of several processes are matched by name. Test: tests/unit/prof/test_merge.c.
 */
#ifndef HPCPROF_ATTRIBUTE_MERGE_WAIT_OBJECTS_H
#define HPCPROF_ATTRIBUTE_MERGE_WAIT_OBJECTS_H

#include "common/base/strtab.h"
#include "common/format/measurement.h"
#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/load/job/load_job.h"

struct wait_file; /* the objects of one measurement file */

/* Zero-initialise. */
struct wait_part {
	struct wait_file *files; /* by file of the job; NULL: no file has objects */
	size_t n_files;
};

/* Names all objects; the names are in `strings`. False if memory is short. */
bool wait_objects_unify(struct wait_part *p, const struct load_job *job, struct strtab *strings);
/* NULL: the file has none. */
const struct wait_file *wait_objects_of_file(const struct wait_part *p, size_t file);
/*
 * Translates the code of a synthetic frame of the file to the merged tree. An object without its
 * record, or a lock without its module, becomes MSR_WAIT_ON; all these objects are one. Other codes
 * stay. NULL: no objects. Any thread may call it.
 */
uint64_t wait_objects_translate(const struct wait_file *f, uint64_t code);
/* The name, as an id of `strings`, of a translated code above MSR_WAIT_ON. */
uint32_t wait_objects_name(uint64_t code);
/*
 * True if the named object is a lock. It may be part of another object, which the waiting calls
 * reveal.
 */
bool wait_objects_is_lock(uint64_t code);
void wait_objects_free(struct wait_part *p);

extern const struct topic_ops topic_waits;

#endif
