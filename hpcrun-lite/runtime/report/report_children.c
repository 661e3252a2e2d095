/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds the programs that could not be measured to the final report. hpcprof-lite knows more,
 * because it reads all files after all processes have ended. Not in handlers; no allocation. Test:
 * tests/cli/run/run_children.sh.
 */
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/report/report.h"

#include <string.h>

#define MOST_STARTS 1024u  /* processes whose CPU time we search for */
#define MOST_PROGRAMS 3u   /* programs that are named */
#define MOST_NAME 256u

struct start {
	uint32_t pid, program;
	uint64_t start_ns, before_ns;
	bool is_known;
};

struct program {
	char path[MOST_NAME];
	uint32_t reason;
	uint64_t n, n_known, cpu_ns;
};

static struct {
	struct start start[MOST_STARTS];
	struct program program[MOST_PROGRAMS + 1]; /* the last entry: all others */
	unsigned n_starts, n_programs;
} found;

static unsigned find_program(const char *path, uint32_t reason)
{
	unsigned i = 0;
	while (i < found.n_programs
		&& (found.program[i].reason != reason || strcmp(found.program[i].path, path) != 0))
		i++;
	if (i == found.n_programs && i < MOST_PROGRAMS) {
		memcpy(found.program[i].path, path, MOST_NAME);
		found.program[i].reason = reason;
		found.n_programs++;
	}
	return i;
}

static void add_start(int fd, const struct msr_unmeasured *u, uint64_t path_at)
{
	char path[MOST_NAME] = "";
	uint64_t n = u->path_bytes < MOST_NAME ? u->path_bytes : MOST_NAME - 1;
	if (!report_read_at(fd, path, n, path_at))
		return;
	unsigned program = find_program(path, u->reason);
	found.program[program].n++;
	if (found.n_starts < MOST_STARTS)
		found.start[found.n_starts++] =
			(struct start){u->pid, program, u->start_ns, u->cpu_before_ns, false};
}

static void read_starts(const struct report_place *p, void *unused)
{
	struct msr_extent e;
	struct msr_unmeasured u;
	(void)unused;
	for (uint64_t next = 0; report_next_extent(p, &next, &e);) {
		if (e.kind != MSR_UNMEASURED)
			continue;
		uint64_t at = next - e.length + sizeof e, end = at + e.used;
		for (; at + sizeof u <= end && report_read_at(p->fd, &u, sizeof u, at)
			&& u.bytes >= sizeof u;
			at += u.bytes)
			if (u.reason != MSR_UNMEASURED_VOID && u.pid)
				add_start(p->fd, &u, at + sizeof u);
	}
}

static void add_child(const struct msr_child *c)
{
	for (unsigned i = 0; i < found.n_starts; i++) {
		struct start *s = &found.start[i];
		if (s->pid != c->pid || s->is_known || s->start_ns > c->end_ns)
			continue;
		struct program *p = &found.program[s->program];
		s->is_known = true;
		p->n_known++;
		p->cpu_ns += c->cpu_ns > s->before_ns ? c->cpu_ns - s->before_ns : 0;
		return;
	}
}

static void read_waits(const struct report_place *p, void *unused)
{
	struct msr_extent e;
	struct msr_child c;
	(void)unused;
	for (uint64_t next = 0; report_next_extent(p, &next, &e);) {
		if (e.kind != MSR_CHILD || e.record_bytes != sizeof c)
			continue;
		uint64_t at = next - e.length + sizeof e, end = at + e.used;
		for (; at + sizeof c <= end && report_read_at(p->fd, &c, sizeof c, at);
		     at += sizeof c)
			add_child(&c);
	}
}

/* File names may contain anything, and this goes to a terminal. */
static void put_path(struct text *t, const char *path)
{
	for (; *path; path++)
		text_put_char(t, *path >= ' ' && *path <= '~' ? *path : '?');
}

static void put_program(struct text *t, const struct program *p)
{
	text_put(t, "hpcrun-lite: not measured: ");
	text_put_grouped(t, p->n);
	text_put(t, p->n == 1 ? " process of " : " processes of ");
	if (p->path[0]) {
		put_path(t, p->path);
		text_put(t, " (");
		text_put(t, msr_unmeasured_name(p->reason));
		text_put(t, "), ");
	} else {
		text_put(t, "other programs, ");
	}
	if (p->n_known) {
		text_put_fixed(t, p->cpu_ns / 10000000, 2);
		text_put(t, " s of CPU time");
	}
	if (p->n_known && p->n_known < p->n) {
		text_put(t, " and that of ");
		text_put_grouped(t, p->n - p->n_known);
		text_put(t, " not known");
	}
	text_put(t, p->n_known ? "\n" : "CPU time not known\n");
}

void report_put_unmeasured(struct text *t)
{
	report_each_process(true, read_starts, NULL);
	if (!found.n_starts)
		return;
	report_each_process(true, read_waits, NULL);
	for (unsigned i = 0; i <= MOST_PROGRAMS; i++)
		if (found.program[i].n)
			put_program(t, &found.program[i]);
}
