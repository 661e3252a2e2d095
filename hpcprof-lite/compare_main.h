/* SPDX-License-Identifier: BSD-3-Clause */
/* hpcprof-lite compare. Test: tests/cli/compare/compare.sh, tests/cli/compare/compare_gate.sh. */
#ifndef HPCPROF_COMPARE_MAIN_H
#define HPCPROF_COMPARE_MAIN_H

enum { COMPARE_EXIT_FAILS = 3 }; /* a condition of --fail-if is true */

/* argv[0] is "compare". Returns the exit status of the program. */
int compare_main(int argc, char **argv);

#endif
