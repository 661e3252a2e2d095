/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the report at the end of the process that the launcher started: one line, or a table with
 * -v, about it and the processes that it started. Not in handlers. Must not allocate: a program may
 * end with no memory left. Tests: tests/cli/run/run_processes.sh.
 */
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "hpcrun-lite/gpu/core.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/report/report.h"
#include "hpcrun-lite/runtime/say.h"
#include "hpcrun-lite/store/store.h"

#include <string.h>
#include <sys/stat.h>

static uint64_t lost_samples(const struct thread_totals *sum)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < MSR_N_LOSSES; i++)
		if (msr_loss_takes_sample((enum msr_loss)i))
			n += sum->losses[i];
	return n;
}

static uint64_t truncated_paths(const struct thread_totals *sum)
{
	uint64_t n = 0;
	for (unsigned i = MSR_END_ROOT + 1; i < MSR_N_PATH_ENDS; i++)
		n += i == MSR_END_GUESSED ? 0 : sum->path_ends[i];
	return n;
}

static void put_count(struct text *t, uint64_t n, const char *one, const char *many)
{
	text_put_grouped(t, n);
	text_put_char(t, ' ');
	text_put(t, n == 1 ? one : many);
}

/* Launch callbacks are not signal handlers, but their time is overhead, too. */
static void put_share(struct text *t, const struct thread_totals *sum, const struct gpu_sums *gpu)
{
	text_put_fixed(t, (sum->handler_ns + gpu->handler_ns) * 10 / (sum->cpu_ns / 1000 + 1), 2);
	text_put_char(t, '%');
}

/* Adds the losses of samples, or of other things. Returns true if there are any. */
static bool put_losses(struct text *t, const struct thread_totals *sum, bool of_samples,
		       const char *before, const char *between)
{
	bool any = false;
	for (unsigned i = 0; i < MSR_N_LOSSES; i++) {
		uint64_t n = sum->losses[i];
		if (n == 0 || i == MSR_LOSS_COALESCED ||
		    msr_loss_takes_sample((enum msr_loss)i) != of_samples)
			continue;
		text_put(t, any ? ", " : before);
		text_put(t, msr_loss_name((enum msr_loss)i));
		text_put(t, between);
		text_put_grouped(t, n);
		any = true;
	}
	return any;
}

/*
 * Only the first rank reports, and each rank whose measurement went wrong: the disk was full, or
 * more than one sample in a hundred was lost.
 */
static bool went_wrong(const struct thread_totals *sum, const struct gpu_sums *gpu)
{
	static const uint8_t causes[] = {MSR_LOSS_NO_SPACE, MSR_LOSS_FILE_LIMIT, MSR_LOSS_NO_MEMORY,
		MSR_LOSS_FORK, MSR_LOSS_THREAD_SETUP};
	for (size_t i = 0; i < sizeof causes; i++)
		if (sum->losses[causes[i]])
			return true;
	return lost_samples(sum) > sum->delivered / 100 || gpu_sums_lost(gpu) > gpu->launched / 100;
}

/* "rank 0 of 4: ": the line is about this rank only. */
static void put_rank(struct text *t)
{
	const struct config *c = &process.config;
	if (c->rank < 0 || c->n_ranks == 1)
		return;
	text_put(t, "rank ");
	text_put_u64(t, (uint64_t)c->rank);
	if (c->n_ranks > 0) {
		text_put(t, " of ");
		text_put_u64(t, (uint64_t)c->n_ranks);
	}
	text_put(t, ": ");
}

static void put_gpu_losses(struct text *t, const struct gpu_sums *gpu, const char *before,
			   const char *between)
{
	for (unsigned i = 0; i < MSR_N_GPU_LOSSES; i++)
		if (gpu->lost[i]) {
			text_put(t, before);
			text_put(t, msr_gpu_loss_name((enum msr_gpu_loss)i));
			text_put(t, between);
			text_put_grouped(t, gpu->lost[i]);
			before = ", ";
		}
}

/* "1,234 GPU operations (200 summed up), 3 lost (failed 3)" */
static void put_gpu(struct text *t, const struct gpu_sums *gpu)
{
	put_count(t, gpu->launched, "GPU operation", "GPU operations");
	if (gpu->aggregated) {
		text_put(t, " (");
		text_put_grouped(t, gpu->aggregated);
		text_put(t, " summed up)");
	}
	text_put(t, ", ");
	text_put_grouped(t, gpu_sums_lost(gpu));
	text_put(t, " lost");
	put_gpu_losses(t, gpu, " (", " ");
	if (gpu_sums_lost(gpu) || gpu->lost[MSR_GPU_LOSS_NO_PATH])
		text_put_char(t, ')');
}

