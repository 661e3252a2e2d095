/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs jobs in processes; see jobs.h. The parent only forks, waits and decides what to try next. It
 * never reads a binary.
 */
#include "hpcstruct-lite/driver/jobs.h"

#include "common/base/log.h"
#include "common/base/mapfile.h"
#include "common/base/vec.h"
#include "common/format/measurement.h"
#include "common/format/structure.h"
#include "common/format/structure_cache.h"
#include "common/rights/inside.h"
#include "common/rights/rights.h"
#include "common/safe/content_hash.h"
#include "hpcstruct-lite/driver/analyse.h"
#include "hpcstruct-lite/driver/struct_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STUCK_CPU_SECONDS 300 /* without a unit done; an undamaged unit takes less than 30 s */
#define LOOK_CPU_SECONDS 30   /* to find out what is up to date */
#define POLL_MS 200
#define MOST_OVERTAKEN 4 /* how often a structure is made again because the cache has changed */

/* Exit codes of a worker process: enum status, or these. */
enum { EXIT_CHANGED = 50, EXIT_UP_TO_DATE = 51, EXIT_SKIPPED = 52 };

/* A worker process. */
struct running {
	pid_t pid;
	int life_fd;           /* end of file when the process is gone */
	struct job *job;
	struct analyse_progress *progress;
	uint64_t seen_done;
	double seen_cpu;       /* the process's CPU time when seen_done changed */
	unsigned n_workers;
};

struct manager {
	const struct jobs_options *options;
	struct tokens tokens;
	struct job *jobs;
	size_t n_jobs, n_started, n_ended;
	VEC(struct running) running;
	VEC(struct pollfd) polls;
};

static uint64_t content_of(const struct image *image)
{
	return image->build_id_bytes ? 0
				     : content_hash_bytes(image->file.bytes, image->file.n_bytes);
}

/*
 * Returns true if the image is the expected one. Equal files without a build id share one copy, so
 * their times may differ.
 */
static bool is_wanted(const struct job *job, const struct image *image, bool is_kept)
{
	if (job->build_id_bytes > 0)
		return image->build_id_bytes == job->build_id_bytes &&
		       memcmp(image->build_id, job->build_id, job->build_id_bytes) == 0;
	if (job->file_bytes > 0 || job->file_mtime_ns > 0)
		return image->file.n_bytes == job->file_bytes &&
		       (is_kept || image->file.mtime_ns == job->file_mtime_ns) &&
		       (!job->content || content_of(image) == job->content);
	return true;
}

/* Makes the key. Measurements before 1.7 do not record the content, so their key is without it. */
static void key_of(const struct job *job, const struct image *image, char key[STRUCTURE_KEY_BYTES])
{
	if (job->content_key)
		snprintf(key, STRUCTURE_KEY_BYTES, "%s", job->content_key);
	else
		structure_key(key, image->build_id, image->build_id_bytes, job->binary,
			      image->file.n_bytes,
			      job->file_bytes ? job->file_mtime_ns : image->file.mtime_ns,
			      job->file_bytes ? job->content : content_of(image));
}

/*
 * Finds the structure that an earlier analysis left in the cache, and copies it to job->out if that
 * is set.
 */
static bool take_older(const struct job *job, const char *cache_dir)
{
	char path[PATH_MAX], key[STRUCTURE_KEY_BYTES];
	struct structure_cache cache;
	if (structure_cache_list(cache_dir, &cache) != STATUS_OK)
		return false;
	structure_key(key, job->build_id, job->build_id_bytes, job->binary, job->file_bytes,
		      job->file_mtime_ns, job->content);
	bool found = structure_cache_find(&cache, key, job->binary, 0, path);
	structure_cache_free(&cache);
	if (!found || (job->out && !cache_copy(path, job->out, job->is_out_named, job->binary,
						 false)))
		return false;
	structure_cache_touch(path);
	return true;
}

/* Returns true if the binary is gone but its earlier structure still exists. */
static bool outlived(const struct job *job, const struct jobs_options *options)
{
	bool known = job->build_id_bytes > 0 || job->file_bytes > 0;
	if (!known || job->kept || !options->cache_dir || access(job->binary, F_OK) == 0 ||
		!take_older(job, options->cache_dir))
		return false;
	log_note(job->binary, "no such file any more; its structure from before is used");
	return true;
}

