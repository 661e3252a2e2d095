/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpcrun-lite: checks the request, adds the run-time library and its configuration to the
 * environment, and becomes the program. There is no parent process, so process id, signals and exit
 * status are the program's own. It reports all errors that it can detect before the program starts.
 * Tests: tests/cli/launch/launch_*.sh.
 */
#include "common/base/log.h"
#include "common/base/options.h"
#include "common/base/standard_files.h"
#include "common/format/structure_cache.h"
#include "hpcrun-lite/config/config.h"
#include "hpcrun-lite/launch/attach_client.h"
#include "hpcrun-lite/launch/copy/collect.h"
#include "hpcrun-lite/launch/copy/follow.h"
#include "hpcrun-lite/launch/copy/follow_start.h"
#include "hpcrun-lite/launch/directory/job.h"
#include "hpcrun-lite/launch/directory/node_local.h"
#include "hpcrun-lite/launch/directory/rundir.h"
#include "hpcrun-lite/launch/event.h"
#include "hpcrun-lite/launch/gpu_client.h"
#include "hpcrun-lite/launch/list.h"
#include "hpcrun-lite/launch/papi_client.h"
#include "hpcrun-lite/launch/place.h"
#include "hpcrun-lite/launch/program.h"
#include "hpcrun-lite/replay/replay.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EXIT_NOT_EXECUTABLE 126 /* as in shells and env(1) */
#define EXIT_MISSING 127

struct request {
	struct config config;
	const char *directory; /* -o; NULL: the default */
	const char *local;     /* --local; NULL: only if needed */
	const char *collect;   /* --collect; NULL: run a program */
	bool list;
	int32_t attach, detach; /* --attach, --detach PID; 0: run a program */
	const char *attach_job; /* --attach-job; NULL: no job */
	uint32_t seconds;       /* --seconds; 0: until somebody ends it */
	const char *record;    /* NULL, or the option that asks the GPU back end for a recording */
};

/* ---- options ---- */

static enum status set_event(void *arg, const char *value)
{
	struct config *c = &((struct request *)arg)->config;
	struct config_event e;
	if (!strncmp(value, GPU_CLIENT_PREFIX, strlen(GPU_CLIENT_PREFIX)))
		return gpu_client_parse(value + strlen(GPU_CLIENT_PREFIX), c);
	if (!strcmp(value, "MPI")) {
		c->mpi = true;
		return STATUS_OK;
	}
	if (!strcmp(value, "NVTX")) {
		c->nvtx = true;
		return STATUS_OK;
	}
	enum status status = event_parse(value, &e);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < c->n_events; i++)
		if (!strcmp(c->event[i].name, e.name))
			return options_refuse("event '%s' is given twice", e.name);
	if (c->n_events == MSR_MAX_METRICS)
		return options_refuse("more than %u events", MSR_MAX_METRICS);
	c->event[c->n_events++] = e;
	return STATUS_OK;
}

static enum status set_record_gpu(void *arg, const char *value)
{
	(void)value;
	((struct request *)arg)->record = "record";
	return STATUS_OK;
}

static enum status set_quiet(void *arg, const char *value)
{
	(void)value;
	((struct request *)arg)->config.say = CONFIG_QUIET;
	log_set_quiet(true);
	return STATUS_OK;
}

static enum status set_verbose(void *arg, const char *value)
{
	(void)value;
	((struct request *)arg)->config.say = CONFIG_VERBOSE;
	log_set_verbose(true);
	return STATUS_OK;
}

