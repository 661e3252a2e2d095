/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool may be started with a closed standard input, output or error. The next file that it opens
 * would get that descriptor, and everything the tool prints would go into that file. Tests:
 * tests/unit/common/test_base.c, tests/cli/prof/prof_output.sh.
 */
#ifndef COMMON_BASE_STANDARD_FILES_H
#define COMMON_BASE_STANDARD_FILES_H

/*
 * Makes sure that no other file gets a closed descriptor from 0 to 2. Reading from it finds the
 * end of a file, and writing to it fails as before (EBADF). Programs that the tool executes find
 * it closed. Call this first in main().
 */
void standard_files_keep(void);

#endif
