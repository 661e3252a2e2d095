// SPDX-License-Identifier: BSD-3-Clause
//
// The shadow-stack check: a program that knows its true call path. Every function of the section
// "shadowed" (and the plugin that is opened and closed all the time) pushes itself and its return
// address when it is entered and pops them before it returns; a timer interrupts two threads ten
// thousand times a second (or as it is told), and the handler compares. The frames of our path that
// lie in such functions must be those of the shadow, in order and number: the same function, and,
// where one of them called the next, the same return address. One more is right only if it is the
// leaf, which has not pushed yet or has popped already. Between a throw or longjmp and its landing
// the shadow may be deeper than the stack. usage: unwind_shadow PLUGIN SAMPLES [PERIOD_US]. Exit
// status 1 if a path is wrong and not marked, or too few are exact.
extern "C" {
#include "common/safe/find_object.h"
#include "hpcrun-lite/unwind/unwind.h"
}

#include <algorithm>
#include <alloca.h>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __clang__
#define SHADOWED __attribute__((noinline, section("shadowed")))
#else
#define SHADOWED __attribute__((noinline, noclone, section("shadowed")))
#endif

extern "C" const char __start_shadowed[], __stop_shadowed[], __start_pushing[], __stop_pushing[];

namespace
{
enum { MAX_DEPTH = 2048, N_THREADS = 2, ALT_BYTES = 1 << 16 };

struct tally {
	uint64_t samples, exact, jumping, jumping_exact, marked, wrong_marked, wrong,
		truncated[UNWIND_N_ENDS], reported;
};

struct shadow {
	uint64_t ra[MAX_DEPTH], function[MAX_DEPTH];
	volatile unsigned depth;
	// while a throw or longjmp is on its way: the depth it goes to, + 1
	volatile unsigned target;
};

__thread shadow mine;
thread_local unwind_thread *walker;
thread_local tally counts;
__thread volatile unsigned sink;
// Of the thread that opens it: the other one must not see the two between their changes.
__thread volatile uint64_t plugin_lo, plugin_hi;
const char *plugin_path;
uint64_t samples_wanted;
long period_ns = 100000;

// No call may stand between the two stores, not even at -O0.
#define FENCE() __asm__ volatile("" ::: "memory")
// A push is complete when depth says so; the compiler must keep that order, the processor does for
// its own signals.
#define ENTER(self)                                                 \
	do {                                                        \
		const unsigned d = mine.depth;                      \
		mine.ra[d] = (uint64_t)__builtin_return_address(0); \
		mine.function[d] = (uint64_t)self;                  \
		FENCE();                                            \
		mine.depth = d + 1;                                 \
		FENCE();                                            \
	} while (0)
#define LEAVE()                              \
	do {                                 \
		FENCE();                     \
		mine.depth = mine.depth - 1; \
		FENCE();                     \
	} while (0)

bool is_shadowed(uint64_t pc)
{
	return (pc >= (uint64_t)__start_shadowed && pc < (uint64_t)__stop_shadowed) ||
	       (pc >= plugin_lo && pc < plugin_hi);
}

// The frames of a path that lie in shadowed functions, leaf first, as looked up.
struct frames {
	uint64_t pc[MAX_DEPTH];
	unsigned n;
};

// All shadowed functions, sorted; filled in main.
uint64_t functions[32];
unsigned n_functions;

uint64_t function_of(uint64_t pc)
{
	if (pc >= plugin_lo && pc < plugin_hi)
		return plugin_lo;
	uint64_t found = 0;
	for (unsigned i = 0; i < n_functions && functions[i] <= pc; i++)
		found = functions[i];
	return found;
}

// Whether the frames from `skip` on are those of the shadow up to depth d.
bool agrees(const frames &ours, unsigned skip, unsigned d)
{
	if (ours.n != skip + d)
		return false;
	for (unsigned i = 0; i < d; i++) {
		const uint64_t pc = ours.pc[skip + i];
		if (function_of(pc) != mine.function[d - 1 - i])
			return false;
		if (i > 0 && is_shadowed(mine.ra[d - i] - 1) && pc != mine.ra[d - i] - 1)
			return false;
	}
	return true;
}

bool is_right(const frames &ours, unsigned d, bool leaf_shadowed)
{
	return agrees(ours, 0, d) || (leaf_shadowed && agrees(ours, 1, d));
}

void report(const unwind_path &path, const frames &ours, unsigned depth)
{
	if (counts.reported++ > 3)
		return;
	std::printf("# differs: leaf %lx, end %s, %s; ours:", (unsigned long)path.addr[0],
		    unwind_end_name(path.end), path.heuristic ? "marked" : "not marked");
	for (unsigned i = 0; i < ours.n && i < 12; i++)
		std::printf(" %lx", (unsigned long)ours.pc[i]);
	std::printf(" (%u of %u); truth:", ours.n, path.n);
	for (unsigned i = 0; i < depth && i < 12; i++)
		std::printf(" %lx", (unsigned long)mine.function[depth - 1 - i]);
	std::printf(" (%u)\n", depth);
}

/* All code of a process of aarch64 is high, where addresses have the bit of the mark. */
uint64_t address_of(uint64_t packed)
{
	return (packed & UNWIND_ADDR_LINK_MASK) | ((uint64_t)__start_pushing & UNWIND_ADDR_MARK);
}

void on_sample(int, siginfo_t *, void *context)
{
	static thread_local frames ours;
	const int saved_errno = errno;
	unwind_path path;
	unwind_walk(walker, static_cast<ucontext_t *>(context), &path);
	ours.n = 0;
	for (unsigned i = 0; i < path.n; i++)
		if (is_shadowed(address_of(path.addr[i])))
			ours.pc[ours.n++] = address_of(path.addr[i]);
	const unsigned depth = mine.depth, target = mine.target;
	const uint64_t leaf = path.n ? address_of(path.addr[0]) : 0;
	const bool leaf_shadowed = is_shadowed(leaf) || (leaf >= (uint64_t)__start_pushing &&
							 leaf < (uint64_t)__stop_pushing);
	bool right = path.end == UNWIND_ROOT && is_right(ours, depth, leaf_shadowed);
	for (unsigned d = target ? target - 1 : depth;
	     !right && path.end == UNWIND_ROOT && d < depth; d++)
		right = is_right(ours, d, leaf_shadowed);
	counts.samples++;
	counts.marked += path.heuristic;
	counts.jumping += target != 0;
	counts.exact += right;
	counts.jumping_exact += right && target;
	if (!right) {
		if (path.end != UNWIND_ROOT)
			counts.truncated[path.end]++;
		else if (path.heuristic)
			counts.wrong_marked++;
		else
			counts.wrong++;
		if (path.end != UNWIND_THROWING)
			report(path, ours, depth);
	}
	errno = saved_errno;
}

SHADOWED unsigned fibonacci(unsigned n)
{
	ENTER(fibonacci);
	unsigned v = n;
	if (n > 1) {
		v = fibonacci(n - 1);
		v += fibonacci(n - 2);
	}
	LEAVE();
	return v;
}

SHADOWED unsigned deep(unsigned n, unsigned seed)
{
	ENTER(deep);
	unsigned v = seed * 3 + 1;
	if (n > 0)
		v += seed % 2 ? deep(n - 1, v) : deep(n - 1, v + 7);
	sink = v;
	LEAVE();
	return v;
}

SHADOWED unsigned with_alloca(unsigned n)
{
	ENTER(with_alloca);
	char *p = static_cast<char *>(alloca(16 + n * 8));
	std::memset(p, (int)n, 16 + n * 8);
	unsigned v = n ? with_alloca(n - 1) + (unsigned)p[n] : fibonacci(4);
	sink = (unsigned)p[0];
	LEAVE();
	return v;
}

SHADOWED unsigned aligned(unsigned n)
{
	ENTER(aligned);
	alignas(64) unsigned v[32];
	for (unsigned i = 0; i < 32; i++)
		v[i] = i * n;
	unsigned x = fibonacci(3) + v[n % 32];
	sink = (unsigned)((uintptr_t)v % 64);
	LEAVE();
	return x;
}

SHADOWED int compare(const void *a, const void *b)
{
	ENTER(compare);
	const unsigned x = *static_cast<const unsigned *>(a), y = *static_cast<const unsigned *>(b);
	sink = deep(2, x);
	LEAVE();
	return x < y ? -1 : x > y;
}

SHADOWED void callbacks()
{
	ENTER(callbacks);
	unsigned v[64];
	for (unsigned i = 0; i < 64; i++)
		v[i] = i * 37 % 64;
	std::qsort(v, 64, sizeof *v, compare);
	LEAVE();
}

SHADOWED unsigned throws(unsigned n)
{
	ENTER(throws);
	if (n == 0)
		throw std::runtime_error("shadow");
	const unsigned v = throws(n - 1);
	LEAVE();
	return v + 1;
}

// Sets where a jump will land and takes the shadow back there afterwards.
void expect_jump()
{
	mine.target = mine.depth + 1;
	FENCE();
}
void landed()
{
	FENCE();
	mine.depth = mine.target - 1;
	FENCE();
	mine.target = 0;
}

SHADOWED void exceptions()
{
	ENTER(exceptions);
	for (unsigned i = 0; i < 4; i++) {
		expect_jump();
		try {
			sink = throws(i * 3);
		} catch (const std::exception &) {
			sink = i;
		}
		landed();
		sink = fibonacci(5);
	}
	LEAVE();
}

thread_local std::jmp_buf jump;

SHADOWED unsigned jumps(unsigned n)
{
	ENTER(jumps);
	if (n == 0)
		std::longjmp(jump, 1);
	const unsigned v = n > 1000 ? 0 : jumps(n - 1);
	LEAVE();
	return v + 1;
}

SHADOWED void longjumps()
{
	ENTER(longjumps);
	for (volatile unsigned i = 0; i < 40; i = i + 1) {
		expect_jump();
		if (setjmp(jump) == 0)
			sink = jumps(i % 9);
		landed();
		sink = deep(6, i);
	}
	LEAVE();
}

// The handler's return address is in libc, the interrupted one (raise) as well.
SHADOWED void on_own_signal(int sig)
{
	ENTER(on_own_signal);
	sink = fibonacci(6) + (unsigned)sig;
	LEAVE();
}

SHADOWED unsigned signals(unsigned n, int sig)
{
	ENTER(signals);
	unsigned v = 0;
	if (n > 0)
		v = signals(n - 1, sig);
	else
		raise(sig);
	sink = v;
	LEAVE();
	return v + n;
}

SHADOWED unsigned called_back(unsigned n)
{
	ENTER(called_back);
	const unsigned v = deep(n % 5, n);
	LEAVE();
	return v;
}

__attribute__((noinline, section("pushing"))) void plugin_enter(void *ra)
{
	const unsigned d = mine.depth;
	mine.ra[d] = (uint64_t)ra;
	mine.function[d] = plugin_lo;
	FENCE();
	mine.depth = d + 1;
	FENCE();
}

__attribute__((noinline, section("pushing"))) void plugin_leave()
{
	LEAVE();
}

struct plugin_calls {
	void (*enter)(void *);
	void (*leave)();
	unsigned (*callback)(unsigned);
};

// One thread opens and closes; its code is only ever on that thread's stack.
SHADOWED void plugins()
{
	ENTER(plugins);
	void *library = dlopen(plugin_path, RTLD_LAZY);
	if (library) {
		auto entry = reinterpret_cast<unsigned (*)(unsigned, const plugin_calls *)>(
			dlsym(library, "shadow_plugin_entry"));
		dl_find_object object;
		if (entry && find_object(reinterpret_cast<void *>(entry), &object) == 0) {
			const plugin_calls calls = {plugin_enter, plugin_leave, called_back};
			plugin_lo = (uint64_t)object.dlfo_map_start;
			plugin_hi = (uint64_t)object.dlfo_map_end;
			for (unsigned i = 0; i < 50; i++)
				sink = entry(i % 12, &calls);
			plugin_hi = 0; // first: an empty range at every moment
			plugin_lo = 0;
		}
		unwind_flush_begin();
		dlclose(library);
		unwind_flush_end();
	}
	LEAVE();
}

timer_t start_timer()
{
	sigevent event = {};
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = SIGRTMIN + 3;
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	timer_t timer;
	itimerspec period = {{0, period_ns}, {0, period_ns}};
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
	    timer_settime(timer, 0, &period, nullptr) != 0)
		std::abort();
	return timer;
}