static const struct option_spec specs[] = {
	{'e', "event", "EVENT[@HOW]",
	 "what to sample; may be repeated, up to 15 events; default: " EVENT_DEFAULT "\n"
	 "CPUTIME, REALTIME, OFFCPU: @N every N microseconds, @fN N times a second\n"
	 "CPUTIME[@HOW],perf or ,timer: only with the kernel's event, or with a timer\n"
	 "perf::PAGE-FAULTS, PAPI_TOT_CYC, ...: @N every N events\n"
	 "MPI: every call of MPI: times, bytes, late ranks\n"
	 "MEMORY: bytes allocated, live and leaked, a sample every @N bytes (524288; 1: all)\n"
	 "NVTX: ranges and marks of NVTX: times, values\n"
	 "gpu=opencl, gpu=nvidia: every operation of OpenCL devices, of NVIDIA GPUs\n"
	 "gpu=nvidia,pc[@EXP][,mode=MODE][,notimes]: also samples of instructions with stall "
	 "reasons, every 2^EXP cycles (5 to 31; default by device); MODE is continuous, "
	 "serialized or bursts[@N]\n"
	 "gpu=nvidia,energy: also joules of kernels\n"
	 "gpu=nvidia,counters=SET[+SET...][,replay-kernels]: also hardware counters of kernels, "
	 "which then run one at a time; sets: dram, l2, flops, tensor, roofline",
	 OPTION_CALL(set_event)},
	{'a', "attribution", "HOW",
	 "how to show Python in call paths: python, its functions and lines (the default), or "
	 "native, the C functions of the interpreter",
	 OPTION_CHOICE(struct request, config.python, "native, python")},
	{'o', "output", "DIR",
	 "measurement directory; default: "
	 "hpctoolkit-lite-<command>-measurements[-<job>], numbered if it exists",
	 OPTION_FILE(struct request, directory)},
	{0, "local", "DIR",
	 "keep the measurement in this directory of the node while the program runs; none: do "
	 "not; default: in $TMPDIR, /var/tmp or /dev/shm if -o is on a file server",
	 OPTION_TEXT(struct request, local)},
	{0, "collect", "DIR",
	 "copy what killed processes of this node have left there to the measurement directory "
	 "DIR; give --local again if the run had it; no command is run",
	 OPTION_TEXT(struct request, collect)},
#ifdef HAVE_ATTACH
	{0, "attach", "PID",
	 "measure a process that runs already, until it ends, --seconds are over, Ctrl-C or "
	 "--detach; no command is run",
	 OPTION_NUMBER(struct request, attach, 1, INT_MAX)},
	{0, "attach-job", "JOB",
	 "the same for all ranks on this node of a job: its id in Slurm, or the process id of "
	 "mpirun",
	 OPTION_TEXT(struct request, attach_job)},
	{0, "seconds", "N", "with --attach, --attach-job: measure for so long",
	 OPTION_NUMBER(struct request, seconds, 1, UINT32_MAX)},
	{0, "detach", "PID", "end the measurement of a process that --attach began",
	 OPTION_NUMBER(struct request, detach, 1, INT_MAX)},
#endif
	{'t', "trace", NULL, "record time lines (the default)",
	 OPTION_FLAG(struct request, config.trace, true)},
	{0, "no-trace", NULL, "do not record time lines",
	 OPTION_FLAG(struct request, config.trace, false)},
	{0, "no-openmp", NULL,
	 "leave parallel regions of OpenMP alone: their workers have call paths of their own",
	 OPTION_FLAG(struct request, config.openmp, false)},
	{0, "torch", NULL, "PyTorch: names of modules; backward below the forward line",
	 OPTION_FLAG(struct request, config.torch, true)},
	{0, "delay-sampling", NULL,
	 "measure nothing until the program calls hpctoolkit_sampling_start(); "
	 "-ds is the same",
	 OPTION_FLAG(struct request, config.delay, true)},
	{0, "gpu-memory", "SIZE",
	 "limit on the records of single GPU operations of a process; later operations "
	 "are summed up for each context; K, M, G; default 1G",
	 OPTION_SIZE(struct request, config.gpu_bytes)},
	{0, "record-gpu", NULL,
	 "also save the raw data of CUPTI and the driver, for hpcrun-lite replay; needs "
	 "-e gpu=nvidia; its option record[=SIZE] does the same with another limit than 1G",
	 OPTION_CALL(set_record_gpu)},
	{'L', "list-events", NULL,
	 "say what this machine can measure, what it lacks and which setting helps; list its "
	 "events",
	 OPTION_FLAG(struct request, list, true)},
	{'q', "quiet", NULL, "no report at the end", OPTION_CALL(set_quiet)},
	{'v', "verbose", NULL, "print more, now and in the report at the end",
	 OPTION_CALL(set_verbose)},
	{0, NULL, NULL, NULL, OPTION_CALL(NULL)},
};

#ifdef HAVE_ATTACH
#define ATTACH_SYNOPSIS                                                                       \
	"hpcrun-lite [options] --attach PID\n       hpcrun-lite [options] --attach-job JOB\n" \
	"       hpcrun-lite --detach PID\n       "
#else
#define ATTACH_SYNOPSIS
#endif