/* Used if the binary is not the one that ran: takes its earlier structure if there is one. */
static int use_older(const struct job *job, const struct jobs_options *options)
{
	if (job->has_beside || (job->out && access(job->out, R_OK) == 0) ||
		(options->cache_dir && take_older(job, options->cache_dir))) {
		log_note(job->binary, "changed since the run; its structure from before is used");
		return EXIT_UP_TO_DATE;
	}
	log_warn(job->binary,
		"structure missing: the file changed since the run (%s), and no structure of "
		"the one that ran was kept; its addresses stay without names",
		job->build_id_bytes ? "other build id" : "other size, time or content");
	return EXIT_CHANGED;
}

/* Returns how many addresses restrict the analysis; 0: analyse the whole binary. */
static size_t n_needed(const struct analysis *a, const struct job *job)
{
	return analyse_is_big(a) ? job->n_link_addrs : 0;
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/*
 * Reads the needed functions and those that earlier files have. So the files grow with the sampled
 * functions.
 */
static enum status read_needed(struct analysis *a, const struct job *job, const char *cached)
{
	struct cache_entries all = {0};
	size_t n = n_needed(a, job);
	uint64_t fingerprint = analyse_fingerprint(a, job->content_key),
		 *slot = n ? vec_extend(&all, n) : NULL;
	bool ok = n == 0 || slot;
	if (slot)
		memcpy(slot, job->link_addrs, n * sizeof *slot);
	if (n > 0 && *cached)
		ok = ok && cache_add_entries(cached, fingerprint, &all);
	if (n > 0 && job->out)
		ok = ok && cache_add_entries(job->out, fingerprint, &all);
	if (!ok)
		log_error(job->binary, "out of memory");
	if (all.n > 1)
		qsort(all.at, all.n, sizeof *all.at, compare_addresses);
	enum status status = ok ? analyse_read(a, all.at, all.n) : STATUS_NO_MEMORY;
	vec_free(&all);
	return status;
}

/* A new file replaces another by rename. Do not compare times, because each use changes them. */
static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size;
}

/*
 * Writes to a draft. *is_overtaken: another process has meanwhile put a file with other functions
 * into the cache.
 */
static enum status make_draft(struct analysis *a, const struct job *job, const char *cached,
			      struct cache_draft *draft, bool *is_overtaken)
{
	const char *out = job->out ? job->out : cached;
	struct stat before = {0}, now = {0};
	stat(cached, &before);
	enum status status = read_needed(a, job, cached);
	if (status == STATUS_OK)
		status = cache_draft_open(out, job->out && job->is_out_named, draft);
	if (status != STATUS_OK)
		return status;
	status = analyse_write(a, job->content_key, draft->fd, out);
	if (status != STATUS_OK)
		cache_draft_drop(draft);
	stat(cached, &now);
	*is_overtaken = n_needed(a, job) > 0 && !is_same_file(&before, &now);
	return status;
}

static enum status make(struct analysis *a, const struct job *job, const char *cached)
{
	struct cache_draft draft;
	const char *out = job->out ? job->out : cached;
	bool is_overtaken = false;
	enum status status = make_draft(a, job, cached, &draft, &is_overtaken);
	for (int i = 0; status == STATUS_OK && is_overtaken && i < MOST_OVERTAKEN; i++) {
		cache_draft_drop(&draft);
		status = make_draft(a, job, cached, &draft, &is_overtaken);
	}
	if (status != STATUS_OK)
		return status;
	status = cache_draft_keep(&draft, out);
	if (status == STATUS_OK && out != cached && *cached)
		cache_copy(out, cached, false, job->binary, true);
	return status;
}

static bool has_needed(const struct analysis *a, const struct job *job, const char *path)
{
	return cache_covers(path, analyse_image(a), job->link_addrs, n_needed(a, job));
}

