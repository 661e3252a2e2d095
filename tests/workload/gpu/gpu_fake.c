/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays a program that uses a GPU which does not exist (gpu_fake_backend.c), in all the ways such
 * programs live and end. Usage: gpu_fake LIBRARY MODE [NUMBERS]; prints what it did as "name value"
 * lines. Driver: tests/cli/gpu/gpu_core.sh.
 */
#include "tests/workload/gpu/gpu_fake.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct fake_api *api;
static long number[4];

static void need(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "gpu_fake: %s\n", what);
	_exit(3);
}

/* Two paths to the same kernel, and one to another. Not inlined: the call path has these names. */
__attribute__((noinline)) static void launch_from_a(struct gpu_ticket *t)
{
	api->launch(MSR_GPU_KERNEL, 0, 0, t);
	__asm__ volatile("");
}

__attribute__((noinline)) static void launch_from_b(struct gpu_ticket *t)
{
	api->launch(MSR_GPU_KERNEL, 1, 0, t);
	__asm__ volatile("");
}

static void basic(long n)
{
	struct gpu_ticket t;
	for (long i = 0; i < n; i++) {
		launch_from_a(&t);
		api->done(&t, 0, 1000, 0);
		launch_from_b(&t);
		api->done(&t, 1, 2000, 0);
		api->launch(MSR_GPU_COPY, 0, 0, &t);
		api->done(&t, 0, 50, 4096);
	}
	printf("kernels %ld\ncopies %ld\n", 2 * n, n);
}

/* ---- threads --------------------------------------------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	struct gpu_ticket ticket[1 << 16];
	unsigned n, taken;
	bool over;
} pipe_line = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* As a vendor's own thread: it learns what is done. */
static void *collect(void *unused)
{
	(void)unused;
	for (bool over = false; !over;) {
		pthread_mutex_lock(&pipe_line.lock);
		over = pipe_line.over && pipe_line.taken == pipe_line.n;
		for (; pipe_line.taken < pipe_line.n; pipe_line.taken++)
			api->done(&pipe_line.ticket[pipe_line.taken % (1 << 16)],
				  pipe_line.taken & 1, 700, 0);
		pthread_mutex_unlock(&pipe_line.lock);
		usleep(100);
	}
	return NULL;
}

static void *launch_many(void *unused)
{
	(void)unused;
	for (long i = 0; i < number[1]; i++) {
		struct gpu_ticket t;
		launch_from_a(&t);
		pthread_mutex_lock(&pipe_line.lock);
		while (pipe_line.n - pipe_line.taken == 1 << 16) {
			pthread_mutex_unlock(&pipe_line.lock);
			usleep(50);
			pthread_mutex_lock(&pipe_line.lock);
		}
		pipe_line.ticket[pipe_line.n++ % (1 << 16)] = t;
		pthread_mutex_unlock(&pipe_line.lock);
	}
	return NULL;
}

static void *wait_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* number[0] threads launch number[1] kernels each; a thread of the vendor's delivers. One more is
 * cancelled. */
static void threads(void)
{
	pthread_t collector, launcher[64];
	const struct gpu_host *h = api->host();
	if (h)
		h->suspend(h);
	need(pthread_create(&collector, NULL, collect, NULL) == 0, "pthread_create");
	if (h)
		h->resume(h);
	for (long i = 0; i < number[0]; i++)
		need(pthread_create(&launcher[i], NULL, launch_many, NULL) == 0, "pthread_create");
	for (long i = 0; i < number[0]; i++)
		pthread_join(launcher[i], NULL);
	pthread_mutex_lock(&pipe_line.lock);
	pipe_line.over = true;
	pthread_mutex_unlock(&pipe_line.lock);
	pthread_join(collector, NULL);
	pthread_t cancelled;
	need(pthread_create(&cancelled, NULL, wait_for_ever, NULL) == 0 &&
		     pthread_cancel(cancelled) == 0,
	     "pthread_cancel");
	pthread_join(cancelled, NULL);
	/* not of the vendor's */
	need(!h || api->n_thread_ends() == number[0] + 1,
	     "the back end was not told of each thread that ended");
	printf("kernels %ld\n", number[0] * number[1]);
}