static const struct option_table table = {
	.program = "hpcrun-lite",
	.synopsis = "hpcrun-lite [options] [--] command [arguments]\n       hpcrun-lite -L\n      "
		    " " ATTACH_SYNOPSIS "hpcrun-lite [--local DIR] --collect DIR\n       "
		    "hpcrun-lite replay [options] RECORDING -o DIR",
	.about = "Runs the command and samples its call paths into a measurement directory; read "
		 "it with hpcprof-lite DIR.",
	.specs = specs,
	.footer = "Exit status: that of the command; 1 if it cannot be measured as requested, "
		  "2 for wrong usage, 126 if it cannot be executed, 127 if it is not found.",
};

/* Returns true if the option takes the next argument as its value. */
static bool takes_next(const char *option)
{
	for (const struct option_spec *s = specs; s->letter || s->name; s++)
		if (s->value_name &&
		    ((s->letter && option[1] == s->letter && !option[2]) ||
		     (s->name && !strncmp(option, "--", 2) && !strcmp(option + 2, s->name))))
			return true;
	return false;
}

/*
 * "hpcrun-lite ./app -e CPUTIME": the option is the program's. Says nothing if the program has an
 * option -e of its own, as perl does, whose value does not look like one of our events. The word
 * before the command is an option of ours, its value, our name or "--".
 */
static void hint_misplaced(char **command, int n_words)
{
	static const char *const begins[] = {"gpu=nvidia", "gpu=opencl", "perf::", "PAPI_"},
				 *const names[] = {"CPUTIME", "REALTIME", "OFFCPU",
						  "MPI",     "NVTX",     "MEMORY"};
	if (n_words < 3 || strcmp(command[-1], "--") == 0 || strcmp(command[1], "-e") != 0 ||
	    access(command[2], F_OK) == 0)
		return;
	const size_t n = strcspn(command[2], "@,");
	bool is_event = false;
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		is_event |= !strncmp(command[2], begins[i], strlen(begins[i]));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		is_event |= strlen(names[i]) == n && !strncmp(command[2], names[i], n);
	if (is_event)
		log_note(NULL,
			 "'-e %s' is passed to %s: options of hpcrun-lite come before the "
			 "command",
			 command[2], command[0]);
}

/* HPCToolkit's short form of --delay-sampling has two letters, which getopt does not know. */
static void expand_short_options(int argc, char **argv)
{
	static char delay[] = "--delay-sampling";
	for (int i = 1; i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--") != 0;
	     i++) {
		if (!strcmp(argv[i], "-ds"))
			argv[i] = delay;
		i += takes_next(argv[i]);
	}
}

/* ---- checks ---- */

/* If PAPI itself does not work, each of its events is refused, including mistyped names. */
static bool check_papi(struct config *c, const char *library_directory)
{
	char why[512], advice[256];
	uint32_t refused;
	if (papi_client_check(library_directory, c, &refused, why, sizeof why))
		return true;
	for (uint32_t i = 0; i < c->n_events; i++) {
		if (c->event[i].kind != CONFIG_PAPI || (refused < c->n_events && i != refused))
			continue;
		event_advice(c->event[i].name, advice, sizeof advice);
		log_error(c->event[i].name, "%s%s%s (-L lists what is available)",
			  refused < c->n_events ? "PAPI: " : "this would be a PAPI event, but ",
			  why, advice);
	}
	return false;
}

static enum status check_events(struct request *r, const char *library_directory)
{
	struct config *c = &r->config;
	enum status status = STATUS_OK;
	struct perf_refusal e;
	bool papi = false;
	/* NVTX ranges are not a metric, and a report needs one. */
	if (c->n_events == 0 && c->n_gpus == 0 && !c->mpi)
		status = set_event(r, EVENT_DEFAULT);
	for (uint32_t i = 0; i < c->n_events; i++) {
		papi |= c->event[i].kind == CONFIG_PAPI;
		const char *name = c->event[i].name;
		bool is_here = event_available(&c->event[i], &e);
		const char *and = e.cure[0] ? "; " : "";
		if (!is_here) {
			log_error(name, "%s%s%s (-L lists what is available)", e.why, and, e.cure);
			status = STATUS_UNSUPPORTED;
		} else if (e.why[0]) {
			log_note(name, "%s%s%s", e.why, and, e.cure);
		}
	}
	if (papi && !check_papi(c, library_directory))
		status = STATUS_UNSUPPORTED;
	if (!gpu_client_check(library_directory, c))
		status = STATUS_UNSUPPORTED;
	return status;
}

