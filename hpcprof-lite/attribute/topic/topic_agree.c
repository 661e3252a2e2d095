/* SPDX-License-Identifier: BSD-3-Clause */
/* See topic.h. Functions for parts that share the job. Test: tests/unit/prof_parts/test_parts.c. */
#include "hpcprof-lite/attribute/topic/topic.h"

#include "hpcprof-lite/parts/comm.h"

#include <stdlib.h>

bool topic_agree_on(const struct topic_run *r, bool ok, uint64_t (*hash)(const struct model *m))
{
	if (!r->comm)
		return ok;
	return comm_agree_on(r->comm, ok ? STATUS_OK : STATUS_NO_MEMORY, ok ? hash(r->m) : 0) ==
	       STATUS_OK;
}

bool topic_share_occurs(const struct topic_run *r, bool ok, bool *occurs, size_t n)
{
	int64_t *most = calloc(n, sizeof *most);
	for (size_t i = 0; most && i < n; i++)
		most[i] = occurs[i];
	ok = ok && most;
	if (r->comm)
		ok = comm_agree(r->comm, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
	if (r->comm && ok)
		comm_most(r->comm, most, n);
	for (size_t i = 0; ok && i < n; i++)
		occurs[i] = most[i];
	free(most);
	return ok;
}
