/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over the measurement files of the other processes of this rank, for the final report. They may still be written, cut and extended, so they are
 * read, never mapped. Not in handlers; no allocation. Tests: tests/cli/run_processes.sh.
 */
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/store/store.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define FILES_MAX_READS 200000u /* bounds the time: a job of thousands of processes is left to hpcprof-lite */

struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	uint16_t d_reclen;
	uint8_t d_type;
	char d_name[];
};

static unsigned n_reads;

static bool read_at(int fd, void *to, size_t n, uint64_t at)
{
	n_reads++;
	return sys_pread(fd, to, n, at) == (long)n;
}

static void add_file(struct thread_totals *sum, struct gpu_sums *gpu, int fd)
{
	struct msr_header header;
	struct msr_extent e;
	struct msr_thread record;
	struct msr_gpu_tally tally;
	if (!read_at(fd, &header, sizeof header, 0) || memcmp(header.magic, MSR_MAGIC, sizeof header.magic) != 0)
		return;
	for (unsigned i = 0; i < MSR_N_LOSSES; i++)
		sum->losses[i] += header.losses[i];
	/* The chain of extents; at a gap (a process was killed there) the rest is not counted. */
	for (uint64_t at = MSR_HEADER_BYTES; n_reads < FILES_MAX_READS && read_at(fd, &e, sizeof e, at); at += e.length) {
		if (e.magic != MSR_EXTENT_MAGIC || e.check != msr_extent_check(&e) || e.length < sizeof e)
			return;
		if (e.kind == MSR_THREAD && read_at(fd, &record, sizeof record, at + sizeof e))
			thread_add_record(sum, &record);
		if (e.kind == MSR_GPU_TALLY && e.record_bytes == sizeof tally && read_at(fd, &tally, sizeof tally, at + sizeof e))
			gpu_sums_add(gpu, &tally);
	}
}

/* Files of our rank: <rank>-..., as our own file's name begins. */
static bool is_other(const char *name, const char *own)
{
	size_t n = strlen(name), suffix = strlen(MSR_SUFFIX), prefix = strcspn(own, "-") + 1;
	return n > suffix && strcmp(name + n - suffix, MSR_SUFFIX) == 0 && strncmp(name, own, prefix) == 0 && strcmp(name, own) != 0;
}

uint64_t report_add_others(struct thread_totals *sum, struct gpu_sums *gpu)
{
	static _Alignas(8) char buffer[8192];
	static char path[PATH_MAX];
	const char *slash = strrchr(store_path(), '/');
	uint64_t n = 0;
	int directory = slash ? sys_open(process.config.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) : -1;
	for (long got; directory >= 0 && (got = sys_call3(SYS_getdents64, directory, (long)buffer, sizeof buffer)) > 0;)
		for (long at = 0; at < got;) {
			const struct linux_dirent64 *d = (const void *)(buffer + at);
			at += d->d_reclen;
			if (!is_other(d->d_name, slash + 1))
				continue;
			struct text t = text_in(path, sizeof path);
			text_put(&t, process.config.directory);
			text_put_char(&t, '/');
			text_put(&t, d->d_name);
			int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0); /* a FIFO may have the name */
			if (fd < 0)
				continue;
			n++;
			add_file(sum, gpu, fd);
			sys_close(fd);
		}
	if (directory >= 0)
		sys_close(directory);
	return n;
}