SHADOWED void work(bool first)
{
	ENTER(work);
	while (counts.samples < samples_wanted) {
		sink = fibonacci(12);
		sink = deep(150, 1) + deep(30, 5);
		sink = with_alloca(30);
		sink = aligned(5);
		callbacks();
		exceptions();
		longjumps();
		sink = signals(5, SIGUSR1) + signals(3, SIGUSR2);
		if (first)
			plugins();
	}
	LEAVE();
}

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
tally total;

void add_up()
{
	pthread_mutex_lock(&lock);
	uint64_t *to = reinterpret_cast<uint64_t *>(&total);
	const uint64_t *from = reinterpret_cast<const uint64_t *>(&counts);
	for (size_t i = 0; i < sizeof total / sizeof *to; i++)
		to[i] += from[i];
	pthread_mutex_unlock(&lock);
}

void run_thread(bool first)
{
	pthread_attr_t attr;
	void *lo;
	size_t bytes;
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &lo, &bytes);
	pthread_attr_destroy(&attr);
	const unwind_stack stack = {(uintptr_t)lo, (uintptr_t)lo + bytes, first};
	walker = unwind_thread_init(std::calloc(1, unwind_thread_bytes(MAX_DEPTH)), MAX_DEPTH,
				    &stack);
	stack_t alternate = {};
	alternate.ss_sp = std::malloc(ALT_BYTES);
	alternate.ss_size = ALT_BYTES;
	sigaltstack(&alternate, nullptr);
	const timer_t timer = start_timer();
	work(first);
	timer_delete(timer);
	add_up();
}

