/* SPDX-License-Identifier: BSD-3-Clause */
/* How a process ended, in words; see ends.h. Test: tests/unit/prof/test_children.c. */
#include "common/format/ends.h"

#include "common/format/measurement.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

const char *ends_text(uint32_t kind, int32_t code, char *text, size_t n_bytes)
{
	const char *name;
	switch (kind) {
	case MSR_EXIT_NONE:
		snprintf(text, n_bytes,
			"unknown status (killed, ended by its own system call, or still running)");
		break;
	case MSR_EXIT_GO:
		snprintf(text, n_bytes,
			"unknown status (a Go program, which does not call exit(), or killed)");
		break;
	case MSR_EXIT_WITHDRAWN:
		snprintf(text, n_bytes,
			"unknown status (measurement ended at its seccomp filter)");
		break;
	case MSR_EXIT_RETURN:
	case MSR_EXIT_QUICK:
		snprintf(text, n_bytes, "exit status %d", code);
		break;
	case MSR_EXIT_EXEC:
		snprintf(text, n_bytes, "another program in its place");
		break;
	case MSR_EXIT_SIGNAL:
		name = code > 0 ? sigabbrev_np(code) : NULL;
		if (name)
			snprintf(text, n_bytes, "signal SIG%s", name);
		else
			snprintf(text, n_bytes, "signal %d", code);
		break;
	default:
		snprintf(text, n_bytes, "an end that this version does not know");
	}
	return text;
}
