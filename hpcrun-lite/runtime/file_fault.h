/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing to the measurement file while another process may shorten it: the write then raises SIGBUS,
 * which has to reach the handler also where the program has blocked it. Signal-safe.
 * Test: tests/cli/sacred_file.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_FILE_FAULT_H
#define HPCRUN_LITE_RUNTIME_FILE_FAULT_H

#include <stdbool.h>

/*
 * Around code of ours that writes to the file: unblocks SIGBUS where the program has blocked it. One
 * that was sent to the program meanwhile is pending afterwards. False: there is nothing to close.
 */
bool file_fault_open(void);
void file_fault_close(bool opened);

/* The calling thread is between the two, and the program has blocked SIGBUS. */
bool file_fault_is_open(void);

#endif
