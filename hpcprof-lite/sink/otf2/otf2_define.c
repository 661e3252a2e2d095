/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single definitions that both otf2_defs.c and otf2_gpu_defs.c make. Each adds its strings, and
 * defines when there is a writer. Tests: tests/unit/sink/test_sink_otf2.c,
 * tests/cli/sink/sink_otf2.sh.
 */
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/otf2/otf2.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A record must fit into a chunk of the library's buffer; no reader shows names that long. */
enum { MAX_STRING_BYTES = 65535 };

static uint32_t add_cut(struct strtab *t, const char *s)
{
	char *cut = strndup(s, MAX_STRING_BYTES);
	uint32_t id = cut ? names_add(t, cut) : STRTAB_FAILED;
	free(cut);
	return id;
}

OTF2_StringRef otf2_string(struct otf2_defs *d, const char *s)
{
	uint32_t id = s && strlen(s) > MAX_STRING_BYTES ? add_cut(&d->strings, s)
							: names_add(&d->strings, s);
	if (id == STRTAB_FAILED)
		d->no_memory = true;
	return id;
}

void otf2_check_def(struct otf2_defs *d, OTF2_ErrorCode error)
{
	otf2_check(d->w, error, "definitions");
}

void otf2_tree_node(struct otf2_defs *d, uint32_t self, const char *name, const char *class,
		    uint32_t parent, OTF2_SystemTreeDomain domain)
{
	OTF2_StringRef name_ref = otf2_string(d, name), class_ref = otf2_string(d, class);
	if (!d->out)
		return;
	otf2_check_def(d, OTF2_GlobalDefWriter_WriteSystemTreeNode(d->out, self, name_ref,
								   class_ref, parent));
	otf2_check_def(d, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(d->out, self, domain));
}

void otf2_location_number(struct otf2_defs *d, uint32_t profile, const char *name, uint64_t number)
{
	OTF2_StringRef key = otf2_string(d, name);
	OTF2_AttributeValue value = {.uint64 = number};
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteLocationProperty(
					  d->out, profile, key, OTF2_TYPE_UINT64, value));
}

void otf2_location_text(struct otf2_defs *d, uint32_t profile, const char *name, const char *text)
{
	OTF2_StringRef key = otf2_string(d, name);
	OTF2_AttributeValue value = {.stringRef = otf2_string(d, text)};
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteLocationProperty(
					  d->out, profile, key, OTF2_TYPE_STRING, value));
}

void otf2_member(struct otf2_defs *d, uint32_t self, const char *name, const char *description,
		 OTF2_MetricType type, OTF2_MetricMode mode, OTF2_Type value, const char *unit)
{
	OTF2_StringRef name_ref = otf2_string(d, name),
		       description_ref = otf2_string(d, description),
		       unit_ref = otf2_string(d, unit);
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteMetricMember(
					  d->out, self, name_ref, description_ref, type, mode,
					  value, OTF2_BASE_DECIMAL, 0, unit_ref));
}

void otf2_process_name(const struct model_process *p, char *name, size_t n_bytes)
{
	int n;
	if (p->rank >= 0)
		n = snprintf(name, n_bytes,
			     p->exec_seq ? "MPI Rank %" PRId32 " (pid %" PRIu32 ".%" PRIu32 ")"
					 : "MPI Rank %" PRId32,
			     p->rank, p->pid, p->exec_seq);
	else
		n = snprintf(name, n_bytes,
			     p->exec_seq ? "Process %" PRIu32 ".%" PRIu32 : "Process %" PRIu32,
			     p->pid, p->exec_seq);
	if (p->role && n > 0 && (size_t)n < n_bytes)
		snprintf(name + n, n_bytes - (size_t)n, ", %s", p->role);
}
