/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool may be started with a closed standard input, output or error. The next file that it opens
 * would get that descriptor, and what the tool prints would go into that file. Tests:
 * tests/unit/common/test_base.c, tests/cli/prof/prof_output.sh.
 */
#ifndef COMMON_BASE_STANDARD_FILES_H
#define COMMON_BASE_STANDARD_FILES_H

/*
 * Keeps the descriptors 0 to 2 that are closed from being given to other files. Reading from them
 * finds the end of a file, and writing to them fails as before (EBADF). Programs that are executed
 * find them closed. Call it first in main().
 */
void standard_files_keep(void);

#endif
