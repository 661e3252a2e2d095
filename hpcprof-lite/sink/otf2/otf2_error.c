/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns errors of libotf2 into messages of ours: the first one of an archive is logged with its
 * cause, the others are details. Tests: tests/unit/sink/test_sink_otf2.c,
 * tests/cli/sink/sink_otf2.sh.
 */
#include "common/base/log.h"
#include "hpcprof-lite/sink/otf2/otf2.h"

#include <stdio.h>
#include <string.h>

bool otf2_check(struct otf2_writer *w, OTF2_ErrorCode error, const char *what)
{
	if (error == OTF2_SUCCESS)
		return true;
	if (!atomic_exchange(&w->failed, true))
		log_error(w->path, "%s: %s", what, OTF2_Error_GetDescription(error));
	return false;
}

OTF2_ErrorCode otf2_on_error(void *arg, const char *file, uint64_t line, const char *function,
			     OTF2_ErrorCode error, const char *format, va_list va)
{
	struct otf2_writer *w = arg;
	char text[512];
	(void)file;
	(void)line;
	if (error == OTF2_SUCCESS || error == OTF2_WARNING || error == OTF2_DEPRECATED)
		return error;
	vsnprintf(text, sizeof text, format, va);
	const bool is_file = strncmp(text, "POSIX: ", strlen("POSIX: ")) == 0;
	if (is_file)
		atomic_store(&w->is_unwritable, true);
	if (!atomic_exchange(&w->failed, true)) {
		char *path = text + strlen("POSIX: ");
		if (is_file) /* the text from its file layer is the path, sometimes quoted */
			log_error(path[0] == '\'' ? strtok(path, "'") : path, "%s",
				  OTF2_Error_GetDescription(error));
		else
			log_error(w->path, "%s: %s", OTF2_Error_GetDescription(error), text);
	} else {
		log_detail(w->path, "%s: %s: %s", function, OTF2_Error_GetDescription(error), text);
	}
	return error;
}
