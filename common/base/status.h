/* SPDX-License-Identifier: BSD-3-Clause */
/* The one set of results that functions of the tools return. Who first knows the cause logs it; callers pass it on. */
#ifndef COMMON_BASE_STATUS_H
#define COMMON_BASE_STATUS_H

enum status {
	STATUS_OK = 0,
	STATUS_BAD_INPUT,   /* a file is damaged, of another version, or not what it should be */
	STATUS_NOT_FOUND,
	STATUS_NO_MEMORY,
	STATUS_IO,          /* the operating system refused: see the log */
	STATUS_UNSUPPORTED, /* sound, but beyond what this version does */
	STATUS_USAGE
};

/* Exit code of a tool for a status: 0, 1 (anything that went wrong), 2 (usage). */
static inline int status_exit_code(enum status s)
{
	return s == STATUS_OK ? 0 : s == STATUS_USAGE ? 2 : 1;
}

#endif
