/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the table of functions in every Go program: names, files, lines and inlined calls. Stripped
 * programs have it too. Knows the layouts of Go 1.18 and 1.19 (magic 0xfffffff0) and of Go 1.20 and
 * later (0xfffffff1). Go's own sources describe them: runtime/symtab.go, runtime/runtime2.go,
 * cmd/link/internal/ld/pcln.go. Any bytes are safe. Test: tests/cli/struct/struct_go.sh.
 */
#ifndef HPCSTRUCT_DEBUG_GO_TABLE_H
#define HPCSTRUCT_DEBUG_GO_TABLE_H

#include "hpcstruct-lite/debug/debug.h"

/*
 * Fills the unit from the table of the image. The unit stays empty if there is no table. Logs and
 * skips impossible data, and sets unit->incomplete. Fails only with STATUS_NO_MEMORY, which it does
 * not log.
 */
enum status go_read_table(const struct image *image, struct debug_unit *unit);

#endif
