/* SPDX-License-Identifier: BSD-3-Clause */
/* The text sink. Test: tests/cli/prof_text.sh. */
#include "hpcprof-lite/sink/text.h"

#include "common/base/log.h"
#include "hpcprof-lite/sink/sink.h"
#include "hpcprof-lite/sink/text_all.h"

#include <errno.h>
#include <string.h>

static enum status write_text(const struct model *m, const struct sink_options *o)
{
	FILE *out = o->text && o->text->out ? o->text->out : stdout;
	enum status s = sink_text_all(m, out);
	if (s == STATUS_IO)
		log_error("text", "cannot be written: %s", strerror(errno));
	return s;
}

const struct sink_ops sink_text = {"text", "a report for people, on standard output", write_text};