/* CPU time without samples, with the names of hpcprof-lite's ledger. */
static void put_missing(struct text *t, const struct thread_totals *sum)
{
	const uint64_t missing_ns = sum->cpu_unseen_ns + sum->cpu_strange_ns;
	if (!missing_ns)
		return;
	text_put(t, ", ");
	text_put_fixed(t, missing_ns / 10000, 2);
	text_put(t, " ms of CPU time missing (");
	if (sum->cpu_unseen_ns)
		text_put(t, sum->cpu_strange_ns ? "without samples, and " : "without samples");
	if (sum->cpu_strange_ns)
		text_put(t, "in threads not seen to start");
	if (sum->cpu_strange_ns && process.config.n_gpus)
		text_put(t, ", the profiler's own too");
	text_put_char(t, ')');
}

static bool is_removed; /* the measurement file no longer exists */
static bool is_of_node; /* the file server does not answer */

/* As a shell takes it. A path with a quote is for people to quote. */
static void put_argument(struct text *t, const char *path)
{
	bool quotes = false;
	for (const char *c = path; *c; c++)
		quotes |= strchr(" \"$&()*;<>?[\\`|", *c) != NULL;
	quotes = quotes && !strchr(path, '\'');
	text_put(t, quotes ? "'" : "");
	text_put_foreign(t, path);
	text_put(t, quotes ? "'" : "");
}

/* The command that reads the measurement, if there is something to read. */
static void put_directory(struct text *t)
{
	text_put(t, is_removed ? "hpcrun-lite: " : "hpcrun-lite: read it with hpcprof-lite ");
	put_argument(t, process.config.directory);
	if (is_removed)
		text_put(t, ": the measurement file was removed while the program ran; its data is "
			    "lost");
	if (report_n_on_node()) {
		text_put(t, " (");
		put_count(t, report_n_on_node(), "file is", "files are");
		text_put(t, " still on this node; see hpcrun-lite --collect)");
	}
	if (report_is_apart() && !is_removed)
		text_put(t, " (it cannot be opened from here, so other processes are not counted)");
	if (is_of_node)
		text_put(t, " (files that were already copied are not counted)");
	text_put_char(t, '\n');
}

static void put_line(struct text *t, const struct thread_totals *sum, const struct gpu_sums *gpu,
		     uint64_t n_processes)
{
	uint64_t lost = lost_samples(sum);
	text_put(t, "hpcrun-lite: ");
	put_rank(t);
	if (report_is_cut())
		text_put(t, "more than ");
	if (n_processes > 1)
		put_count(t, n_processes, "process, ", "processes, ");
	put_count(t, sum->n_threads, "thread, ", "threads, ");
	put_count(t, sum->recorded, "sample, ", "samples, ");
	text_put_grouped(t, lost);
	text_put(t, " lost");
	text_put(t, put_losses(t, sum, true, " (", " ") ? "), " : ", ");
	if (put_losses(t, sum, false, "also ", " "))
		text_put(t, ", ");
	put_count(t, truncated_paths(sum), "truncated stack, ", "truncated stacks, ");
	if (sum->n_marked)
		put_count(t, sum->n_marked, "stack with a guessed frame, ",
			  "stacks with a guessed frame, ");
	put_share(t, sum, gpu);
	text_put(t, " of CPU time in handlers");
	if (process.config.n_gpus) {
		text_put(t, ", ");
		put_gpu(t, gpu);
	}
	put_missing(t, sum);
	text_put_char(t, '\n');
}

static void put_row(struct text *t, const char *name, uint64_t v)
{
	size_t start = t->n;
	text_put(t, "  ");
	text_put(t, name);
	do
		text_put_char(t, ' ');
	while (t->n < start + 44 && !t->cut);
	text_put_grouped(t, v);
	text_put_char(t, '\n');
}

static void put_backend(struct text *t, const struct config_gpu *asked,
			const struct msr_gpu_tally *tally)
{
	text_put(t, "  gpu=");
	text_put(t, asked->name);
	text_put(t, ": ");
	text_put_foreign(t, !tally               ? "not used by this process"
			    : tally->entrance[0] ? tally->entrance
						 : "entered");
	text_put_char(t, '\n');
}

static void put_gpu_table(struct text *t, const struct gpu_sums *gpu)
{
	for (unsigned i = 0; i < process.config.n_gpus; i++)
		put_backend(t, &process.config.gpu[i], gpu_tally(i, 0));
	put_row(t, "GPU operations launched", gpu->launched);
	put_row(t, "launches recorded", gpu->recorded);
	put_row(t, "launches summed up", gpu->aggregated);
	put_row(t, "GPU operations written", gpu->n_ops);
	put_gpu_losses(t, gpu, "  GPU operations lost: ", " ");
	if (gpu_sums_lost(gpu) || gpu->lost[MSR_GPU_LOSS_NO_PATH])
		text_put_char(t, '\n');
	if (gpu->n_bad_order)
		put_row(t, "GPU times out of order", gpu->n_bad_order);
	if (gpu->n_lost_pc)
		put_row(t, "PC samples lost", gpu->n_lost_pc);
	if (gpu->n_lost_values)
		put_row(t, "GPU counters, ranges or graph nodes lost", gpu->n_lost_values);
	if (gpu->n_lost_definitions + gpu->n_lost_contents)
		put_row(t, "GPU names or code objects lost",
			gpu->n_lost_definitions + gpu->n_lost_contents);
	put_row(t, "bytes of GPU records", gpu->record_bytes);
	put_row(t, "launch callbacks, us", gpu->handler_ns / 1000);
}

