/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded by tests/cli/struct/struct_damage.sh: libdwarf crashes, or hangs, when it is asked for
 * the children of the DIE at the offset in CRASH_DWARF_AT ("all": of any).
 */
#include <libdwarf.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int dwarf_child(Dwarf_Die die, Dwarf_Die *child, Dwarf_Error *error)
{
	int (*next)(Dwarf_Die, Dwarf_Die *, Dwarf_Error *);
	const char *at = getenv("CRASH_DWARF_AT");
	Dwarf_Off offset = 0;
	dwarf_dieoffset(die, &offset, error);
	if (at && (strcmp(at, "all") == 0 || strtoull(at, NULL, 0) == offset))
		raise(SIGSEGV);
	*(void **)&next = dlsym(RTLD_NEXT, "dwarf_child");
	return next(die, child, error);
}
