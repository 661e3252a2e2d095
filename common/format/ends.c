/* SPDX-License-Identifier: BSD-3-Clause */
/* How a process ended, in words; see ends.h. Test: tests/unit/prof/test_children.c. */
#include "common/format/ends.h"

#include "common/format/measurement.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* As the C library's sigabbrev_np (glibc 2.32). */
static const char *name_of_signal(int32_t signal)
{
	static const char *const name[] = {
		[SIGHUP] = "HUP",       [SIGINT] = "INT",       [SIGQUIT] = "QUIT",
		[SIGILL] = "ILL",       [SIGTRAP] = "TRAP",     [SIGABRT] = "ABRT",
		[SIGBUS] = "BUS",       [SIGFPE] = "FPE",       [SIGKILL] = "KILL",
		[SIGUSR1] = "USR1",     [SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2",
		[SIGPIPE] = "PIPE",     [SIGALRM] = "ALRM",     [SIGTERM] = "TERM",
		[SIGSTKFLT] = "STKFLT", [SIGCHLD] = "CHLD",     [SIGCONT] = "CONT",
		[SIGSTOP] = "STOP",     [SIGTSTP] = "TSTP",     [SIGTTIN] = "TTIN",
		[SIGTTOU] = "TTOU",     [SIGURG] = "URG",       [SIGXCPU] = "XCPU",
		[SIGXFSZ] = "XFSZ",     [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF",
		[SIGWINCH] = "WINCH",   [SIGIO] = "POLL",       [SIGPWR] = "PWR",
		[SIGSYS] = "SYS",
	};
	return signal > 0 && signal < (int32_t)(sizeof name / sizeof *name) ? name[signal] : NULL;
}

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
		snprintf(text, n_bytes, "unknown status (measurement ended at its seccomp filter)");
		break;
	case MSR_EXIT_DETACHED: snprintf(text, n_bytes, "detached: it runs on"); break;
	case MSR_EXIT_RETURN:
	case MSR_EXIT_QUICK: snprintf(text, n_bytes, "exit status %d", code); break;
	case MSR_EXIT_EXEC: snprintf(text, n_bytes, "another program in its place"); break;
	case MSR_EXIT_SIGNAL:
		name = name_of_signal(code);
		if (name)
			snprintf(text, n_bytes, "signal SIG%s", name);
		else
			snprintf(text, n_bytes, "signal %d", code);
		break;
	default: snprintf(text, n_bytes, "an end that this version does not know");
	}
	return text;
}