void *thread_main(void *)
{
	run_thread(false);
	return nullptr;
}

uint16_t one_module(const dl_find_object *, uintptr_t *bias)
{
	*bias = 0;
	return 1;
}

int verdict()
{
	uint64_t truncated = 0;
	for (unsigned i = 0; i < UNWIND_N_ENDS; i++) {
		truncated += total.truncated[i];
		if (total.truncated[i])
			std::printf("# truncated (%s): %lu\n", unwind_end_name((unwind_end)i),
				    (unsigned long)total.truncated[i]);
	}
	std::printf("# samples %lu, exact %lu (%.4f %%), truncated %lu, marked %lu, wrong but "
		    "marked %lu, wrong and not marked %lu\n",
		    (unsigned long)total.samples, (unsigned long)total.exact,
		    100.0 * (double)total.exact / (double)total.samples, (unsigned long)truncated,
		    (unsigned long)total.marked, (unsigned long)total.wrong_marked,
		    (unsigned long)total.wrong);
	const uint64_t plain = total.samples - total.jumping,
		       plain_exact = total.exact - total.jumping_exact;
	std::printf("# outside of throws and jumps %lu, exact %lu (%.4f %%); during them %lu, "
		    "exact %lu (%.2f %%)\n",
		    (unsigned long)plain, (unsigned long)plain_exact,
		    100.0 * (double)plain_exact / (double)plain, (unsigned long)total.jumping,
		    (unsigned long)total.jumping_exact,
		    100.0 * (double)total.jumping_exact / (double)total.jumping);
	return total.wrong != 0 || plain - plain_exact > plain / 10000 ||
	       total.jumping - total.jumping_exact > total.jumping / 100;
}
} // namespace

