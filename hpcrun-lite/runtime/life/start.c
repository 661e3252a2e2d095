/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start of the measured process. Must not exit or abort: on failure the program runs unmeasured
 * and the user gets a message. Tests: tests/cli/run/run_processes.sh, tests/cli/run/run_space.sh.
 */
#include "common/safe/clock.h"
#include "common/safe/fnv.h"
#include "common/safe/text.h"
#include "hpcrun-lite/runtime/code/keep.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/life/life.h"
#include "hpcrun-lite/runtime/life/parts.h"
#include "hpcrun-lite/runtime/life/process_record.h"
#include "hpcrun-lite/runtime/life/sources.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/records.h"
#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/runtime/say.h"
#include "hpcrun-lite/runtime/thread_record.h"
#include "hpcrun-lite/store/store.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/utsname.h>

struct life life WRITTEN_BY_FORKED;

void life_complain(const char *cause)
{
	char line[PATH_MAX + 256];
	struct text t = text_in(line, sizeof line);
	text_put(&t, "hpcrun-lite: ");
	text_put_foreign(&t, process.config.directory);
	text_put(&t, ": ");
	text_put_foreign(&t, cause);
	text_put(&t, "; process ");
	text_put_u64(&t, (uint64_t)sys_getpid());
	text_put(&t, " runs unmeasured\n");
	say(&t);
}

/* ---- the file ---- */

void life_describe(void)
{
	process_record_write();
	module_write_records();
}

/*
 * Completes the identity of a job that only its launcher knows, with our host and parent process.
 */
static void find_job(void)
{
	struct config_job *j = &process.config.spawned;
	if (j->id != CONFIG_JOB_UNKNOWN || j->pid)
		return;
	j->pid = (uint32_t)sys_call3(SYS_getppid, 0, 0, 0);
	j->host_id = fnv64(FNV64_START, process.host, strlen(process.host));
}

bool life_open_store(bool is_forked, const char **cause)
{
	const struct config *c = &process.config;
	bool continued = c->exec_pid == (uint32_t)process.pid;
	life.exec_seq = continued ? c->exec_seq : 0;
	life.process_start_ns =
		continued && c->process_start_ns ? c->process_start_ns : clock_mono_ns();
	const struct store_options options = {
		.directory = c->directory,
		.local = c->local,
		.leave_bytes = c->leave_bytes,
		.host = process.host,
		.rank = c->rank,
		.n_ranks = c->n_ranks,
		.pid = (unsigned)process.pid,
		.parent_pid = (unsigned)sys_call3(SYS_getppid, 0, 0, 0),
		.exec_seq = life.exec_seq,
		.job_host_id = c->spawned.host_id,
		.job_id = c->spawned.id,
		.job_pid = c->spawned.pid,
		.process_start_ns = life.process_start_ns,
		.max_bytes = c->max_bytes,
		.flags = (c->trace ? MSR_FLAG_TRACE : 0) |
			 (c->root_pid == (uint32_t)process.pid ? MSR_FLAG_ROOT : 0) |
			 (process.is_go ? MSR_FLAG_GO : 0) | (c->attached ? MSR_FLAG_ATTACHED : 0),
		.describe = life_describe,
	};
	if (!(is_forked ? store_open_forked(&options, cause) : store_open(&options, cause)))
		return false;
	records_start();
	return true;
}

void life_write_quota(void)
{
	struct msr_header *h = store_header();
	h->quota_ns = life.cgroup.quota_ns;
	h->quota_id = life.cgroup.id;
	h->throttled_start_ns = cgroup_throttled_ns(&life.cgroup);
}

/* ---- start ---- */

/* Maps a page that every fork clears, so that we notice a child made without fork(). */
static bool make_alive_page(void)
{
	long page =
		sys_mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_error(page))
		return false;
	process.alive = (_Atomic uint32_t *)page;
	sys_madvise((void *)page, 4096, MADV_WIPEONFORK);
	return true;
}

static void find_host(void)
{
	struct utsname u;
	const char *name = sys_call3(SYS_uname, (long)&u, 0, 0) == 0 && u.nodename[0] ? u.nodename
										      : "localhost";
	for (size_t i = 0; name[i] && i + 1 < sizeof process.host; i++)
		process.host[i] = name[i] == '/' ? '_' : name[i];
}

static void at_exit(int status, void *unused)
{
	(void)unused;
	runtime_end(MSR_EXIT_RETURN, status);
}

/* Once in a process: what its later measurements find as it is. */
static bool prepare(const char **cause)
{
	struct unwind_config unwind = {.module_of = module_of};
	process.pid = sys_getpid();
	find_host();
	if (!make_alive_page()) {
		*cause = "no memory";
		return false;
	}
	module_own_range(&unwind.skip_lo, &unwind.skip_hi);
	unwind_init(&unwind);
	return true;
}

