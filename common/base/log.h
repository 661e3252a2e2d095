/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the tools on standard error: "prog: subject: message". Thread-safe: each message is
 * one write. Not for use in the measured process. Harmful characters print as '?' (see foreign.h).
 * Test: tests/unit/common/test_base.c.
 */
#ifndef COMMON_BASE_LOG_H
#define COMMON_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* Sets the program name. `name` must live as long as the process. Call before starting threads. */
void log_set_program(const char *name);
/* Returns the program name. Signal-safe. */
const char *log_program(void);
/* From now on messages are "prog: rank 3: subject: message". Call before starting threads. */
void log_set_rank(int rank);
void log_set_verbose(bool verbose);
void log_set_quiet(bool quiet); /* drops notes and progress; keeps errors and warnings */
/* Drops everything, because another process prints the same. Keeps the first error. */
void log_set_silent(bool silent);
/* Prints the error that was kept, if there is one. For when the other process did not print it. */
void log_say_held(void);
void log_end(void); /* drops everything from now on, from any thread */

/*
 * Print "prog: subject: message"; subject may be NULL. An error is a failure, a warning is
 * something unexpected, a note is information.
 */
void log_error(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_warn(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_note(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints only after log_set_verbose(true). */
void log_detail(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Number of errors and of warnings so far. */
uint64_t log_n_errors(void);
uint64_t log_n_warnings(void);

/*
 * Returns true for a terminal that understands escape sequences. Returns false under Open MPI: the
 * program's terminal is then one that mpirun made, and mpirun's output may go into a file.
 */
bool log_takes_escapes(int fd);

/*
 * Shows one progress line and rewrites it in place. Does nothing unless standard error is a
 * terminal. `label` NULL erases the line. `total` 0 shows no numbers.
 */
void log_progress(const char *label, uint64_t done, uint64_t total);
/* With true, shows no progress, because something else may write to the terminal. */
void log_hold_progress(bool holds);

#endif
