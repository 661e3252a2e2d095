/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over the measurement files of the other processes of this rank, for the final report. Other
 * processes may still write, truncate and extend these files, so they are read, never mapped. Not
 * in handlers; no allocation. Tests: tests/cli/run/run_processes.sh.
 */
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/report/report.h"
#include "hpcrun-lite/store/store.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

/* Limits the time; hpcprof-lite reads jobs of thousands of processes. */
#define FILES_MAX_READS 100000u
#define WINDOW_BYTES 65536u /* room for several forked children that have no file of their own */

static unsigned n_reads;
/* What was read last; fd is -1 if nothing. */
static struct {
	int fd;
	uint64_t at;
	size_t n;
	uint8_t bytes[WINDOW_BYTES];
} window = {.fd = -1};
static bool stays_on_node;
static uint64_t n_on_node; /* number of files at the last visit */

static bool is_apart;      /* the directory cannot be opened */

bool report_is_apart(void)
{
	return is_apart;
}

void report_stay_on_node(void)
{
	stays_on_node = true;
}

uint64_t report_n_on_node(void)
{
	return stays_on_node ? 0 : n_on_node;
}

bool report_read_at(int fd, void *to, size_t n, uint64_t at)
{
	const bool is_there = window.fd == fd && at >= window.at && at - window.at <= window.n &&
			      n <= window.n - (at - window.at);
	if (!is_there) {
		if (n > WINDOW_BYTES || n_reads >= FILES_MAX_READS)
			return false;
		n_reads++;
		const long got = sys_pread(fd, window.bytes, WINDOW_BYTES, at);
		window.fd = fd;
		window.at = at;
		window.n = got > 0 ? (size_t)got : 0;
		if (n > window.n)
			return false;
	}
	memcpy(to, window.bytes + (at - window.at), n);
	return true;
}

bool report_is_cut(void)
{
	return n_reads >= FILES_MAX_READS;
}

bool report_next_extent(const struct report_place *p, uint64_t *at, struct msr_extent *e)
{
	if (*at == 0)
		*at = p->start + p->header_bytes;
	/* After unused space or damage, the next extent starts on a page. */
	for (;; *at = (*at & ~UINT64_C(4095)) + 4096) {
		if (*at >= p->end || !report_read_at(p->fd, e, sizeof *e, *at))
			return false;
		if (e->magic == MSR_EXTENT_MAGIC && e->check == msr_extent_check(e) &&
		    e->length >= sizeof *e)
			break;
	}
	*at += e->length;
	return true;
}

uint64_t report_strange_ns(const struct msr_header *h, const struct thread_totals *sum)
{
	return h->cpu_end_ns > h->cpu_start_ns
		       ? msr_strange_cpu_ns(h->cpu_end_ns - h->cpu_start_ns, sum->cpu_known_ns,
					    sum->n_threads)
		       : 0;
}

static void add_totals(struct thread_totals *to, const struct thread_totals *from)
{
	uint64_t *word = (uint64_t *)to;
	for (unsigned i = 0; i < sizeof *to / sizeof *word; i++)
		word[i] += ((const uint64_t *)from)[i];
}

struct sums {
	struct thread_totals *thread;
	struct gpu_sums *gpu;
};

static void add_process(const struct report_place *p, void *arg)
{
	struct sums *sums = arg;
	struct msr_header header;
	struct msr_extent e;
	struct msr_thread record;
	struct msr_gpu_tally tally;
	struct thread_totals own = {0};
	if (!report_read_at(p->fd, &header, sizeof header, p->start))
		return;
	for (unsigned i = 0; i < MSR_N_LOSSES; i++)
		own.losses[i] += header.losses[i];
	for (uint64_t next = 0; report_next_extent(p, &next, &e);) {
		uint64_t content = next - e.length + sizeof e;
		if (e.kind == MSR_THREAD && report_read_at(p->fd, &record, sizeof record, content))
			thread_add_record(&own, &record);
		if (e.kind == MSR_GPU_TALLY && e.record_bytes == sizeof tally
			&& report_read_at(p->fd, &tally, sizeof tally, content))
			gpu_sums_add(sums->gpu, &tally);
	}
	own.cpu_strange_ns = report_strange_ns(&header, &own);
	add_totals(sums->thread, &own);
}

/* What a visit calls for each process, and how many it has found. */
struct visits {
	void (*visit)(const struct report_place *p, void *arg);
	void *arg;
	uint64_t n;
};

static bool is_process(int fd, uint64_t at)
{
	char magic[sizeof MSR_MAGIC];
	return report_read_at(fd, magic, sizeof magic, at) &&
	       memcmp(magic, MSR_MAGIC, sizeof magic) == 0;
}