static bool open_file(const char **cause)
{
	find_job();
	if (!life_open_store(false, cause))
		return false;
	cgroup_find("", &life.cgroup);
	life_write_quota();
	usage_read(&life.start);
	return true;
}

static bool choose_sources(const char **cause)
{
	static char source_cause[256];
	if (sources_choose(source_cause, sizeof source_cause))
		return thread_start_process(cause);
	*cause = source_cause[0] ? source_cause : "no event can be measured";
	return false;
}

static void describe(void)
{
	process_record_find_place();
	process_record_has_file();
	process_record_write();
	module_save_vdso(process.config.directory);
	keep_program();
}

static bool register_handlers(void)
{
	return pthread_atfork(life_before_fork, life_after_fork, life_forked) == 0 &&
	       on_exit(at_exit, NULL) == 0;
}

static bool start(const char **cause)
{
	if (!prepare(cause) || !open_file(cause))
		return false;
	EACH_PART(start);
	if (!choose_sources(cause))
		return false;
	process.is_go = unwind_is_go(getauxval(AT_ENTRY));
	if (process.is_go)
		store_header()->flags |= MSR_FLAG_GO;
	describe();
	if (!sample_install(module_program_is_split()) || !register_handlers()) {
		*cause = "a handler cannot be registered";
		return false;
	}
	return true;
}

static void go(void)
{
	atomic_store_explicit(process.alive, 1, memory_order_relaxed);
	process.measuring = true;
	runtime_hooks.measured();
	EACH_PART(measured);
}

void runtime_start(void)
{
	static bool started;
	extern char **environ;
	const char *cause = "no cause", *text;
	if (started)
		return;
	started = true;
	if (runtime_hooks.is_late())
		return; /* life_attach() starts it */
	say_start();
	process.start_ns = clock_mono_ns();
	text = runtime_hooks.find_config(environ);
	bool wanted = text && config_decode(text, &process.config);
	if (wanted)
		config_find_rank(&process.config, environ);
	runtime_hooks.start(text);
	if (!wanted) {
		if (text)
			life_complain("the environment is damaged or of another version of "
				      "hpcrun-lite");
		return;
	}
	if (!start(&cause)) {
		life_complain(cause);
		return;
	}
	go();
	thread_begin(sys_gettid() == process.pid, &(struct thread_room){0});
}

/* ---- a process that was running ---- */

static bool attach(bool is_again, const char **cause)
{
	process.ending = false;
	process.n_sources = 0;
	process.has_cputime = process.has_offcpu = false;
	memset(process.source, 0, sizeof process.source);
	memset(process.is_cputime, 0, sizeof process.is_cputime);
	if (is_again) {
		thread_forget_all();
		process.pid = sys_getpid();
		store_forget();
		thread_record_forked();
	}
	if ((!is_again && !prepare(cause)) || !open_file(cause))
		return false;
	thread_record_attach();
	if (is_again)
		EACH_PART(forked);
	EACH_PART(start);
	if (!choose_sources(cause))
		return false;
	process.is_go = unwind_is_go(getauxval(AT_ENTRY));
	store_header()->flags |= process.is_go ? MSR_FLAG_GO : 0;
	describe();
	if (is_again)
		module_write_records();
	runtime_unload_begins(NULL); /* what has gone while nobody looked */
	runtime_unload_ends();
	runtime_hooks.take_signal();
	if (!sample_install(module_program_is_split()) || (!is_again && !register_handlers())) {
		*cause = "a handler cannot be registered";
		return false;
	}
	if (!runtime_hooks.patch()) {
		runtime_hooks.give_back(false);
		*cause = "no memory";
		return false;
	}
	/* not before: another thread may be at the program's end */
	atomic_store_explicit(&life.ended, false, memory_order_relaxed);
	go();
	return true;
}

bool life_attach(const char *text, const char **cause)
{
	static bool is_again;
	extern char **environ;
	if (process.measuring) {
		*cause = "it is measured already";
		return false;
	}
	if (!config_decode(text, &process.config)) {
		*cause = "the library is of another version of hpcrun-lite";
		return false;
	}
	config_find_rank(&process.config, environ);
	process.config.root_pid = (uint32_t)sys_getpid(); /* the launcher may know another number */
	process.start_ns = clock_mono_ns();
	const bool done = attach(is_again, cause);
	is_again = true;
	if (!done && store_header()) {
		store_finish(true);
		store_close();
	}
	return done;
}

unsigned runtime_exec_seq(void)
{
	return life.exec_seq;
}

uint64_t runtime_process_start_ns(void)
{
	return life.process_start_ns;
}
