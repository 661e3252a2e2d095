/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of known kinds, each in a function of its own. Prints for each "<function> <ns>": the time
 * in the function in which its thread did not run, by the clocks that the program reads itself. And
 * how long it was ready without a processor, there and in the work on both sides, and before all.
 * Run by tests/cli/offcpu/offcpu_clock.sh.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<linux/io_uring.h>) /* Linux 5.1 */
#include <linux/io_uring.h>
#include <linux/time_types.h>
#define HAS_RING 1
#endif

extern char **environ;

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

NOINLINE static void work(uint64_t ns)
{
	const uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 1000; i++)
			;
}

/* How long the thread was ready without a processor; 0 where the kernel does not say. */
static uint64_t ready_ns(void)
{
	unsigned long long ns = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");
	if (!f || fscanf(f, "%*u %llu", &ns) != 1)
		ns = 0;
	if (f)
		fclose(f);
	return ns;
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* After the last call of a function: keeps the compiler from making it a jump. */
static void stay(void)
{
	__asm__ volatile("");
}

static int ends[2], sockets[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_changed;

/* Writes a byte to the descriptor after a while. */
static void *write_later(void *to)
{
	sleep_ms(250);
	(void)!write(*(int *)to, "x", 1);
	return NULL;
}

static void *change_later(void *arg)
{
	sleep_ms(250);
	pthread_mutex_lock(&mutex);
	is_changed = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
	return arg;
}

NOINLINE static void wait_sleep(void)
{
	sleep_ms(400);
	stay();
}

/* Shorter than the period of the samples. */
NOINLINE static void wait_short(void)
{
	for (int i = 0; i < 300; i++) {
		sleep_ms(1);
		work(300000);
	}
}

NOINLINE static void wait_poll(void)
{
	poll(NULL, 0, 300);
	stay();
}

NOINLINE static void wait_pipe(void)
{
	char byte;
	pthread_t t;
	pthread_create(&t, NULL, write_later, &ends[1]);
	(void)!read(ends[0], &byte, 1);
	pthread_join(t, NULL);
	stay();
}

static void *read_slowly(void *from)
{
	char page[4096];
	while (read(*(int *)from, page, sizeof page) > 0)
		sleep_ms(1);
	return NULL;
}

/* A signal ends each write after a part of the data. */
NOINLINE static void wait_full(void)
{
	static char data[1 << 20];
	int full[2];
	pthread_t t;
	if (pipe(full) != 0)
		return;
	pthread_create(&t, NULL, read_slowly, &full[0]);
	for (size_t n = 0; n < sizeof data;) {
		const ssize_t done = write(full[1], data + n, sizeof data - n);
		n += done > 0 ? (size_t)done : sizeof data;
	}
	close(full[1]);
	pthread_join(t, NULL);
	close(full[0]);
	stay();
}

NOINLINE static void wait_socket(void)
{
	char byte;
	pthread_t t;
	pthread_create(&t, NULL, write_later, &sockets[1]);
	(void)!recv(sockets[0], &byte, 1, 0);
	pthread_join(t, NULL);
	stay();
}

NOINLINE static void wait_condition(void)
{
	pthread_t t;
	pthread_create(&t, NULL, change_later, NULL);
	pthread_mutex_lock(&mutex);
	while (!is_changed)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(t, NULL);
	stay();
}

NOINLINE static void wait_child(void)
{
	const pid_t child = fork();
	if (child == 0) {
		execlp("sleep", "sleep", "0.3", (char *)NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
	stay();
}

/* The child sleeps before its exec. */
NOINLINE static void wait_vfork(void)
{
	const pid_t child = vfork();
	if (child == 0) {
		sleep_ms(300);
		execlp("true", "true", (char *)NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
	stay();
}

static char fifo[] = "offcpu.fifo.XXXXXX";

static void *open_later(void *arg)
{
	sleep_ms(250);
	close(open(fifo, O_WRONLY));
	return arg;
}

/* The child opens a FIFO before its exec. */
NOINLINE static void wait_spawn(void)
{
	static char name[] = "true";
	char *const argv[] = {name, NULL};
	posix_spawn_file_actions_t actions;
	pthread_t t;
	pid_t child;
	close(mkstemp(fifo));
	unlink(fifo);
	mkfifo(fifo, 0600);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, fifo, O_RDONLY, 0);
	pthread_create(&t, NULL, open_later, NULL);
	if (posix_spawnp(&child, "true", &actions, NULL, argv, environ) == 0)
		waitpid(child, NULL, 0);
	pthread_join(t, NULL);
	posix_spawn_file_actions_destroy(&actions);
	unlink(fifo);
	stay();
}

struct message {
	long type;
	char text[8];
};

static void *send_later(void *queue)
{
	const struct message message = {1, "x"};
	sleep_ms(250);
	msgsnd(*(int *)queue, &message, sizeof message.text, 0);
	return NULL;
}

NOINLINE static void wait_message(void)
{
	int queue = msgget(IPC_PRIVATE, 0600);
	struct message message;
	pthread_t t;
	pthread_create(&t, NULL, send_later, &queue);
	msgrcv(queue, &message, sizeof message.text, 0, 0);
	pthread_join(t, NULL);
	msgctl(queue, IPC_RMID, NULL);
	stay();
}

static void *send_posix_later(void *queue)
{
	sleep_ms(250);
	mq_send(*(mqd_t *)queue, "x", 1, 0);
	return NULL;
}

NOINLINE static void wait_posix_message(void)
{
	struct mq_attr form = {.mq_maxmsg = 1, .mq_msgsize = 8};
	char name[32], text[8];
	pthread_t t;
	snprintf(name, sizeof name, "/offcpu.%d", (int)getpid());
	mqd_t queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &form);
	mq_unlink(name);
	pthread_create(&t, NULL, send_posix_later, &queue);
	mq_receive(queue, text, sizeof text, NULL);
	pthread_join(t, NULL);
	mq_close(queue);
	stay();
}

static void *raise_later(void *set)
{
	sleep_ms(250);
	semop(*(int *)set, &(struct sembuf){.sem_op = 1}, 1);
	return NULL;
}

NOINLINE static void wait_semaphore(void)
{
	int set = semget(IPC_PRIVATE, 1, 0600);
	pthread_t t;
	pthread_create(&t, NULL, raise_later, &set);
	semop(set, &(struct sembuf){.sem_op = -1}, 1);
	pthread_join(t, NULL);
	semctl(set, 0, IPC_RMID);
	stay();
}

/* One operation that completes after 300 ms. A signal ends the first call early. */
NOINLINE static void wait_ring(void)
{
#ifdef HAS_RING
	struct io_uring_params form = {0};
	struct __kernel_timespec span = {0, 300000000};
	const int ring = (int)syscall(__NR_io_uring_setup, 1, &form);
	if (ring < 0)
		return; /* the kernel, or a container, has none */
	const size_t bytes = form.sq_off.array + sizeof(uint32_t);
	char *queue = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring,
			   IORING_OFF_SQ_RING);
	struct io_uring_sqe *entry = mmap(NULL, sizeof *entry, PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
	*entry = (struct io_uring_sqe){
		.opcode = IORING_OP_TIMEOUT, .fd = -1, .addr = (uintptr_t)&span, .len = 1};
	*(uint32_t *)(queue + form.sq_off.array) = 0;
	__atomic_store_n((uint32_t *)(queue + form.sq_off.tail), 1, __ATOMIC_RELEASE);
	syscall(__NR_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	syscall(__NR_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	munmap(queue, bytes);
	munmap(entry, sizeof *entry);
	close(ring);
#endif
	stay();
}

NOINLINE static void wait_signal(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigtimedwait(&set, NULL, &(struct timespec){0, 300000000});
	stay();
}

/* How long this takes, the disk decides. */
NOINLINE static void wait_disk(void)
{
	static char block[1 << 20];
	char name[] = "offcpu.XXXXXX";
	const int fd = mkstemp(name);
	unlink(name);
	for (int i = 0; fd >= 0 && i < 20; i++) {
		(void)!write(fd, block, sizeof block);
		fsync(fd);
	}
	close(fd);
	stay();
}

static const struct {
	const char *name;
	void (*run)(void);
} waits[] = {
	{"wait_sleep", wait_sleep},   {"wait_short", wait_short},
	{"wait_poll", wait_poll},     {"wait_pipe", wait_pipe},
	{"wait_socket", wait_socket}, {"wait_condition", wait_condition},
	{"wait_child", wait_child},   {"wait_signal", wait_signal},
	{"wait_full", wait_full},     {"wait_disk", wait_disk},
	{"wait_vfork", wait_vfork},   {"wait_spawn", wait_spawn},
	{"wait_message", wait_message},
	{"wait_posix_message", wait_posix_message},
	{"wait_semaphore", wait_semaphore},
	{"wait_ring", wait_ring},
};

int main(void)
{
	if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
		return 1;
	uint64_t before = ready_ns();
	printf("before_main 0 %llu\n", (unsigned long long)before);
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
		const uint64_t wall = now_ns(CLOCK_MONOTONIC),
			       cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
		waits[i].run();
		const uint64_t used = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu,
			       passed = now_ns(CLOCK_MONOTONIC) - wall;
		const uint64_t after = ready_ns();
		work(20000000); /* so that no debt goes from one to the next */
		printf("%s %llu %llu\n", waits[i].name,
		       (unsigned long long)(passed > used ? passed - used : 0),
		       (unsigned long long)(ready_ns() - before));
		before = after;
	}
	return 0;
}
