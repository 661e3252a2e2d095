/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Result codes of the functions of the tools. The function that detects an error logs it; its
 * callers pass the code on.
 */
#ifndef COMMON_BASE_STATUS_H
#define COMMON_BASE_STATUS_H

enum status {
	STATUS_OK = 0,
	STATUS_BAD_INPUT,   /* a file is damaged, has another version, or is of another type */
	STATUS_NOT_FOUND,
	STATUS_NO_MEMORY,
	STATUS_IO,          /* a system call failed; the log says which */
	STATUS_UNSUPPORTED, /* valid input that this version cannot handle */
	STATUS_DIFFERS,     /* processes that share a job read different things; not logged */
	STATUS_USAGE
};

/* Exit code of a tool: 0 for success, 2 for wrong usage, 1 for any other error. */
static inline int status_exit_code(enum status s)
{
	return s == STATUS_OK ? 0 : s == STATUS_USAGE ? 2 : 1;
}

#endif