/* Uses the file in the cache, or copies it to job->out. */
static bool use_cached(const struct analysis *a, const struct job *job, const char *cached,
		       uint64_t fingerprint, bool trusted)
{
	if (!*cached ||
	    !(trusted && !job->out ? cache_seems_current : cache_is_current)(cached, fingerprint) ||
	    !has_needed(a, job, cached) ||
	    (job->out &&
	     !cache_copy(cached, job->out, job->is_out_named, job->binary, true)))
		return false;
	structure_cache_touch(cached);
	return true;
}

/*
 * Opens the binary. The measurement that names it may belong to somebody else: root does not read a
 * file that the measurement's owner could not read. Returns -1 and sets errno on failure.
 */
static int open_binary(const struct job *job)
{
	struct stat st;
	mode_t mode;
	if (job->depth)
		return inside_open(job->binary, job->depth, &st);
	if (job->readers && geteuid() == 0 && access(job->binary, F_OK) == 0) {
		const int fd = rights_open(job->readers, job->binary, &st, &mode);
		errno = EPERM;
		return fd;
	}
	return open(job->binary, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* Opens the copy that the measurement has. */
static int open_kept(const struct job *job)
{
	struct stat st;
	const int fd = inside_open(job->kept, 2, &st);
	if (fd < 0)
		log_warn(job->kept, "%s", inside_cause(errno));
	else
		log_note(job->binary,
			 "is not there as it ran; the copy in the measurement is used");
	return fd;
}

/*
 * Opens the binary, or the measurement's copy of the one that ran (*is_kept). fd: the binary, or -1
 * with errno. Both get the binary's name, because debug files are searched for beside it.
 */
static enum status open_analysis(int fd, const struct job *job, const struct analyse_options *how,
				 struct analysis **a, bool *is_kept)
{
	*is_kept = fd < 0 && job->kept;
	if (*is_kept)
		return analyse_open(open_kept(job), job->binary, how, a);
	const enum status status = analyse_open(fd, job->binary, how, a);
	if (status != STATUS_OK || !job->kept || is_wanted(job, analyse_image(*a), false))
		return status;
	analyse_close(*a);
	*is_kept = true;
	return analyse_open(open_kept(job), job->binary, how, a);
}

/* Logs that the binary no longer exists anywhere. */
static int miss(const struct job *job, int cause)
{
	const char *why = job->module_flags & MSR_MODULE_TOO_LARGE
				  ? " and was not kept: a process keeps at most 64 MiB of binaries"
			  : job->module_flags & MSR_MODULE_NOT_KEPT
				  ? " and could not be copied into the measurement"
				  : "";
	if (cause == EPERM)
		log_warn(job->binary, "structure missing: the owner of the measurement may not "
				      "read this file; its addresses stay without names");
	else
		log_warn(job->binary,
			 "structure missing: the file is gone%s; its addresses stay without names "
			 "(see \"Binaries that are gone\" in troubleshooting.md)",
			 why);
	return EXIT_CHANGED;
}

/* Returns true, and logs it, if a GPU code object has a form that we cannot read. */
static bool is_foreign(const struct job *job)
{
	struct mapfile file;
	if (!job->content_key || access(job->binary, F_OK) != 0 ||
	    mapfile_take(open_binary(job), job->binary, &file) != STATUS_OK)
		return false;
	const char *form;
	bool foreign = image_is_foreign(job->binary, file.bytes, file.n_bytes, &form);
	if (foreign)
		log_note(job->binary, "%s: kernels in it keep their names, without lines",
			 form ? form : "code of unknown form");
	mapfile_close(&file);
	return foreign;
}

/* Finds the place of the structure in the cache; "" if there is none. */
static void find_place(char cached[PATH_MAX], const struct analysis *a, const struct job *job,
		       const struct jobs_options *options)
{
	char key[STRUCTURE_KEY_BYTES];
	cached[0] = '\0';
	key_of(job, analyse_image(a), key);
	if (options->cache_dir)
		structure_cache_path(cached, options->cache_dir, key,
				     analyse_cache_number(a, job->content_key), job->binary);
}

static bool is_up_to_date(const struct analysis *a, const struct job *job,
			  const struct jobs_options *options, const char *cached,
			  uint64_t fingerprint)
{
	return (job->out && cache_is_current(job->out, fingerprint) &&
		has_needed(a, job, job->out)) ||
	       use_cached(a, job, cached, fingerprint, options->trust_cache);
}

/* Runs a worker process. Returns its exit code. */
static int work(const struct job *job, const struct jobs_options *options,
		const struct analyse_options *how)
{
	struct analysis *a;
	if (is_foreign(job))
		return EXIT_SKIPPED;
	if (outlived(job, options))
		return EXIT_UP_TO_DATE;
	const int fd = open_binary(job);
	if (fd < 0 && !job->kept &&
	    (errno == EPERM || (errno == ENOENT && job->readers && !job->content_key)))
		return miss(job, errno);
	bool is_kept;
	enum status status = open_analysis(fd, job, how, &a, &is_kept);
	if (status != STATUS_OK)
		return status == STATUS_UNSUPPORTED && job->content_key ? EXIT_SKIPPED
									: (int)status;
	int code;
	char cached[PATH_MAX];
	uint64_t fingerprint = analyse_fingerprint(a, job->content_key);
	bool first_try = how->progress->n_skipped == 0 && !how->progress->without_dwarf;
	find_place(cached, a, job, options);
	if (!is_wanted(job, analyse_image(a), is_kept))
		code = use_older(job, options);
	else if (first_try && !options->force &&
		 is_up_to_date(a, job, options, cached, fingerprint))
		code = EXIT_UP_TO_DATE;
	else
		code = make(a, job, cached);
	analyse_close(a);
	return code;
}

/* ---- what is up to date already ---- */

static bool needs_nothing(const struct job *job, const struct jobs_options *options,
			  const struct analyse_options *how)
{
	struct analysis *a;
	char cached[PATH_MAX];
	bool is_kept;
	if (open_analysis(open_binary(job), job, how, &a, &is_kept) != STATUS_OK)
		return false;
	uint64_t fingerprint = analyse_fingerprint(a, job->content_key);
	find_place(cached, a, job, options);
	bool is_done = is_wanted(job, analyse_image(a), is_kept) &&
		       is_up_to_date(a, job, options, cached, fingerprint);
	analyse_close(a);
	return is_done;
}

/*
 * Runs the process that checks all binaries. If there is something to log about a binary, it leaves
 * that to the binary's own process.
 */
static _Noreturn void look_at_all(const struct manager *m, bool *is_done)
{
	struct analyse_progress *progress = calloc(1, sizeof *progress);
	const struct analyse_options how = {.debug_dirs = m->options->debug_dirs,
		.no_loops = m->options->no_loops,
		.n_workers = 1,
		.progress = progress};
	const struct rlimit cpu = {LOOK_CPU_SECONDS, LOOK_CPU_SECONDS}, no_core = {0, 0};
	int said = memfd_create("messages", MFD_CLOEXEC);
	if (!progress || said < 0 || dup2(said, STDERR_FILENO) < 0)
		_exit(1);
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &no_core);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < m->n_jobs; i++) {
		bool ok = needs_nothing(&m->jobs[i], m->options, &how);
		is_done[i] = ok && lseek(STDERR_FILENO, 0, SEEK_CUR) == 0;
		if (!ok && ftruncate(STDERR_FILENO, 0) == 0)
			lseek(STDERR_FILENO, 0, SEEK_SET);
	}
	_exit(0);
}