static void *launch_unseen(void *unused)
{
	struct gpu_ticket t;
	(void)unused;
	for (long i = 0; i < number[0]; i++) {
		launch_from_a(&t);
		api->done(&t, 0, 100, 0);
	}
	return NULL;
}

/* number[0] kernels from a thread that is not measured. */
static void unseen(void)
{
	pthread_t thread;
	const struct gpu_host *h = api->host();
	if (h)
		h->suspend(h);
	need(pthread_create(&thread, NULL, launch_unseen, NULL) == 0, "pthread_create");
	if (h)
		h->resume(h);
	pthread_join(thread, NULL);
}

/* ---- ids of the vendor's --------------------------------------------------------------------- */

/* number[0] kernels with 32-bit ids from number[1] on, delivered by id, in blocks, last first;
 * every tenth is a graph of three kernels. */
static void by_id(void)
{
	static _Atomic uint64_t widened;
	enum { BLOCK = 1000 };
	const struct gpu_host *h = api->host();
	uint64_t ids[BLOCK];
	uint32_t next = (uint32_t)number[1];
	long ops = 0, graphs = 0;
	for (long done = 0; done < number[0]; done += BLOCK) {
		for (int i = 0; i < BLOCK; i++) {
			struct gpu_ticket t;
			ids[i] = h ? h->widen(h, &widened, next++) : 1;
			api->launch(i % 10 == 9 ? MSR_GPU_GRAPH : MSR_GPU_KERNEL, 0, ids[i], &t);
		}
		for (int i = BLOCK; i-- > 0;) {
			int n = i % 10 == 9 ? 3 : 1;
			graphs += n == 3;
			ops += n;
			while (n--)
				api->done_by_id(ids[i], MSR_GPU_KERNEL, (unsigned)i, 900);
		}
	}
	printf("launches %ld\nops %ld\ngraphs %ld\nlast_id %llu\n", number[0], ops, graphs,
	       (unsigned long long)ids[BLOCK - 1]);
}

/* ---- processes ------------------------------------------------------------------------------- */

static void forks(void)
{
	struct gpu_ticket t;
	const struct gpu_host *h = api->host();
	uint32_t before = h ? h->generation(h) : 0;
	basic(number[0]);
	fflush(stdout);
	launch_from_a(&t); /* in flight at the fork */
	pid_t child = fork();
	if (child == 0) {
		need(!h || h->generation(h) != before, "the generation did not change");
		basic(number[1]);
		fflush(stdout);
		_exit(0);
	}
	int status;
	waitpid(child, &status, 0);
	need(status == 0, "the child failed");
	need(!h || h->generation(h) == before, "the generation of the parent changed");
	api->done(&t, 0, 10, 0);
	basic(number[0]);
}

static void *launch_for_ever(void *unused)
{
	struct gpu_ticket t;
	(void)unused;
	for (;;) {
		launch_from_b(&t);
		api->done(&t, 1, 30, 0);
	}
	return NULL;
}

/* number[0] threads launch while number[1] children are made, which launch and end; then the
 * process ends under the threads. */
static void storm(void)
{
	pthread_t thread;
	for (long i = 0; i < number[0]; i++)
		need(pthread_create(&thread, NULL, launch_for_ever, NULL) == 0, "pthread_create");
	for (long i = 0; i < number[1]; i++) {
		pid_t child = fork();
		if (child == 0) {
			struct gpu_ticket t;
			for (int j = 0; j < 20; j++) {
				launch_from_a(&t);
				if (j % 2)
					api->done(&t, 0, 5, 0);
				else
					api->leave(&t);
			}
			if (i % 2)
				exit(0);
			_exit(0);
		}
		int status = -1;
		waitpid(child, &status, 0);
		need(status == 0, "a child failed");
	}
	usleep(30000);
}

