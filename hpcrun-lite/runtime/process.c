/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start, fork and end of the measured process. Must not exit or abort: on failure the program runs
 * on unmeasured, and the user is told. Tests: tests/cli/run/run_processes.sh,
 * tests/cli/run/run_space.sh.
 */
#include "hpcrun-lite/runtime/process.h"

#include "common/safe/cgroup.h"
#include "common/safe/clock.h"
#include "common/safe/fnv.h"
#include "common/safe/forked.h"
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "hpcrun-lite/gpu/core.h"
#include "hpcrun-lite/openmp/gomp_real.h"
#include "hpcrun-lite/openmp/ompt.h"
#include "hpcrun-lite/openmp/region_path.h"
#include "hpcrun-lite/openmp/region_sums.h"
#include "hpcrun-lite/python/python.h"
#include "hpcrun-lite/runtime/children.h"
#include "hpcrun-lite/runtime/control.h"
#include "hpcrun-lite/runtime/deliver/deliver.h"
#include "hpcrun-lite/runtime/file_fault.h"
#include "hpcrun-lite/runtime/gpu_glue.h"
#include "hpcrun-lite/runtime/mpi/mpi_glue.h"
#include "hpcrun-lite/runtime/phases/phase.h"
#include "hpcrun-lite/runtime/nvtx/nvtx_glue.h"
#include "hpcrun-lite/runtime/torch/torch_glue.h"
#include "hpcrun-lite/runtime/code/jit_code.h"
#include "hpcrun-lite/runtime/code/keep.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/records.h"
#include "hpcrun-lite/runtime/sample/sample_entry.h"
#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/runtime/report/report.h"
#include "hpcrun-lite/runtime/report/say.h"
#include "hpcrun-lite/runtime/signal_table.h"
#include "hpcrun-lite/runtime/unload.h"
#include "hpcrun-lite/runtime/waits/wait_object.h"
#include "hpcrun-lite/store/store.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

struct process process;

static struct {
	bool started;             /* runtime_start was called */
	_Atomic bool ended;       /* runtime_end has done its work */
	unsigned exec_seq;
	uint64_t process_start_ns;
	struct cgroup cgroup;     /* a forked child begins in that of its parent */
} life WRITTEN_BY_FORKED;

/* ---- start ---- */

static void complain(const char *cause)
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

/* What a child of fork has in common with its parent. */
static void describe(void)
{
	process_write_records();
	module_write_records();
}

/* The rest of what identifies a job of which only the launcher knows. */
static void find_job(void)
{
	struct config_job *j = &process.config.spawned;
	if (j->id != CONFIG_JOB_UNKNOWN || j->pid)
		return;
	j->pid = (uint32_t)sys_call3(SYS_getppid, 0, 0, 0);
	j->host_id = fnv64(FNV64_START, process.host, strlen(process.host));
}

static bool open_store(bool is_forked, const char **cause)
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
			 (process.is_go ? MSR_FLAG_GO : 0),
		.describe = describe,
	};
	return is_forked ? store_open_forked(&options, cause) : store_open(&options, cause);
}

/* A process that leaves its cgroup later is not followed. */
static void write_quota(void)
{
	struct msr_header *h = store_header();
	h->quota_ns = life.cgroup.quota_ns;
	h->quota_id = life.cgroup.id;
	h->throttled_start_ns = cgroup_throttled_ns(&life.cgroup);
}

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

static void before_fork(void);
static void after_fork(void);
static void forked(void);

static void at_exit(int status, void *unused)
{
	(void)unused;
	runtime_end(MSR_EXIT_RETURN, status);
}

/*
 * Tries for a moment: another thread that writes a record needs a microsecond, unless it was
 * preempted. Then this record is lost.
 */
static void *begin_python_record(enum msr_kind kind, size_t n_bytes)
{
	enum { TRIES = 200 };
	enum msr_loss cause = MSR_LOSS_BUSY;
	void *record = NULL;
	for (int i = 0; !record && cause == MSR_LOSS_BUSY && i < TRIES; i++)
		record = records_begin(kind, n_bytes, &cause);
	return record;
}

