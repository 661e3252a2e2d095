/* SPDX-License-Identifier: BSD-3-Clause */
/* What the unit tests of hpcprof-lite share: a private directory, and models of synthetic
 * measurements. Failures end the test by cmocka's assertions. */
#ifndef TESTS_UNIT_PROF_FIXTURE_H
#define TESTS_UNIT_PROF_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcprof-lite/attribute/attribute.h"
#include "hpcprof-lite/model/private.h"
#include "tests/gen/gen.h"
#include "tests/gen/gen_program.h"
#include "tests/gen/gen_structure.h"

/* A new empty directory; owned by the caller. */
char *fixture_directory(void);
/* Removes it with all that is in it, and frees the name. */
void fixture_remove(char *directory);
/* The model of the measurements there, structures from <directory>/structs. Owned by the caller:
 * model_free(). */
struct model *fixture_model(const char *directory, unsigned n_workers);
/* The same from a loaded job, which is taken over. Structures from `directory`, NULL: none. */
struct model *fixture_model_of(struct load_job *job, const char *directory, unsigned n_workers);
/* While the fixture opens structures, where a test must not let an allocation fail. */
extern bool fixture_finds_structures;
/* Models keep the frames inside of OpenMP and MPI. */
extern bool fixture_internals;
/* Ranges of NVTX are contexts of models. */
extern bool fixture_ranges;
/* The same; may fail, and sets *m on success alone. */
enum status fixture_try_model(struct load_job *job, const char *directory, unsigned n_workers,
	struct model **m);
/* The text of --all; owned by the caller. */
char *fixture_text(const struct model *m);
/* What must hold in any frozen model: preorder, parents, values and totals sorted, ids in range. */
void fixture_check_model(const struct model *m);
/* Reads a whole file, 64-byte aligned; owned by the caller. */
uint8_t *fixture_read(const char *path, size_t *n_bytes);
/* Context below `parent` with this function name (FUNCTION) or, name NULL, line; MODEL_NONE when
 * there is none. */
uint32_t fixture_find_function(const struct model *m, uint32_t parent, const char *name);
uint32_t fixture_find_line(const struct model *m, uint32_t parent, uint32_t line);

#endif
