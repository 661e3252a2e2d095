/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files: many small calls, calls that wait, and waits until data are on the disk. Doc:
 * doc/findings.md#files. Test: tests/unit/prof/test_findings_code.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include <stdlib.h>

/* Calls with fewer bytes cost more than the bytes. */
#define SMALL_BYTES 4096.0

enum kind { NO_FILE, TRANSFER, SYNC };

static enum kind kind_of_name(const char *function)
{
	static const char *const sync[] = {"fsync", "fdatasync", "sync_file_range", "msync",
					   "syncfs", "sync"},
				 *const transfer[] = {
					 "read",    "write",     "pread",      "pwrite",  "pread64",
					 "pwrite64", "readv",    "writev",     "preadv",  "pwritev",
					 "open",    "open64",    "openat",     "openat64", "close",
					 "lseek",   "lseek64",   "llseek",     "fstat",   "stat",
					 "unlink",  "rename",    "ftruncate64", "fallocate64",
					 "sendfile64", "copy_file_range"};
	static const char *const before[] = {"__GI_", "__libc_", "__"};
	for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
		if (strncmp(function, before[i], strlen(before[i])) == 0)
			function += strlen(before[i]);
	const char *end = strstr(function, "_nocancel");
	const size_t n = end ? (size_t)(end - function) : strlen(function);
	for (size_t i = 0; i < sizeof sync / sizeof sync[0]; i++)
		if (strlen(sync[i]) == n && strncmp(function, sync[i], n) == 0)
			return SYNC;
	for (size_t i = 0; i < sizeof transfer / sizeof transfer[0]; i++)
		if (strlen(transfer[i]) == n && strncmp(function, transfer[i], n) == 0)
			return TRANSFER;
	return NO_FILE;
}

/*
 * By the innermost function that has such a name, with only libc between. Below read() and so on,
 * libc has functions of its own, and often no names.
 */
static enum kind kind_of(const struct model *m, uint32_t context)
{
	for (uint32_t c = context; c != MODEL_NONE; c = m->contexts[c].parent) {
		const struct model_context *x = &m->contexts[c];
		if (x->kind != MODEL_CONTEXT_FUNCTION || m->functions[x->function].wait ||
		    x->module == MODEL_NONE)
			continue;
		const enum kind kind = kind_of_name(m->functions[x->function].name);
		if (kind != NO_FILE || x->module >= m->n_modules ||
		    m->modules[x->module].role != MODEL_MODULE_START)
			return kind;
	}
	return NO_FILE;
}

/* The time in files, running and blocked, as elapsed time; by context in `weights`. */
static double find_weights(const struct finding_run *r, enum kind kind, double *weights)
{
	const struct model *m = r->m;
	double sum = 0;
	for (uint32_t c = 1; c < m->n_contexts; c++) {
		const struct model_context *x = &m->contexts[c];
		const bool is_here = r->self[c] > 0 && (x->activity == MODEL_WORK ||
							x->activity == MODEL_BLOCKED_IO ||
							x->activity == MODEL_BLOCKED_OTHER);
		weights[c] = is_here && kind_of(m, c) == kind ? r->self[c] : 0;
		sum += weights[c];
	}
	return sum / r->lanes;
}

static bool add(struct finding_run *r, enum kind kind, double *weights, struct findings *to)
{
	const struct msr_usage *u = &r->usage;
	const double lost = find_weights(r, kind, weights), calls = (double)(u->reads + u->writes),
		     bytes = calls > 0 ? (double)(u->read_bytes + u->written_bytes) / calls : 0;
	const bool is_small = kind == TRANSFER && calls > 0 && bytes < SMALL_BYTES;
	struct finding f =
		kind == SYNC ? finding_begin("file-sync", "waits until data are on the disk",
					     "fsync less often: after many records instead of each")
		: is_small ? finding_begin("file-calls", "many small reads or writes",
					   "use a buffer (stdio, setvbuf), and move more at a time")
			   : finding_begin("files", "reads and writes of files",
					   "read ahead and write in the background; fewer bytes; a "
					   "faster file system");
	if (!finding_is_large(r, lost))
		return true;
	finding_fact(&f, "time in these calls", MODEL_SHARE, lost / r->elapsed);
	if (calls > 0 && kind == TRANSFER) {
		finding_fact(&f, "calls that read or wrote", MODEL_COUNT, calls);
		finding_fact(&f, "bytes of a call", MODEL_COUNT, bytes);
	}
	finding_places(r, &f, weights);
	const double left = is_small ? bytes / SMALL_BYTES : kind == SYNC ? 0.1 : 0.5;
	/* what prepares each call ends with it */
	const double high = is_small ? 1.1 * lost : lost;
	return finding_add(r, to, &f, lost, lost * (1 - left) / 2, lost * (1 - left), high);
}

bool rule_files(struct finding_run *r, struct findings *to)
{
	double *weights = finding_weights(r->m);
	if (!weights)
		return false;
	const bool ok = add(r, SYNC, weights, to) && add(r, TRANSFER, weights, to);
	free(weights);
	return ok;
}