static void end_python_record(enum msr_kind kind, size_t n_bytes)
{
	records_end(kind, n_bytes);
}

static uint16_t add_python_module(void)
{
	return module_add_logical("[python]", MSR_MODULE_PYTHON);
}

static struct python_host python_host = {.begin_record = begin_python_record,
					 .end_record = end_python_record,
					 .module = add_python_module,
					 .note = runtime_note};

/*
 * The packed address of code in the process; 0 for our own: a region's function was called and has
 * made a tail call. Regions ask outside of handlers.
 */
static uint64_t packed_address(uintptr_t runtime_pc)
{
	struct dl_find_object object;
	uintptr_t bias = 0, lo, hi;
	uint16_t module = MSR_MODULE_UNKNOWN;
	module_own_range(&lo, &hi);
	if (runtime_pc >= lo && runtime_pc < hi)
		return 0;
	const bool bus = file_fault_open();
	if (_dl_find_object((void *)runtime_pc, &object) == 0)
		module = module_of(&object, &bias);
	file_fault_close(bus);
	return msr_addr_make(module, runtime_pc - bias, false);
}

struct region_thread *runtime_regions(void)
{
	struct thread *t = thread_self;
	return t && process.config.openmp && process_is_alive() ? &t->regions : NULL;
}

bool runtime_is_counting(void)
{
	return !atomic_load_explicit(&process.off, memory_order_relaxed);
}

static bool start(const char **cause)
{
	static char source_cause[256];
	struct unwind_config unwind = {.module_of = module_of};
	process.pid = sys_getpid();
	find_host();
	find_job();
	if (!make_alive_page()) {
		*cause = "no memory";
		return false;
	}
	if (!open_store(false, cause))
		return false;
	cgroup_find("", &life.cgroup);
	write_quota();
	control_start_process(process.config.delay);
	phase_start_process();
	records_start();
	module_own_range(&unwind.skip_lo, &unwind.skip_hi);
	unwind_init(&unwind);
	gomp_start(); /* the hooks need it even if regions are not measured */
	if (process.config.openmp)
		ompt_start();
	region_path_start(process.config.max_depth);
	region_sums_start(packed_address);
	python_host.names_modules = process.config.torch;
	if (process.config.python)
		python_init(&python_host);
	keep_start();
	module_start();
	unload_start();
	jit_start();
	if (!process_choose_sources(source_cause, sizeof source_cause)) {
		*cause = source_cause[0] ? source_cause : "no event can be measured";
		return false;
	}
	if (!thread_start_process(cause))
		return false;
	process.is_go = unwind_is_go(getauxval(AT_ENTRY));
	if (process.is_go)
		store_header()->flags |= MSR_FLAG_GO;
	process_find_place();
	process_has_file();
	process_write_records();
	module_save_vdso(process.config.directory);
	keep_program();
	if (!sample_install(module_program_is_split()) ||
	    pthread_atfork(before_fork, after_fork, forked) != 0 ||
	    on_exit(at_exit, NULL) != 0) {
		*cause = "a handler cannot be registered";
		return false;
	}
	return true;
}

void runtime_start(void)
{
	extern char **environ;
	const char *cause = "no cause", *text;
	if (life.started)
		return;
	life.started = true;
	say_start();
	process.start_ns = clock_mono_ns();
	text = runtime_hooks.find_config(environ);
	bool wanted = text && config_decode(text, &process.config);
	if (wanted)
		config_find_rank(&process.config, environ);
	runtime_hooks.start(text);
	if (!wanted) {
		if (text)
			complain("the environment is damaged or of another version of hpcrun-lite");
		return;
	}
	if (!start(&cause)) {
		complain(cause);
		return;
	}
	atomic_store_explicit(process.alive, 1, memory_order_relaxed);
	process.measuring = true;
	children_start(false);
	runtime_hooks.measured();
	gpu_glue_start();
	thread_begin(sys_gettid() == process.pid, &(struct thread_room){0});
}

