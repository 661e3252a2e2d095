/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of the records of the complete form; see text_all.h. Test: tests/cli/prof/prof_text.sh,
 * tests/cli/sink/sink_agree.sh. */
#include "hpcprof-lite/sink/text/text_all.h"

#include "common/base/foreign.h"

#include <inttypes.h>

void text_all_name(FILE *out, const char *s)
{
	putc('\t', out);
	foreign_put_field(out, s);
}

void text_all_u64(FILE *out, uint64_t n)
{
	fprintf(out, "\t%" PRIu64, n);
}

void text_all_id(FILE *out, uint32_t id)
{
	if (id == MODEL_NONE)
		fputs("\t-", out);
	else
		text_all_u64(out, id);
}

void text_all_place(const struct model *m, uint32_t file, uint32_t line, uint64_t link_addr,
		    FILE *out)
{
	if (file != MODEL_NONE) {
		text_all_name(out, m->files[file].path);
		fprintf(out, ":%u", line);
	} else if (link_addr) {
		fprintf(out, "\t%#" PRIx64, link_addr);
	} else {
		putc('\t', out);
	}
}