static void on_alarm(int sig)
{
	(void)sig;
	_exit(0);
}

/* number[0] kernels are left to the back end's last chance; then the process ends in the way
 * `how`. */
static void end(const char *how)
{
	struct gpu_ticket t;
	for (long i = 0; i < number[0]; i++) {
		launch_from_a(&t);
		api->leave(&t);
	}
	if (!strcmp(how, "exit"))
		exit(0);
	if (!strcmp(how, "_exit"))
		_exit(0);
	if (!strcmp(how, "quick_exit"))
		quick_exit(0);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "handler")) {
		signal(SIGALRM, on_alarm);
		raise(SIGALRM);
	}
	if (!strcmp(how, "exec"))
		execl("/bin/true", "true", (char *)NULL);
	if (!strcmp(how, "noexec")) {
		execl("/nowhere/at/all", "nowhere", (char *)NULL);
		need(api->n_ends() == 1, "an exec that failed did not ask the back end");
		basic(number[0]);
		exit(0);
	}
}

/* ---- one path again and again ---------------------------------------------------------------- */

/* A second table, as of another vendor's back end. */
static const struct gpu_host *other_host(void)
{
	gpu_host_fn *find;
	*(void **)&find = dlsym(RTLD_DEFAULT, GPU_HOST_SYMBOL);
	return find ? find("other", GPU_HOST_VERSION) : NULL;
}

/* Two back ends are told of launches by the same call, and only for one of them do frames of this
 * program say nothing. */
static void two_hosts(void)
{
	const struct gpu_host *const hosts[] = {api->host(), other_host()};
	need(hosts[0] && hosts[1], "there are not two tables");
	hosts[0]->entered(hosts[0], NULL, (const void *)(uintptr_t)two_hosts);
	for (long i = 0; i < 2 * number[0]; i++) {
		struct gpu_ticket t;
		hosts[i % 2]->launch(hosts[i % 2], &(struct gpu_launch){.kind = MSR_GPU_KERNEL},
				     &t);
	}
}

/* number[0] launches by one call, and as many again after something has happened: the process is
 * another, or more frames say nothing. */
static void again(const char *what)
{
	const struct gpu_host *h = api->host();
	pid_t child = -1;
	for (long i = 0; i < 2 * number[0]; i++) {
		struct gpu_ticket t;
		if (i == number[0] && !strcmp(what, "fork"))
			child = fork();
		if (i == number[0] && !strcmp(what, "entered"))
			h->entered(h, NULL, (const void *)(uintptr_t)again);
		api->launch(MSR_GPU_KERNEL, 0, 0, &t);
		api->done(&t, 0, 10, 0);
	}
	int status = 0;
	if (child > 0)
		waitpid(child, &status, 0);
	need(status == 0, "the child failed");
}

/* ---- measurement off and on ------------------------------------------------------------------ */

static void call(const char *name)
{
	void (*fn)(void);
	*(void **)&fn = dlsym(RTLD_DEFAULT, name);
	need(fn != NULL, name);
	fn();
}

static bool is_active(void)
{
	int (*fn)(void);
	*(void **)&fn = dlsym(RTLD_DEFAULT, "hpctoolkit_sampling_is_active");
	return fn && fn();
}

static sem_t may_start, has_started;
static unsigned n_switched[2];

static void *start_again(void *unused)
{
	sem_wait(&may_start);
	call("hpctoolkit_sampling_start");
	sem_post(&has_started);
	return unused;
}

/* Another thread starts it again while it is being stopped: it returns at once, and has said what
 * counts. */
static void on_switch(bool on)
{
	if (!on) {
		sem_post(&may_start);
		sem_wait(&has_started);
	}
	n_switched[on]++;
	errno = EDOM;
}