/* ---- fork ---- */

static void before_fork(void)
{
	if (!process.measuring || !process_is_owner())
		return;
	const bool bus = file_fault_open();
	store_before_fork();
	if (store_fd() >= 0)
		process_has_file();
	file_fault_close(bus);
}

static void after_fork(void)
{
	store_after_fork();
}

/*
 * In the child, which has only this thread; no source signals it yet. The fork handlers of a
 * library whose constructor ran before ours run first. If they create a thread, hook_thread.c has
 * called this already.
 */
static void forked(void)
{
	const char *cause = "no cause";
	/* The process number first: a look at the page of `alive` costs a child a page fault. */
	const int pid = sys_getpid();
	if (!process.measuring || (pid == process.pid && process_is_alive()))
		return;
	process.pid = pid;
	process.start_ns = clock_mono_ns();
	atomic_store_explicit(&process.ending, false, memory_order_relaxed);
	atomic_store_explicit(&life.ended, false, memory_order_relaxed);
	if (store_is_damaged())
		atomic_store_explicit(&process.off, process.config.delay, memory_order_relaxed);
	store_forget();
	unwind_after_fork();
	runtime_hooks.forked();
	if (!open_store(true, &cause)) {
		process.measuring = false;
		complain(cause);
		return;
	}
	const bool was_brief = store_is_brief();
	write_quota();
	control_forked();
	phase_start_process();
	records_start();
	const bool is_as_in_file = process_find_place();
	wait_object_forked();
	children_start(true);
	if (process.config.n_gpus)
		gpu_glue_forked();
	if (process.config.mpi)
		mpi_glue_forked();
	if (process.config.nvtx)
		nvtx_glue_forked();
	if (process.config.torch)
		torch_glue_forked();
	module_forked();
	jit_forked();
	python_forked();
	process_restart_sources();
	if (!was_brief)
		describe();
	else if (!is_as_in_file)
		store_need_room(); /* which describes it */
	atomic_store_explicit(process.alive, 1, memory_order_relaxed);
	thread_forked();
	store_publish();
}

void runtime_fork_begins(void)
{
	const int saved = errno;
	before_fork();
	errno = saved;
}

void runtime_fork_ends(bool is_child)
{
	const int saved = errno;
	if (is_child)
		forked();
	else
		after_fork();
	errno = saved;
}

void process_check_fork(void)
{
	if (process.measuring && !process_is_alive())
		forked();
}

bool runtime_thread_comes(void)
{
	process_check_fork();
	runtime_need_file();
	return process_is_alive() && !gpu_glue_hides_threads();
}

void runtime_thread_begins(const struct thread_room *room)
{
	if (process_is_alive())
		thread_begin(false, room);
}

void runtime_unload_begins(void *code)
{
	const struct link_map *map = code ? unload_map_of((uintptr_t)code) : NULL;
	if (process_is_owner())
		keep_unloaded();
	unload_begins(process_is_alive() ? map : NULL);
	unwind_flush_begin();
}

void runtime_unload_ends(void)
{
	unload_ends();
	module_closed();
	region_modules_changed();
	unwind_flush_end();
}

/* ---- files ---- */

void runtime_name_goes(int directory, const char *path)
{
	if (process_is_alive() && path)
		keep_name(directory, path);
}

void runtime_descriptor_goes(int fd)
{
	if (process_is_alive())
		keep_descriptor(fd);
}

/* ---- end ---- */

/* `now_ns` is also the end of live threads. */
static void write_end(enum msr_exit_kind kind, int code, uint64_t now_ns)
{
	struct msr_header *h = store_header();
	h->exit_code = code;
	h->end_mono_ns = now_ns;
	h->end_real_ns = kind == MSR_EXIT_NONE ? 0 : clock_ns(CLOCK_REALTIME);
	h->exit_kind = kind;
}