/*
 * Finds the jobs that have nothing to do, in one process for all. Mostly that is every job, and one
 * process for each would cost more than the rest. If a binary makes this process crash or loop, the
 * jobs after it are run without this check.
 */
static void find_up_to_date(struct manager *m)
{
	if (m->options->force || m->n_jobs < 2)
		return;
	bool *is_done =
		mmap(NULL, m->n_jobs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (is_done == MAP_FAILED)
		return;
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		look_at_all(m, is_done);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	for (size_t i = 0; i < m->n_jobs; i++)
		if (is_done[i])
			m->jobs[i].result = JOB_UP_TO_DATE;
	munmap(is_done, m->n_jobs);
}

/* ---- processes ---- */

static bool start(struct manager *m, struct job *job, struct analyse_progress *progress,
		  unsigned n_workers)
{
	int life[2];
	struct running *r = vec_push(&m->running);
	if (!r || pipe2(life, O_CLOEXEC) != 0)
		return false;
	for (int i = 0; i < ANALYSE_MAX_WORKERS; i++)
		atomic_store(&progress->unit[i], ANALYSE_NO_UNIT);
	atomic_store(&progress->n_done, 0);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		close(life[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		struct analyse_options how = {.debug_dirs = m->options->debug_dirs,
					      .no_loops = m->options->no_loops,
					      .n_workers = n_workers,
					      .tokens = &m->tokens,
					      .progress = progress};
		int code = work(job, m->options, &how);
		fflush(NULL);
		_exit(code);
	}
	close(life[1]);
	if (pid < 0) {
		close(life[0]);
		m->running.n--;
		return false;
	}
	*r = (struct running){.pid = pid,
			      .life_fd = life[0],
			      .job = job,
			      .progress = progress,
			      .n_workers = n_workers};
	return true;
}

/* Returns a unit that was being read, or ANALYSE_NO_UNIT; *n is how many were. */
static uint64_t unit_in_flight(const struct analyse_progress *p, unsigned *n)
{
	uint64_t unit = ANALYSE_NO_UNIT;
	*n = 0;
	for (int i = 0; i < ANALYSE_MAX_WORKERS; i++) {
		uint64_t u = atomic_load(&p->unit[i]);
		if (u != ANALYSE_NO_UNIT) {
			unit = u;
			++*n;
		}
	}
	return unit;
}

/*
 * Decides what the next try skips after a binary's process died. Returns false if nothing is left
 * to try.
 */
static bool plan_next_try(struct running *r, const char *how)
{
	struct analyse_progress *p = r->progress;
	unsigned n_in_flight;
	uint64_t unit = unit_in_flight(p, &n_in_flight);
	if (n_in_flight > 1) {
		r->n_workers = 1; /* one worker alone will show which unit it was */
		return true;
	}
	if (n_in_flight == 1 && p->n_skipped < ANALYSE_MAX_SKIPPED && !p->without_dwarf) {
		log_warn(r->job->binary,
			 "section .debug_info at offset 0x%llx: libdwarf %s there; the unit is "
			 "left out",
			 (unsigned long long)unit, how);
		p->skipped[p->n_skipped++] = unit;
		return true;
	}
	if (p->without_dwarf) {
		log_error(r->job->binary, "the analysis %s", how);
		return false;
	}
	log_warn(r->job->binary, "the analysis %s; tried again without debug information", how);
	p->without_dwarf = true;
	return true;
}

static void end_job(struct manager *m, struct job *job, struct analyse_progress *progress, int code)
{
	job->result = code == STATUS_OK         ? JOB_MADE
		      : code == EXIT_UP_TO_DATE ? JOB_UP_TO_DATE
		      : code == EXIT_CHANGED    ? JOB_CHANGED
		      : code == EXIT_SKIPPED    ? JOB_SKIPPED
						: JOB_FAILED;
	munmap(progress, sizeof *progress);
	m->n_ended++;
	tokens_give(&m->tokens);
}

static void describe(int status, bool was_stuck, char *text, size_t n_bytes)
{
	if (was_stuck)
		snprintf(text, n_bytes, "made no progress");
	else if (WIFSIGNALED(status))
		snprintf(text, n_bytes, "was ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(text, n_bytes, "ended with code %d", WEXITSTATUS(status));
}

/* Handles the end of a worker process. */
static void reap(struct manager *m, size_t index, bool was_stuck)
{
	struct running r = m->running.at[index];
	m->running.at[index] = m->running.at[--m->running.n];
	close(r.life_fd);
	int status = 0;
	while (waitpid(r.pid, &status, 0) < 0 && errno == EINTR)
		continue;
	bool orderly =
		WIFEXITED(status) &&
		(WEXITSTATUS(status) <= STATUS_USAGE ||
		 (WEXITSTATUS(status) >= EXIT_CHANGED && WEXITSTATUS(status) <= EXIT_SKIPPED));
	if (orderly) {
		end_job(m, r.job, r.progress, WEXITSTATUS(status));
		return;
	}
	for (uint32_t n = atomic_exchange(&r.progress->n_tokens, 0); n > 0; n--)
		tokens_give(&m->tokens); /* the tokens that the process still held */
	char how[128];
	describe(status, was_stuck, how, sizeof how);
	if (!plan_next_try(&r, how) || !start(m, r.job, r.progress, r.n_workers))
		end_job(m, r.job, r.progress, STATUS_BAD_INPUT);
}

static double cpu_seconds(pid_t pid)
{
	clockid_t clock;
	struct timespec t;
	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
		return 0;
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool is_stuck(struct running *r)
{
	uint64_t done = atomic_load(&r->progress->n_done);
	double cpu = cpu_seconds(r->pid);
	if (done != r->seen_done || r->seen_cpu == 0) {
		r->seen_done = done;
		r->seen_cpu = cpu;
	}
	return cpu - r->seen_cpu > STUCK_CPU_SECONDS * (double)r->n_workers;
}

/* Skips the jobs that are up to date, to the next job to start. */
static void pass_done(struct manager *m)
{
	for (; m->n_started < m->n_jobs && m->jobs[m->n_started].result == JOB_UP_TO_DATE;
	     m->n_started++)
		m->n_ended++;
}

static bool start_next(struct manager *m)
{
	struct analyse_progress *p =
		mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct job *job = &m->jobs[m->n_started++];
	pass_done(m);
	if (p != MAP_FAILED && start(m, job, p, m->options->n_at_once))
		return true;
	log_error(job->binary, "a process for it cannot be had: %s", strerror(errno));
	job->result = JOB_FAILED;
	m->n_ended++;
	if (p != MAP_FAILED)
		munmap(p, sizeof *p);
	return false;
}

static void show_progress(const struct manager *m)
{
	uint64_t done = 0, total = 0;
	for (size_t i = 0; i < m->running.n; i++) {
		done += atomic_load(&m->running.at[i].progress->n_done);
		total += atomic_load(&m->running.at[i].progress->n_units);
	}
	if (m->n_jobs > 1)
		log_progress("binaries", m->n_ended, m->n_jobs);
	else if (total > 0)
		log_progress("units", done, total);
}

/* Waits until a process ends, or until a token is free if there are more jobs to start. */
static bool wait_for_something(struct manager *m)
{
	vec_clear(&m->polls);
	struct pollfd *p = vec_extend(&m->polls, m->running.n + 1);
	if (!p)
		return false;
	for (size_t i = 0; i < m->running.n; i++)
		p[i] = (struct pollfd){m->running.at[i].life_fd, POLLIN, 0};
	p[m->running.n] =
		(struct pollfd){m->n_started < m->n_jobs ? m->tokens.read_fd : -1, POLLIN, 0};
	poll(p, m->running.n + 1, POLL_MS);
	for (size_t i = m->running.n; i-- > 0;) {
		bool stuck = !p[i].revents && is_stuck(&m->running.at[i]);
		if (stuck)
			kill(m->running.at[i].pid, SIGKILL);
		if (p[i].revents || stuck)
			reap(m, i, stuck);
	}
	return true;
}

enum status jobs_run(struct job *jobs, size_t n, const struct jobs_options *options)
{
	struct manager m = {.options = options, .jobs = jobs, .n_jobs = n};
	if (!tokens_make(&m.tokens, options->n_at_once)) {
		log_error(NULL, "no pipe can be had: %s", strerror(errno));
		return STATUS_IO;
	}
	bool ok = true;
	find_up_to_date(&m);
	pass_done(&m);
	while (ok && (m.n_started < n || m.running.n > 0)) {
		while (m.n_started < n && tokens_try(&m.tokens))
			if (!start_next(&m))
				tokens_give(&m.tokens);
		if (m.running.n > 0)
			ok = wait_for_something(&m);
		show_progress(&m);
	}
	log_progress(NULL, 0, 0);
	vec_free(&m.running);
	vec_free(&m.polls);
	tokens_destroy(&m.tokens);
	if (ok)
		return STATUS_OK;
	log_error(NULL, "out of memory");
	return STATUS_NO_MEMORY;
}