static void switched(void)
{
	pthread_t starter;
	const struct gpu_host *h = api->host();
	sem_init(&may_start, 0, 0);
	sem_init(&has_started, 0, 0);
	h->on_switch(h, on_switch);
	need(pthread_create(&starter, NULL, start_again, NULL) == 0, "pthread_create");
	errno = 4711;
	call("hpctoolkit_sampling_stop");
	need(errno == 4711, "errno is another");
	pthread_join(starter, NULL);
	need(n_switched[0] == 1 && n_switched[1] == 1 && is_active(),
	     "the last call does not count");
	basic(number[0]);
	h->on_switch(h, NULL);
	call("hpctoolkit_sampling_stop");
	need(!is_active(), "it is not off");
	basic(number[0]);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Launches for number[0] ms of CPU time, and little else: most samples arrive inside a launch. */
static void busy(void)
{
	struct timespec c;
	struct gpu_ticket t;
	long n = 0;
	do {
		for (int i = 0; i < 1000; i++, n++)
			launch_from_a(&t);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &c);
	} while (c.tv_sec * 1000 + c.tv_nsec / 1000000 < number[0]);
	printf("launches %ld\n", n);
}

static sigjmp_buf out;
static void jump(int sig)
{
	(void)sig;
	siglongjmp(out, 1);
}

/* A handler of the program jumps out of launches again and again. */
static void jumps(void)
{
	const struct itimerval often = {{0, 1500}, {0, 1500}}, never = {{0, 0}, {0, 0}};
	volatile long n_jumps = 0;
	struct sigaction action = {.sa_handler = jump};
	struct gpu_ticket t;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (n_jumps < number[0]) {
		if (sigsetjmp(out, 1))
			n_jumps++;
		for (;;)
			if (n_jumps < number[0])
				launch_from_a(&t);
			else
				break;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	basic(100);
	printf("jumps %ld\n", n_jumps);
}

static void leave(int sig)
{
	(void)sig;
	pthread_exit(NULL);
}

static void *launch_until_left(void *unused)
{
	struct gpu_ticket t;
	for (;;)
		launch_from_a(&t);
	return unused;
}

static void *launch_some(void *unused)
{
	basic(100);
	return unused;
}

/* number[0] threads that a handler of the program ends, one after the other, half of them at
 * their begin, half of them in launches, and one more, which takes the place of one. */
static void leaves(void)
{
	pthread_t thread;
	signal(SIGUSR1, leave);
	for (long i = 0; i < number[0]; i++) {
		need(pthread_create(&thread, NULL, launch_until_left, NULL) == 0, "pthread_create");
		usleep(i % 2 ? 2000 : 0);
		pthread_kill(thread, SIGUSR1);
		pthread_join(thread, NULL);
	}
	need(pthread_create(&thread, NULL, launch_some, NULL) == 0, "pthread_create");
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	need(argc >= 3, "usage: gpu_fake LIBRARY MODE [NUMBERS]");
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	api = library ? dlsym(library, FAKE_SYMBOL) : NULL;
	need(api != NULL, "the library cannot be loaded");
	const char *mode = argv[2];
	for (int i = 3; i < argc && i < 7; i++)
		number[i - 3] = atol(argv[i]);
	printf("measured %d\n", api->enter("fake"));
	if (!strcmp(mode, "basic"))
		basic(number[0]);
	else if (!strcmp(mode, "threads"))
		threads();
	else if (!strcmp(mode, "unseen"))
		unseen();
	else if (!strcmp(mode, "by_id"))
		by_id();
	else if (!strcmp(mode, "forks"))
		forks();
	else if (!strcmp(mode, "storm"))
		storm();
	else if (!strcmp(mode, "two_hosts"))
		two_hosts();
	else if (!strcmp(mode, "switched"))
		switched();
	else if (!strncmp(mode, "again:", 6))
		again(mode + 6);
	else if (!strcmp(mode, "busy"))
		busy();
	else if (!strcmp(mode, "jumps"))
		jumps();
	else if (!strcmp(mode, "leaves"))
		leaves();
	else if (!strncmp(mode, "end:", 4)) {
		fflush(stdout);
		end(mode + 4);
	} else
		need(false, "unknown mode");
	return 0;
}