/* Says what has happened to the file, if anything has. */
static __attribute__((noinline)) void say_file_failed(const char *path, const char *failure)
{
	char line[PATH_MAX + 256];
	struct text t = text_in(line, sizeof line);
	text_put(&t, "hpcrun-lite: ");
	text_put_foreign(&t, path);
	if (failure) {
		text_put(&t, ": the file system has failed (");
		text_put(&t, failure);
		text_put_char(&t, ')');
	} else
		text_put(&t, ": another process has shortened this file");
	text_put(&t, "; the measurement of process ");
	text_put_u64(&t, (uint64_t)process.pid);
	text_put(&t, store_is_damaged() ? " ended there\n" : " may not be on the disk\n");
	say(&t);
}

/* Most processes have nothing to say, and no page of the stack for it. */
static void say_damaged(void)
{
	const char *path = store_local_path()[0] ? store_local_path() : store_path();
	const char *const failure = store_failure(&path);
	if (failure || store_is_damaged())
		say_file_failed(path, failure);
}

static bool claim_end(void)
{
	return process_is_owner() &&
	       !atomic_exchange_explicit(&life.ended, true, memory_order_relaxed);
}

static void end(enum msr_exit_kind kind, int code, bool has_next)
{
	const bool bus = file_fault_open();
	/* before our own work, during which no sample comes */
	const uint64_t self_cpu_ns = clock_thread_cpu_ns(), self_now_ns = clock_mono_ns();
	if (thread_self)
		thread_sources_stop(thread_self);
	/* Sequential consistency: see enter() in sample.c. */
	atomic_store_explicit(&process.ending, true, memory_order_seq_cst);
	bool quiet = thread_all_outside();
	quiet = (!process.config.n_gpus || gpu_finish()) && quiet;
	children_finish();
	/*
	 * A file server that does not answer holds up the helper that copies, not us. Except in
	 * jit_keep(), which writes to the measurement directory.
	 */
	const bool is_local = store_local_path()[0];
	uint64_t now_ns = clock_mono_ns();
	/* before the clocks of threads, so that these are never behind it */
	store_header()->cpu_end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	store_header()->throttled_end_ns = cgroup_throttled_ns(&life.cgroup);
	thread_stamp_all(now_ns, self_now_ns, self_cpu_ns);
	thread_write_regions();
	call_path_report();
	sample_entry_report();
	write_end(kind, code, now_ns);
	jit_keep();
	module_read_contents();
	keep_sampled(true);
	if (store_is_damaged())
		say_damaged();
	else if (!has_next && !is_local)
		report_print(true);
	if (thread_self) {
		if (thread_self->cct)
			cct_trim(thread_self->cct);
		gpu_thread_trim(&thread_self->gpu);
		mpi_sums_trim(&thread_self->mpi);
		if (kind != MSR_EXIT_EXEC) /* if it fails, ranges go on */
			nvtx_glue_close(&thread_self->nvtx);
		nvtx_sums_trim(&thread_self->nvtx);
	}
	records_trim();
	store_finish(quiet);
	if (!store_is_damaged())
		say_damaged(); /* ext4 may say so only now */
	/* A measured next program has our file copied when it ends, but not an ancestor's. */
	if (is_local && kind == MSR_EXIT_EXEC &&
	    (store_fd() < 0 || store_left_path()[0] || !has_next)) {
		deliver_after_end();
		if (!has_next && !store_is_damaged())
			report_print(false);
	} else if (is_local && kind != MSR_EXIT_EXEC) {
		const bool answers = deliver_and_say();
		if (!store_is_damaged())
			report_print(answers);
	}
	file_fault_close(bus);
}

void runtime_end(enum msr_exit_kind kind, int code)
{
	if (!atomic_load_explicit(&life.ended, memory_order_relaxed))
		gpu_glue_at_end(false, false);
	if (!claim_end())
		return;
	if (kind != MSR_EXIT_WITHDRAWN) /* which blocks the signal */
		sample_check_signal(signal_table_mask(SIG_BLOCK, 0));
	end(kind, code, false);
}

