/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the tools on standard error: "prog: file: cause". Thread-safe: one message is one write. Not for the measured
 * process. What is harmful to a terminal in names and paths comes out as '?' (foreign.h). Test: tests/unit/test_base.c.
 */
#ifndef COMMON_BASE_LOG_H
#define COMMON_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* `name` is borrowed for the life of the process. Call before any other thread runs. */
void log_set_program(const char *name);
/* The name that messages begin with. Signal-safe. */
const char *log_program(void);
void log_set_verbose(bool verbose);
void log_set_quiet(bool quiet); /* keeps errors and warnings, drops notes and progress */

/* "prog: subject: message"; subject may be NULL. The three differ in weight: what failed, what is odd, what is said. */
void log_error(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_warn(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_note(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Only with log_set_verbose(true). */
void log_detail(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Number of errors and warnings so far. */
uint64_t log_n_errors(void);
uint64_t log_n_warnings(void);

/*
 * One progress line, rewritten in place, only when standard error is a terminal; label NULL erases
 * it. Total 0: no numbers.
 */
void log_progress(const char *label, uint64_t done, uint64_t total);

#endif