int main(int argc, char **argv)
{
	if (argc != 3 && argc != 4)
		return 2;
	plugin_path = argv[1];
	if (std::getenv("OWN_TABLE"))
		find_object_use_table();
	find_object_all_stay();
	samples_wanted = std::strtoul(argv[2], nullptr, 10) / N_THREADS;
	if (argc == 4)
		period_ns = std::strtol(argv[3], nullptr, 10) * 1000;
	for (auto f :
	     {(uint64_t)fibonacci, (uint64_t)deep, (uint64_t)with_alloca, (uint64_t)aligned,
	      (uint64_t)compare, (uint64_t)callbacks, (uint64_t)throws, (uint64_t)exceptions,
	      (uint64_t)jumps, (uint64_t)longjumps, (uint64_t)on_own_signal, (uint64_t)signals,
	      (uint64_t)called_back, (uint64_t)plugins, (uint64_t)work})
		functions[n_functions++] = f;
	std::sort(functions, functions + n_functions);
	unwind_config config = {};
	config.module_of = one_module;
	unwind_init(&config);
	struct sigaction action = {};
	action.sa_sigaction = on_sample;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGRTMIN + 3, &action, nullptr);
	action.sa_handler = on_own_signal;
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, nullptr);
	action.sa_flags = SA_RESTART | SA_ONSTACK;
	sigaction(SIGUSR2, &action, nullptr);
	pthread_t thread;
	if (pthread_create(&thread, nullptr, thread_main, nullptr) != 0)
		return 2;
	run_thread(true);
	pthread_join(thread, nullptr);
	return verdict();
}
