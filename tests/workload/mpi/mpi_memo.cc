/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of MPI whose paths come again, in a random order: in threads, left by exceptions and
 * longjmp, on signal stacks and stacks of coroutines, and through libraries that take each other's
 * place. Prints the number of calls. Usage: mpi_memo ROUNDS LIBRARY LIBRARY
 */
#include <mpi.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <thread>
#include <ucontext.h>
#include <vector>

static thread_local unsigned long n_calls;
static thread_local MPI_Comm comm;
static thread_local unsigned long seed;
static thread_local jmp_buf out;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return (unsigned)(seed >> 33) % n;
}

static __attribute__((noinline)) void call()
{
	int x = 0, y = 0;
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm);
	n_calls++;
}

static __attribute__((noinline)) unsigned branch(unsigned depth)
{
	unsigned result = 1;
	if (depth == 0) {
		call();
		if (draw(8) == 0)
			longjmp(out, 1);
		if (draw(8) == 0)
			throw 1;
		return result;
	}
	switch (draw(3)) {
	case 0: result += branch(depth - 1); break;
	case 1: result += branch(depth - 1) * 2; break;
	default: {
		volatile char *room = (volatile char *)__builtin_alloca(64 + 64 * draw(2));
		room[0] = 1;
		result += branch(depth - 1) + (unsigned)room[0];
	}
	}
	return result;
}

static void climb(int rounds)
{
	for (volatile int i = 0; i < rounds; i++)
		if (setjmp(out) == 0) {
			try {
				branch(1 + draw(3));
			} catch (int) {
			}
		}
}

static void on_signal(int)
{
	call();
}

static void signals(int rounds)
{
	stack_t stack = {};
	stack.ss_size = 1 << 18;
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, nullptr);
	struct sigaction act = {};
	act.sa_handler = on_signal;
	for (int i = 0; i < rounds; i++) {
		act.sa_flags = i & 1 ? SA_ONSTACK : 0;
		sigaction(SIGUSR1, &act, nullptr);
		raise(SIGUSR1);
	}
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, nullptr);
	free(stack.ss_sp);
}

static ucontext_t here, there;

static void coroutine()
{
	for (;;) {
		call();
		swapcontext(&there, &here);
	}
}

static void coroutines(int rounds)
{
	std::vector<char> stack(1 << 18);
	getcontext(&there);
	there.uc_stack.ss_sp = stack.data();
	there.uc_stack.ss_size = stack.size();
	makecontext(&there, coroutine, 0);
	for (int i = 0; i < rounds; i++)
		swapcontext(&here, &there);
}

/* Each is mapped where the other was. */
static void libraries(int rounds, char **names)
{
	for (int i = 0; i < rounds; i++) {
		void *library = dlopen(names[i & 1], RTLD_NOW);
		auto through = library ? (void (*)(void (*)()))dlsym(library, "through") : nullptr;
		for (int k = 0; through && k < 4; k++)
			through(call);
		if (library)
			dlclose(library);
	}
}

int main(int argc, char **argv)
{
	int level, rounds = argc > 3 ? atoi(argv[1]) : 0;
	unsigned long sum[3] = {};
	std::vector<std::thread> threads;
	MPI_Comm comms[3];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	for (unsigned i = 0; i < 3; i++)
		MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
	for (unsigned i = 0; i < 3; i++)
		threads.emplace_back([&, i] {
			comm = comms[i];
			seed = i;
			climb(rounds);
			sum[i] = n_calls;
		});
	climb(rounds);
	for (auto &t : threads)
		t.join();
	signals(rounds / 100);
	coroutines(rounds / 100);
	libraries(rounds / 100, argv + 2);
	printf("%lu\n", n_calls + sum[0] + sum[1] + sum[2]);
	MPI_Finalize();
}