static int check_program(const char *command, struct program *p)
{
	static const int codes[] = {[PROGRAM_GOOD] = 0,
				    [PROGRAM_MISSING] = EXIT_MISSING,
				    [PROGRAM_NOT_EXECUTABLE] = EXIT_NOT_EXECUTABLE,
				    [PROGRAM_REFUSED] = 1};
	enum program_verdict v = program_find(command, getenv("PATH"), p);
	if (v != PROGRAM_GOOD)
		log_error(NULL, "%s", p->reason);
	return codes[v];
}

/* ---- execution of the program ---- */

/* Sets the directory in which the run time finds the structure of GPU code. */
static void find_cache(struct config *c)
{
	char dir[PATH_MAX], real[PATH_MAX];
	if (c->n_gpus > 0 && structure_cache_directory(dir) && realpath(dir, real) &&
	    strlen(real) < sizeof c->cache)
		snprintf(c->cache, sizeof c->cache, "%s", real);
}

static enum status set_environment(struct config *c)
{
	static char text[CONFIG_MAX_BYTES];
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	c->root_pid = c->exec_pid = (uint32_t)getpid();
	c->process_start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	clock_gettime(CLOCK_REALTIME, &now);
	c->since_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	struct stat st;
	if (stat("/", &st) == 0) {
		c->root_device = st.st_dev;
		c->root_inode = st.st_ino;
	}
	const char *others = getenv("LD_PRELOAD");
	size_t bytes = config_preload(c, others, NULL, 0) + 1;
	char *preload = malloc(bytes);
	if (!preload || !config_encode(c, text, sizeof text)) {
		free(preload);
		log_error(NULL, "the environment for the program is too large");
		return STATUS_NO_MEMORY;
	}
	config_preload(c, others, preload, bytes);
	bool set = setenv("LD_PRELOAD", preload, 1) == 0 && setenv(CONFIG_VARIABLE, text, 1) == 0;
	free(preload);
	return set ? STATUS_OK : STATUS_NO_MEMORY;
}

/*
 * A shell sets "_" to the path of the program that it starts. If that is our path, replaces it with
 * the program's.
 */
static void pass_own_path(const char *path)
{
	struct stat named, own;
	const char *given = getenv("_");
	if (given && stat(given, &named) == 0 && stat("/proc/self/exe", &own) == 0 &&
	    named.st_dev == own.st_dev && named.st_ino == own.st_ino)
		setenv("_", path, 1);
}

/*
 * If no file may grow (ulimit -f 0), neither our files nor our messages may kill us. The program
 * gets the signal action that we inherited.
 */
static struct sigaction limit_action;

static void outlive_limit(void)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigaction(SIGXFSZ, &ignore, &limit_action);
}

/* Returns only when the program could not be started. */
static int exec_program(const struct program *p, char **argv, int argc)
{
	extern char **environ;
	pass_own_path(p->path);
	sigaction(SIGXFSZ, &limit_action, NULL);
	if (p->by_shell) {
		char **with_shell = calloc((size_t)argc + 2, sizeof *with_shell);
		if (!with_shell)
			return 1;
		with_shell[0] = (char *)(uintptr_t)"/bin/sh";
		with_shell[1] = (char *)(uintptr_t)p->path;
		memcpy(with_shell + 2, argv + 1, (size_t)argc * sizeof *argv);
		execve("/bin/sh", with_shell, environ);
		free(with_shell);
	} else {
		execve(p->path, argv, environ);
	}
	int error = errno;
	outlive_limit();
	log_error(p->path, "%s", strerror(error));
	return error == ENOENT ? EXIT_MISSING : EXIT_NOT_EXECUTABLE;
}

static int run(struct request *r, char **argv, int argc)
{
	extern char **environ;
	char library_directory[PATH_MAX];
	struct config *c = &r->config;
	struct program program;
	struct job job;
	enum status status = place_find(c->library, sizeof c->library, library_directory,
					sizeof library_directory);
	if (status != STATUS_OK)
		return status_exit_code(status);
	job_find(environ, &job);
	if (job.rank > 0) { /* only the first rank prints notes */
		log_set_quiet(true);
		log_set_rank(job.rank);
	}
	hint_misplaced(argv, argc);
	int code = check_program(argv[0], &program);
	if (code != 0)
		return code;
	status = check_events(r, library_directory);
	if (status != STATUS_OK)
		return status_exit_code(status);
	snprintf(c->job, sizeof c->job, "%s", job.name);
	status = rundir_open(r->directory, argv[0], &job, c->directory, sizeof c->directory);
	find_cache(c);
	if (status == STATUS_OK)
		status = node_local_choose(r->local, c);
	if (status != STATUS_OK || set_environment(c) != STATUS_OK)
		return 1;
	log_detail(NULL, "measuring %s into %s%s%s", program.path, c->directory,
		   c->local[0] ? ", by way of " : "", c->local);
	follow_start(c);
	return exec_program(&program, argv, argc);
}

