/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of functions that every Go program carries, also when it is stripped: names, files,
 * lines and inlined calls. Layouts of Go 1.18 and 1.19 (magic 0xfffffff0) and of Go 1.20 and later
 * (0xfffffff1), as in Go's own sources: runtime/symtab.go, runtime/runtime2.go,
 * cmd/link/internal/ld/pcln.go. Any bytes may be given. Tests: tests/cli/struct_go.sh.
 */
#ifndef HPCSTRUCT_DEBUG_GO_TABLE_H
#define HPCSTRUCT_DEBUG_GO_TABLE_H

#include "hpcstruct-lite/debug/debug.h"

/*
 * Fills the unit from the table of the image; it stays empty when there is none. What cannot be
 * right is said and left out, and sets unit->incomplete. STATUS_NO_MEMORY, which has not been
 * logged, is the only failure.
 */
enum status go_read_table(const struct image *image, struct debug_unit *unit);

#endif