static void put_table(struct text *t, const struct thread_totals *sum, const struct gpu_sums *gpu,
		      uint64_t n_processes)
{
	text_put(t, "hpcrun-lite: ");
	put_rank(t);
	text_put(t, "measured:\n");
	put_row(t, "processes", n_processes);
	put_row(t, "threads", sum->n_threads);
	put_row(t, "samples delivered", sum->delivered);
	put_row(t, "samples recorded", sum->recorded);
	put_row(t, "expiries merged by the kernel", sum->losses[MSR_LOSS_COALESCED]);
	if (put_losses(t, sum, true, "  lost: ", " "))
		text_put_char(t, '\n');
	if (put_losses(t, sum, false, "  also: ", " "))
		text_put_char(t, '\n');
	put_row(t, "complete stacks", sum->path_ends[MSR_END_ROOT]);
	for (unsigned i = MSR_END_ROOT + 1; i < MSR_N_PATH_ENDS; i++)
		if (sum->path_ends[i] && i != MSR_END_GUESSED) {
			text_put(t, "  truncated: ");
			text_put(t, msr_path_end_name((enum msr_path_end)i));
			text_put(t, "   ");
			text_put_grouped(t, sum->path_ends[i]);
			text_put_char(t, '\n');
		}
	put_row(t, "complete, but with a guessed frame", sum->path_ends[MSR_END_GUESSED]);
	put_row(t, "all stacks with a guessed frame", sum->n_marked);
	put_row(t, "frames per stack, mean", sum->delivered ? sum->n_frames / sum->delivered : 0);
	put_row(t, "handler time, us", sum->handler_ns / 1000);
	text_put(t, "  share of the threads' time                ");
	put_share(t, sum, gpu);
	text_put_char(t, '\n');
	if (sum->cpu_unseen_ns)
		put_row(t, "CPU time without samples, us", sum->cpu_unseen_ns / 1000);
	if (sum->cpu_strange_ns)
		put_row(t, "CPU time in threads not seen to start, us",
			sum->cpu_strange_ns / 1000);
	if (process.config.n_gpus)
		put_gpu_table(t, gpu);
	if (report_n_kept())
		put_row(t, "binaries kept, as they may be gone soon", report_n_kept());
	put_row(t, "bytes of this process's file", store_bytes());
	text_put(t, "  file                                      ");
	text_put_foreign(t, store_path());
	text_put_char(t, '\n');
}

static bool is_gone(const char *path)
{
	return sys_access(path, 0 /* F_OK */) == -ENOENT;
}

/*
 * Asks the open file, because its name may be out of reach (chroot) or its directory may have been
 * renamed.
 */
static bool has_no_name(void)
{
	struct stat st;
	return sys_call3(SYS_fstat, store_fd(), (long)&st, 0) != 0 || st.st_nlink == 0;
}

void report_print(bool answers)
{
	static char buffer[16384];
	struct thread_totals sum;
	struct gpu_sums gpu = {0};
	const struct config *c = &process.config;
	if (c->say == CONFIG_QUIET || c->root_pid != (uint32_t)process.pid)
		return;
	struct text t = text_in(buffer, sizeof buffer);
	is_of_node = !answers;
	if (is_of_node)
		report_stay_on_node();
	is_removed = answers && has_no_name() && is_gone(store_path()) &&
		     (!store_local_path()[0] || is_gone(store_local_path()));
	thread_sum(&sum);
	sum.cpu_strange_ns = report_strange_ns(store_header(), &sum);
	for (unsigned i = 0; i < MSR_N_LOSSES; i++)
		sum.losses[i] += store_header()->losses[i];
	for (unsigned i = 0; i < c->n_gpus; i++)
		for (unsigned part = 0; part < GPU_N_TALLIES; part++)
			if (gpu_tally(i, part))
				gpu_sums_add(&gpu, gpu_tally(i, part));
	if (c->rank > 0 && !went_wrong(&sum, &gpu) && c->say != CONFIG_VERBOSE)
		return;
	uint64_t n_processes = 1 + report_add_others(&sum, &gpu);
	if (c->say == CONFIG_VERBOSE)
		put_table(&t, &sum, &gpu, n_processes);
	else
		put_line(&t, &sum, &gpu, n_processes);
	report_put_unmeasured(&t);
	if (c->rank <= 0 || is_removed)
		put_directory(&t);
	say(&t);
}
