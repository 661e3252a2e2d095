/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors of libdwarf. Logs the place of damage, a few times for each unit, and drops other errors.
 * Test: tests/cli/struct/struct_damage.sh.
 */
#include "hpcstruct-lite/debug/debug_internal.h"

#include "common/base/log.h"

#include <errno.h>

#define MAX_SAID 3 /* messages for one unit */

void debug_forget(Dwarf_Debug dbg, Dwarf_Error error)
{
	if (error)
		dwarf_dealloc(dbg, error, DW_DLA_ERROR);
}

void debug_complain(struct debug_session *s, const char *section, uint64_t offset, const char *what,
		    Dwarf_Error error)
{
	/*
	 * libdwarf reports a failed allocation as damage. Then the caller of debug_read_unit() logs
	 * it.
	 */
	if (errno != ENOMEM && s->n_said++ < MAX_SAID)
		log_warn(s->input.image->path, "section %s at offset 0x%llx: %s%s%s", section,
			 (unsigned long long)offset, what, error ? ": " : "",
			 error ? dwarf_errmsg(error) : "");
	debug_forget(s->main.dbg, error);
	s->unit->incomplete = true;
}
