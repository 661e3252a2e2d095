// SPDX-License-Identifier: BSD-3-Clause
//
// A program whose call paths are known: tests/aarch64.sh and tests/cli/unwind/unwind_known.sh
// compare what was measured with them. Each kind of work spins in a function of its own: at the end
// of a recursion, where exceptions are caught, in two threads, below a frame of variable size, in a
// leaf that has nothing on the stack, in a handler without SA_SIGINFO, in a child of fork, and, if
// it was built with that, in a region of OpenMP and below frames whose size is the length of SVE's
// vectors; with "kernel", also in the vDSO, and in handlers of signals. Exit status 1 if a child or
// a handler did not do its work. usage: machine_paths ROUNDS [kernel]
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <pthread.h>
#include <stdexcept>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __ARM_FEATURE_SVE
#include <arm_sve.h>
#endif

#define APART extern "C" __attribute__((noinline))

static unsigned rounds;
static volatile unsigned sink;

// A leaf: it calls nothing, so its return address may stay in a register.
APART void spin_leaf(unsigned n)
{
	unsigned v = n;
	for (unsigned i = 0; i < n * 40; i++)
		v = v * 1664525 + 1013904223;
	sink = v;
}

APART void spin_deep(unsigned n)
{
	spin_leaf(n);
	sink = sink + 1;
}

APART unsigned recurse(unsigned depth)
{
	if (depth == 0)
		spin_deep(rounds);
	else
		sink = sink + recurse(depth - 1);
	return depth;
}

APART void throw_one(unsigned depth)
{
	if (depth == 0)
		throw std::runtime_error("known");
	throw_one(depth - 1);
	sink = sink + 1;
}

APART void spin_catch()
{
	for (unsigned i = 0; i < 20; i++) {
		try {
			throw_one(5);
		} catch (const std::runtime_error &) {
			spin_leaf(rounds / 20);
		}
	}
	sink = sink + 1;
}

APART void *spin_thread(void *)
{
	for (unsigned i = 0; i < 30; i++)
		spin_leaf(rounds);
	sink = sink + 1;
	return nullptr;
}

// The frame has variable size, so it is found by the frame pointer.
APART void spin_alloca(unsigned n)
{
	volatile char *bytes = static_cast<volatile char *>(__builtin_alloca(n));
	for (unsigned i = 0; i < n; i += 64)
		bytes[i] = 1;
	spin_leaf(rounds);
	sink = sink + static_cast<unsigned>(bytes[0]);
}

static volatile std::sig_atomic_t n_handled;

APART void spin_handler(int)
{
	spin_leaf(rounds);
	n_handled = n_handled + 1;
}

APART void spin_region()
{
#pragma omp parallel num_threads(2)
	{
		spin_leaf(rounds);
		sink = sink + 1;
	}
	sink = sink + 1;
}

#ifdef __ARM_FEATURE_SVE
// The vector is needed after the call, so it is in the frame.
APART svfloat64_t spin_vector(svfloat64_t v, unsigned depth)
{
	spin_leaf(rounds / 4);
	const svfloat64_t sum = depth ? spin_vector(v, depth - 1) : v;
	return svmul_f64_x(svptrue_b64(), sum, v);
}

APART void spin_vectors(unsigned n)
{
	volatile char *bytes = static_cast<volatile char *>(__builtin_alloca(n));
	bytes[0] = 1;
	const svfloat64_t v = svdup_f64(bytes[0]);
	sink = sink + static_cast<unsigned>(svaddv_f64(svptrue_b64(), spin_vector(v, 3)));
}
#else
APART void spin_vectors(unsigned)
{
}
#endif

APART bool spin_child()
{
	enum { STATUS = 3 };
	int status = 0;
	const pid_t child = fork();
	if (child == 0) {
		spin_leaf(rounds * 10);
		_exit(STATUS);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       WEXITSTATUS(status) == STATUS;
}

APART void spin_clock()
{
	struct timespec t;
	for (unsigned i = 0; i < rounds * 30; i++)
		clock_gettime(CLOCK_MONOTONIC, &t);
	sink = static_cast<unsigned>(t.tv_nsec);
}

APART void on_user(int)
{
	spin_leaf(rounds);
	sink = sink + 1;
}

APART void spin_raise()
{
	for (unsigned i = 0; i < 30; i++)
		raise(SIGUSR1);
	sink = sink + 1;
}

APART void on_alarm(int)
{
	spin_leaf(rounds / 10);
	sink = sink + 1;
}

// Handlers come at any instruction of the leaf, and at no multiple of the time between samples.
APART void spin_interrupted()
{
	struct itimerval often = {{0, 2310}, {0, 2310}}, never = {};
	setitimer(ITIMER_REAL, &often, nullptr);
	for (unsigned i = 0; i < 30; i++)
		spin_leaf(rounds);
	setitimer(ITIMER_REAL, &never, nullptr);
}

int main(int argc, char **argv)
{
	rounds = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 10000;
	pthread_t threads[2];
	if (std::signal(SIGUSR1, spin_handler) == SIG_ERR)
		return 1;
	for (pthread_t &t : threads)
		if (pthread_create(&t, nullptr, spin_thread, nullptr) != 0)
			return 1;
	for (unsigned i = 0; i < 30; i++) {
		recurse(i);
		spin_catch();
		spin_alloca(1000 + i * 100);
		spin_region();
		spin_vectors(100 + i * 16);
		std::raise(SIGUSR1);
	}
	if (!spin_child() || n_handled != 30)
		return 1;
	for (pthread_t &t : threads)
		pthread_join(t, nullptr);
	if (argc > 2) {
		signal(SIGUSR1, on_user);
		signal(SIGALRM, on_alarm);
		spin_clock();
		spin_raise();
		spin_interrupted();
	}
	return 0;
}
