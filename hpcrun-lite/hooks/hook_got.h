/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts the hooks into a program that runs already. Our library is then not in front of libc, so we
 * change the tables through which objects call functions of libc (the global offset table), and
 * put them back at the end. Objects that are loaded later call libc directly. See doc/attach.md.
 * Test: tests/cli/attach/attach_known.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_GOT_H
#define HPCRUN_LITE_HOOKS_HOOK_GOT_H

#include <stdbool.h>

/*
 * Makes all objects call our hooks. An entry that leads to neither libc nor libgomp, because the
 * program or a library has such a function itself, stays as it is. Returns false if there is no
 * memory to remember the entries; nothing has changed then. Takes the loader's lock.
 */
bool hook_got_patch(void);
/*
 * Puts back what hook_got_patch() changed, unless somebody else has changed it since. Calls that
 * are on their way reach our hooks a moment later, and pointers to hooks that the program has taken
 * stay: the hooks go on to work, and do nothing of their own. Takes the loader's lock.
 */
void hook_got_restore(void);

#endif
