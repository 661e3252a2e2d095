/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes to the measurement file while another process may truncate it. Such a write raises SIGBUS,
 * which must reach our handler even if the program has blocked it. Signal-safe. Test:
 * tests/cli/sacred/sacred_file.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_FILE_FAULT_H
#define HPCRUN_LITE_RUNTIME_FILE_FAULT_H

#include <stdbool.h>

/*
 * Call these around code that writes to the file. open unblocks SIGBUS if the program has blocked
 * it. A SIGBUS that was sent to the program in between is pending afterwards. Pass the result of
 * open to close.
 */
bool file_fault_open(void);
void file_fault_close(bool opened);

/* True if the calling thread is between open and close, and the program has blocked SIGBUS. */
bool file_fault_is_open(void);

#endif
