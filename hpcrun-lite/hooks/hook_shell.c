/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system and popen. libc starts "/bin/sh -c COMMAND" with the program's environ, which does not
 * contain our entries. If we added them there, other threads would see them. So we wrap the
 * command: the shell sets our entries and then becomes the requested shell. Signals, cancellation
 * and waiting stay libc's. Test: tests/cli/sacred/sacred_exec.sh.
 */
#include "hpcrun-lite/hooks/hook_exec.h"

#include "hpcrun-lite/config/config.h"
#include "hpcrun-lite/hooks/hook_env.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/hooks/hook_scratch.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENT_MAX (32 * 4096) /* the kernel's limit on one argument */

HOOK_NEXT(system);
HOOK_NEXT(popen);

extern char **environ;

/* The length of `text` in single quotes, where each quote inside becomes '\'' . */
static size_t quoted_bytes(const char *text)
{
	size_t n = 2;
	for (; *text; text++)
		n += *text == '\'' ? 4 : 1;
	return n;
}

static char *put_quoted(char *to, const char *text)
{
	*to++ = '\'';
	for (; *text; text++) {
		if (*text == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *text;
	}
	*to++ = '\'';
	return to;
}

/* The wrapped command, in scratch memory. NULL: run the command unchanged. */
static char *wrap(const char *command, void **scratch)
{
	static const char middle[] = " " CONFIG_VARIABLE "=",
			  start[] = "export LD_PRELOAD=", end[] = "; exec /bin/sh -c ",
			  name[] = " sh";
	size_t made = (hook_env_bytes(environ) + 15) & ~(size_t)15;
	size_t value_max = made + 4 * CONFIG_MAX_BYTES,
	       n = made + value_max + quoted_bytes(command) + sizeof start + sizeof middle +
		   sizeof end + sizeof name;
	struct hook_env_pair pair;
	char *memory = *scratch = hook_scratch_take(n);
	if (!memory || !hook_env_pair(environ, memory, made, &pair) ||
	    quoted_bytes(pair.preload) + quoted_bytes(pair.config) > value_max)
		return NULL;
	char *text = memory + made;
	char *to = put_quoted(stpcpy(text, start), pair.preload);
	to = put_quoted(stpcpy(to, middle), pair.config);
	to = put_quoted(stpcpy(to, end), command);
	to = stpcpy(to, name);
	return to - text < ARGUMENT_MAX ? text : NULL;
}

/*
 * Returns NULL if libc must get the command unchanged: the shell would take it for an option, or
 * our entries cannot be added to it.
 */
static char *wrap_command(const char *command, void **scratch)
{
	*scratch = NULL;
	if (!runtime_config() || !command || *command == '-' || *command == '+')
		return NULL;
	if (!hook_env_in_reach()) {
		runtime_note("commands of system or popen were not measured: the measurement does "
			     "not reach another root directory or user");
		return NULL;
	}
	return wrap(command, scratch);
}

HOOK int system(const char *command)
{
	void *scratch;
	char *wrapped = wrap_command(command, &scratch);
	int result = NEXT(system)(wrapped ? wrapped : command);
	int saved = errno;
	hook_scratch_release(scratch);
	errno = saved;
	return result;
}

HOOK FILE *popen(const char *command, const char *mode)
{
	void *scratch;
	char *wrapped = wrap_command(command, &scratch);
	FILE *result = NEXT(popen)(wrapped ? wrapped : command, mode);
	int saved = errno;
	hook_scratch_release(scratch);
	errno = saved;
	return result;
}

void hook_shell_start(void)
{
	hook_next_find(&next_system);
	hook_next_find(&next_popen);
}