void runtime_fatal_signal(int sig)
{
	const struct {
		uint64_t mono_ns, real_ns;
		uint32_t kind;
		int32_t code;
	} end = {clock_mono_ns(), clock_ns(CLOCK_REALTIME), MSR_EXIT_SIGNAL, sig};
	_Static_assert(offsetof(struct msr_header, exit_code) + 4
				- offsetof(struct msr_header, end_mono_ns)
			== sizeof end,
		"as in the header");
	if (!process_is_owner())
		return;
	if (store_fd() >= 0)
		sys_pwrite(store_fd(), &end, sizeof end, offsetof(struct msr_header, end_mono_ns));
	else if (store_header())
		memcpy(&store_header()->end_mono_ns, &end, sizeof end);
	store_publish();
	keep_sampled(false);
	deliver_after_end();
}

static void drain_signal(void)
{
	uint64_t set = UINT64_C(1) << (RUNTIME_SIGNAL - 1);
	const struct timespec zero = {0, 0};
	while (sys_call4(SYS_rt_sigtimedwait, (long)&set, 0, (long)&zero, sizeof set) ==
	       RUNTIME_SIGNAL)
		;
}

void runtime_withdraw(const char *why)
{
	if (!process_is_owner())
		return;
	runtime_note(why);
	runtime_hooks.withdrawn();
	if (thread_self)
		thread_sources_stop(thread_self);
	const uint64_t mask = signal_table_block_own();
	runtime_end(MSR_EXIT_WITHDRAWN, 0);
	drain_signal();
	process.measuring = false; /* signals of other threads do nothing from now on */
	signal_table_mask(SIG_SETMASK, mask);
}

void runtime_exec_begin(bool is_measured)
{
	if (!process.measuring)
		return;
	if (!atomic_load_explicit(&life.ended, memory_order_relaxed))
		gpu_glue_at_end(false, true);
	const uint64_t mask = signal_table_block_own();
	if (claim_end()) {
		sample_check_signal(0);
		end(MSR_EXIT_EXEC, 0, is_measured);
	}
	drain_signal();
	signal_table_mask(SIG_SETMASK, mask);
}

void runtime_exec_failed(void)
{
	struct msr_header *h = store_header();
	if (!process_is_owner() || !h || h->exit_kind != MSR_EXIT_EXEC)
		return;
	store_reopen();
	gpu_reopen();
	write_end(MSR_EXIT_NONE, 0, 0);
	h->cpu_end_ns = 0;
	deliver_stay();
	thread_unstamp_all();
	store_publish();
	atomic_store_explicit(&process.ending, false, memory_order_seq_cst);
	atomic_store_explicit(&life.ended, false, memory_order_relaxed);
	if (thread_self)
		thread_sources_start(thread_self);
	control_go_on();
}

/* ---- what hooks ask ---- */

unsigned runtime_exec_seq(void)
{
	return life.exec_seq;
}

bool runtime_is_owner(void)
{
	return process_is_owner();
}

const char *runtime_host(void)
{
	return process.host;
}

uint64_t runtime_process_start_ns(void)
{
	return life.process_start_ns;
}

bool runtime_mend_file(const void *address)
{
	if (!store_mend(address))
		return false;
	control_give_up();
	return true;
}

const struct config *runtime_config(void)
{
	return process.measuring ? &process.config : NULL;
}

bool runtime_owns_fd(int fd)
{
	return fd >= 0 && process_is_alive() && fd == store_fd();
}

int runtime_next_fd(int from)
{
	int fd = process_is_alive() ? store_fd() : -1;
	return fd >= from ? fd : -1;
}

bool runtime_move_fd(int fd)
{
	return !runtime_owns_fd(fd) || store_move_fd();
}

bool runtime_is_inside(void)
{
	return thread_self && atomic_load_explicit(&thread_self->in_handler, memory_order_relaxed);
}

void runtime_need_file(void)
{
	if (process_is_alive())
		store_own();
}

void runtime_count_loss(enum msr_loss cause)
{
	if (process_is_alive())
		store_count_loss(cause);
}
