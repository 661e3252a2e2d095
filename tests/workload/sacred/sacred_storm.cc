/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Storms: what a program does at its wildest, over and over, while it is sampled at 10 kHz. Each
 * prints sums that do not depend on time; the output with a profiler must be that without, and
 * there must be no hang. Arguments: the name of a storm, a number of rounds and, for dlopen, a
 * library. Run by tests/cli/sacred/sacred_storm.sh.
 */
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace {

int rounds = 1000;
const char *library = "";

struct guard {
	long &count;
	explicit guard(long &c) : count(c) {}
	~guard() { count++; }
};

[[gnu::noinline]] long thrower(int depth, long &unwound)
{
	guard g(unwound);
	if (depth == 0)
		throw std::runtime_error("storm");
	return thrower(depth - 1, unwound) + 1;
}

void storm_throw()
{
	long caught = 0, unwound = 0;
	for (int i = 0; i < rounds; i++) {
		try {
			thrower(i % 40, unwound);
		} catch (const std::runtime_error &e) {
			caught += e.what()[0] == 's';
		}
	}
	printf("throw: %ld caught, %ld frames\n", caught, unwound);
}

void storm_malloc()
{
	std::vector<std::thread> threads;
	std::vector<uint64_t> sums(4);
	for (unsigned t = 0; t < 4; t++)
		threads.emplace_back([t, &sums] {
			std::vector<unsigned char *> blocks(64);
			uint64_t seed = t + 1;
			for (int i = 0; i < rounds; i++) {
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				unsigned char *&b = blocks[seed >> 58];
				free(b);
				size_t n = (seed >> 40) % (i % 50 ? 2000 : 400000) + 1;
				b = static_cast<unsigned char *>(malloc(n));
				b[0] = b[n - 1] = static_cast<unsigned char>(seed >> 33);
				sums[t] += b[n - 1];
			}
			for (unsigned char *b : blocks)
				free(b);
		});
	for (std::thread &t : threads)
		t.join();
	printf("malloc:");
	for (uint64_t s : sums)
		printf(" %llu", static_cast<unsigned long long>(s));
	putchar('\n');
}

void *short_thread(void *arg)
{
	volatile double x = 1;
	for (int i = 0; i < 20000; i++)
		x = x * 1.0000001;
	return arg;
}

void storm_threads()
{
	long joined = 0;
	for (int i = 0; i < rounds; i++) {
		pthread_t t[4];
		pthread_attr_t attr;
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, i % 2 ? 65536 : 1 << 20);
		for (long k = 0; k < 4; k++)
			if (pthread_create(&t[k], &attr, short_thread,
					   reinterpret_cast<void *>(k)) != 0)
				abort();
		for (pthread_t k : t) {
			void *result;
			pthread_join(k, &result);
			joined += reinterpret_cast<long>(result);
		}
		pthread_attr_destroy(&attr);
	}
	printf("threads: %ld\n", joined);
}

void storm_fork()
{
	volatile long sum = 0;
	std::thread other([] {
		for (int i = 0; i < rounds * 4; i++)
			free(malloc(1000));
	});
	for (int i = 0; i < rounds; i++) {
		pid_t child = i % 5 == 4 ? vfork() : fork();
		if (child == 0) {
			if (i % 5 != 4)
				short_thread(nullptr);
			_exit(i & 63);
		}
		int status;
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		sum = sum + (WIFEXITED(status) ? WEXITSTATUS(status) : 1000000);
	}
	other.join();
	printf("fork: %ld\n", static_cast<long>(sum));
}

void storm_dlopen()
{
	long sum = 0;
	std::thread other([] {
		for (int i = 0; i < rounds; i++)
			try {
				long unwound = 0;
				thrower(10, unwound);
			} catch (const std::exception &) {
			}
	});
	for (int i = 0; i < rounds; i++) {
		void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
		if (!handle) {
			printf("dlopen: %s\n", dlerror());
			break;
		}
		auto work = reinterpret_cast<long (*)(long)>(dlsym(handle, "sacred_work"));
		sum += work(i);
		dlclose(handle);
	}
	other.join();
	printf("dlopen: %ld\n", sum);
}

volatile sig_atomic_t n_signals;
sigjmp_buf out;

void count_signal(int)
{
	n_signals = n_signals + 1;
}

void jump_out(int)
{
	siglongjmp(out, 1);
}

void storm_signals()
{
	struct sigaction a = {};
	char stack[65536];
	stack_t alternate = {};
	alternate.ss_sp = stack;
	alternate.ss_size = sizeof stack;
	sigaltstack(&alternate, nullptr);
	a.sa_handler = count_signal;
	a.sa_flags = SA_ONSTACK;
	sigfillset(&a.sa_mask);
	sigaction(SIGUSR1, &a, nullptr);
	a.sa_handler = jump_out;
	a.sa_flags = 0;
	sigemptyset(&a.sa_mask);
	sigaction(SIGUSR2, &a, nullptr);
	volatile long jumps = 0;
	for (volatile int i = 0; i < rounds; i = i + 1) {
		raise(SIGUSR1);
		if (sigsetjmp(out, 1) == 0)
			raise(SIGUSR2);
		else
			jumps = jumps + 1;
	}
	alternate.ss_flags = SS_DISABLE;
	sigaltstack(&alternate, nullptr);
	printf("signals: %d handled, %ld jumps\n", n_signals, jumps);
}

/* The program samples itself by SIGPROF, and has a timer of its own besides. */
void storm_timers()
{
	struct sigaction a = {};
	a.sa_handler = count_signal;
	a.sa_flags = SA_RESTART;
	sigaction(SIGPROF, &a, nullptr);
	sigaction(SIGALRM, &a, nullptr);
	sigaction(SIGVTALRM, &a, nullptr);
	itimerval fast = {{0, 1000}, {0, 1000}};
	setitimer(ITIMER_PROF, &fast, nullptr);
	setitimer(ITIMER_VIRTUAL, &fast, nullptr);
	setitimer(ITIMER_REAL, &fast, nullptr);
	sigevent event = {};
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = SIGRTMIN;
	sigaction(SIGRTMIN, &a, nullptr);
	timer_t timer;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	itimerspec often = {{0, 700000}, {0, 700000}};
	timer_settime(timer, 0, &often, nullptr);
	while (n_signals < rounds)
		short_thread(nullptr);
	timer_delete(timer);
	itimerval off = {};
	setitimer(ITIMER_PROF, &off, nullptr);
	setitimer(ITIMER_VIRTUAL, &off, nullptr);
	setitimer(ITIMER_REAL, &off, nullptr);
	printf("timers: enough\n");
}

} // namespace

int main(int argc, char **argv)
{
	std::string name = argc > 1 ? argv[1] : "";
	if (argc > 2)
		rounds = atoi(argv[2]);
	if (argc > 3)
		library = argv[3];
	static const struct {
		const char *name;
		void (*run)();
	} storms[] = {{"throw", storm_throw},  {"malloc", storm_malloc}, {"threads", storm_threads},
		      {"fork", storm_fork},    {"dlopen", storm_dlopen}, {"signals", storm_signals},
		      {"timers", storm_timers}};
	for (const auto &s : storms)
		if (name == s.name) {
			s.run();
			return 11;
		}
	return 1;
}