static void visit(struct visits *v, const struct report_place *p)
{
	if (!is_process(p->fd, p->start))
		return;
	v->n++;
	v->visit(p, v->arg);
}

/*
 * Visits the process that made the file, unless `is_left_out`, and its forked children without
 * their own file.
 */
static void visit_file(struct visits *v, int fd, bool is_left_out)
{
	struct msr_extent e;
	const struct report_place all = {fd, 0, UINT64_MAX, MSR_HEADER_BYTES};
	if (!is_left_out)
		visit(v, &all);
	for (uint64_t next = 0; report_next_extent(&all, &next, &e);) {
		uint64_t content = next - e.length + sizeof e;
		struct msr_header h;
		if (e.kind == MSR_PROCESS && e.used >= MSR_BRIEF_BYTES &&
		    report_read_at(fd, &h, sizeof h, content))
			visit(v, &(struct report_place){fd, content, content + e.used,
							msr_first_extent(&h)});
	}
}

/* Opens a file on the node if it is still there, else in the measurement directory. */
static int open_file(const char *name)
{
	static char path[PATH_MAX];
	const char *const directories[] = {process.config.local,
					   stays_on_node ? "" : process.config.directory};
	int fd = -1;
	for (size_t i = 0; i < sizeof directories / sizeof *directories && fd < 0; i++) {
		if (!directories[i][0])
			continue;
		struct text t = text_in(path, sizeof path);
		text_put(&t, directories[i]);
		text_put_char(&t, '/');
		text_put(&t, name);
		/* it may be a FIFO */
		fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
		n_on_node += fd >= 0 && i == 0;
	}
	window.fd = -1; /* the number may have been another file's */
	return fd;
}

static int open_directory(const char *path)
{
	return sys_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

/*
 * Files of our rank begin with <rank>-, like our own. If we have no rank, as torchrun and mpirun,
 * we started the ranks, so all files count.
 */
static bool is_of_rank(const char *name, const char *own)
{
	size_t n = strlen(name), suffix = strlen(MSR_SUFFIX), prefix = strcspn(own, "-") + 1;
	return n > suffix && strcmp(name + n - suffix, MSR_SUFFIX) == 0 &&
	       (process.config.rank < 0 || strncmp(name, own, prefix) == 0);
}

uint64_t report_each_process(bool with_own, void (*fn)(const struct report_place *p, void *arg),
			     void *arg)
{
	static _Alignas(8) char buffer[8192];
	const char *slash = strrchr(store_path(), '/');
	struct visits v = {.visit = fn, .arg = arg};
	n_on_node = 0;
	int directory = slash && !stays_on_node ? open_directory(process.config.directory) : -1;
	if (slash && directory < 0 && process.config.local[0])
		directory = open_directory(process.config.local);
	for (long got; directory >= 0 && (got = sys_call3(SYS_getdents64, directory, (long)buffer,
							  sizeof buffer)) > 0;)
		for (long at = 0; at < got;) {
			const struct linux_dirent64 *d = (const void *)(buffer + at);
			at += d->d_reclen;
			bool is_own = strcmp(d->d_name, slash + 1) == 0;
			if (!is_of_rank(d->d_name, slash + 1))
				continue;
			int fd = open_file(d->d_name);
			if (fd < 0)
				continue;
			visit_file(&v, fd, is_own && !with_own);
			sys_close(fd);
		}
	if (directory >= 0)
		sys_close(directory);
	is_apart = directory < 0 && slash && !stays_on_node;
	if (directory < 0 && store_fd() >= 0)
		visit_file(&v, store_fd(), !with_own);
	return v.n - with_own;
}

uint64_t report_n_kept(void)
{
	static _Alignas(8) char buffer[4096];
	static char path[PATH_MAX];
	struct text t = text_in(path, sizeof path);
	text_put(&t, process.config.directory);
	text_put(&t, "/" MSR_KEPT_DIRECTORY);
	const int directory = t.cut || stays_on_node ? -1 : open_directory(path);
	uint64_t n = 0;
	for (long got; directory >= 0 && (got = sys_call3(SYS_getdents64, directory, (long)buffer,
							  sizeof buffer)) > 0;)
		for (long at = 0; at < got;) {
			const struct linux_dirent64 *d = (const void *)(buffer + at);
			at += d->d_reclen;
			n += d->d_name[0] != '.';
		}
	if (directory >= 0)
		sys_close(directory);
	return n;
}

uint64_t report_add_others(struct thread_totals *sum, struct gpu_sums *gpu)
{
	return report_each_process(false, add_process, &(struct sums){sum, gpu});
}