#ifdef HAVE_ATTACH
static int attach(struct request *r)
{
	char library_directory[PATH_MAX];
	struct config *c = &r->config;
	enum status status = place_find(c->library, sizeof c->library, library_directory,
					sizeof library_directory);
	if (status != STATUS_OK)
		return status_exit_code(status);
	if (r->detach)
		return attach_client_detach(library_directory, r->detach, c);
	const char *why = attach_client_why_not(c);
	if (why) {
		log_error("--attach", "%s", why);
		return 1;
	}
	if ((status = check_events(r, library_directory)) != STATUS_OK)
		return status_exit_code(status);
	return attach_client_attach(&(const struct attach_request){
		.config = c,
		.library_directory = library_directory,
		.directory = r->directory,
		.pid = r->attach,
		.job = r->attach_job,
		.seconds = r->seconds,
	});
}

static bool attaches_well(const struct request *r, bool has_command)
{
	return !has_command && !!r->attach + !!r->attach_job + !!r->detach == 1;
}
#endif

/* To measure a command named replay, write "./replay" or "-- replay". */
static int replay(int argc, char **argv)
{
#ifdef HAVE_REPLAY
	return replay_main(argc, argv);
#else
	(void)argc, (void)argv;
	log_error("replay", "hpctoolkit-lite was built without CUPTI, which replay needs; install "
			    "a CUDA toolkit (12.4 or later) and build again (configure "
			    "--with-cupti=DIR)");
	return 1;
#endif
}

int main(int argc, char **argv)
{
	static struct request r;
	char library[PATH_MAX], library_directory[PATH_MAX], place[PATH_MAX];
	const char *local = NULL;
	int first, done;
	standard_files_keep();
	log_set_program("hpcrun-lite");
	outlive_limit();
	if (argc > 1 && !strcmp(argv[1], "replay"))
		return replay(argc - 1, argv + 1);
	if (argc >= 4 && !strcmp(argv[1], CONFIG_COLLECT))
		return status_exit_code(collect_process(argv[2], argv[3], argv[4]));
	if (argc >= 6 && !strcmp(argv[1], FOLLOW_ARGUMENT))
		return status_exit_code(follow(&(struct follow_request){
			argv[2], argv[3], argv[4], argv[5], argv[6]}));
	config_defaults(&r.config);
	r.config.trace = true;
	r.config.say = CONFIG_NORMAL;
	expand_short_options(argc, argv);
	enum status status = options_parse(&table, argc, argv, 1, &r, &first, &done);
	if (status != STATUS_OK || done)
		return status_exit_code(status);
	if (r.list) {
		status = place_find(library, sizeof library, library_directory,
				    sizeof library_directory);
		if (status == STATUS_OK)
			list_events(library_directory);
		return status_exit_code(status);
	}
	if (r.collect && first < argc)
		return status_exit_code(options_refuse("--collect takes one directory"));
	if (r.collect && r.local && !(local = realpath(r.local, place))) {
		log_error(r.local, "%s", strerror(errno));
		return 1;
	}
	if (r.collect)
		return status_exit_code(collect_directory(r.collect, local));
#ifdef HAVE_ATTACH
	if (r.attach || r.attach_job || r.detach)
		return attaches_well(&r, first < argc)
			       ? attach(&r)
			       : status_exit_code(options_refuse("--attach, --attach-job and "
								 "--detach take one process or "
								 "job and no command"));
	if (r.seconds)
		return status_exit_code(options_refuse("--seconds goes with --attach"));
#endif
	if (r.record && (status = gpu_client_record(&r.config, r.record)) != STATUS_OK)
		return status_exit_code(status);
	if (first == argc)
		return status_exit_code(options_refuse("no command was given"));
	return run(&r, argv + first, argc - first);
}
