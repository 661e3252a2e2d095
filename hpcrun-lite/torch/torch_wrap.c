/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replaces two functions of PyTorch, under their C++ names. Every node of autograd's graph calls
 * one of them when it is made. The engine calls the other to evaluate a node. We leave that one by
 * a jump, so that it has no frame of its own when an exception passes. If PyTorch gives them other
 * names, or does not call them through its procedure linkage table, nothing happens. Must not
 * allocate, wait or throw. Test: tests/cli/torch/torch_backward.sh.
 */
#include "common/safe/find_object.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/torch/torch.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>

#define EXPORT __attribute__((visibility("default")))
/* A function whose variables others see cannot end in a jump, so these must not be inlined. */
#define APART __attribute__((noinline))

/* at::sequence_number::get_and_increment() */
#define NEXT_NUMBER "_ZN2at15sequence_number17get_and_incrementEv"
/* at::RecordFunction::currentThreadId() */
#define THREAD_NUMBER "_ZN2at14RecordFunction15currentThreadIdEv"
/*
 * torch::autograd::Engine::evaluate_function(std::shared_ptr<GraphTask>&, Node*, InputBuffer&,
 * std::shared_ptr<ReadyQueue> const&), the same from version 1.6 on
 */
#define EVALUATE                                                                      \
	"_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTask" \
	"EEPNS0_4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE"

typedef uint64_t number_fn(void);
typedef void evaluate_fn(void *engine, void *task, void *node, void *inputs, void *queue);

/*
 * torch/csrc/autograd/function.h, struct Node, from version 1.8 on: virtual table, weak pointer to
 * itself, number, topological number, has_parent, thread. All nodes are larger than this part.
 */
struct node_head {
	void *ignored[3];
	uint64_t number;
	uint64_t ignored_too[2];
	uint64_t thread;
};

/* ---- the real functions ---- */

/* Finds the function that the caller would reach without us. Python loads PyTorch privately. */
static APART void *find_real(const char *name, const void *caller)
{
	struct dl_find_object object;
	const int saved = errno;
	void *function = dlsym(RTLD_NEXT, name);
	if (!function && find_object_surely((void *)(uintptr_t)caller, &object) == 0 &&
	    object.dlfo_link_map->l_name[0]) {
		void *library = dlopen(object.dlfo_link_map->l_name, RTLD_LAZY | RTLD_NOLOAD);
		function = library ? dlsym(library, name) : NULL;
		if (library)
			dlclose(library);
	}
	dlerror(); /* or the program would find our error */
	errno = saved;
	return function;
}

static void *real_of(_Atomic(void *) *cache, const char *name, const void *caller)
{
	/* relaxed: the code existed before */
	void *function = atomic_load_explicit(cache, memory_order_relaxed);
	if (__builtin_expect(!function, 0)) {
		function = find_real(name, caller);
		atomic_store_explicit(cache, function, memory_order_relaxed);
	}
	return function;
}

/* ---- the run time ---- */

/* Returns NULL if the process is not measured. */
static APART const struct torch_host *find_host(void)
{
	static _Atomic(const struct torch_host *) host;
	static _Atomic bool has_looked;
	const struct torch_host *h = atomic_load_explicit(&host, memory_order_acquire);
	if (__builtin_expect(h || atomic_load_explicit(&has_looked, memory_order_relaxed), 1))
		return h;
	const int saved = errno;
	torch_host_fn *find = (torch_host_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, TORCH_HOST_SYMBOL);
	h = find ? find(TORCH_HOST_VERSION) : NULL;
	errno = saved;
	atomic_store_explicit(&host, h, memory_order_release);
	atomic_store_explicit(&has_looked, true, memory_order_relaxed);
	return h;
}

static void note_made(uint64_t number, const void *caller)
{
	static _Atomic(void *) cache;
	static _Atomic bool is_absent; /* a search takes the loader's lock */
	if (__builtin_expect(atomic_load_explicit(&is_absent, memory_order_relaxed), 0))
		return;
	number_fn *thread = (number_fn *)(uintptr_t)real_of(&cache, THREAD_NUMBER, caller);
	if (__builtin_expect(!thread, 0))
		atomic_store_explicit(&is_absent, true, memory_order_relaxed);
	const struct torch_host *host = thread ? find_host() : NULL;
	if (host)
		host->made(&(struct torch_node){thread(), number},
			   (const void *)(uintptr_t)note_made);
}

/* Leaves out the parts that the compiler moved elsewhere; they run only if the function throws. */
static void note_code(const struct torch_host *host, const void *function)
{
	static _Atomic bool is_known;
	Dl_info info;
	const ElfW(Sym) * symbol;
	if (atomic_load_explicit(&is_known, memory_order_acquire))
		return;
	if (dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol)
		host->code(function, symbol->st_size);
	atomic_store_explicit(&is_known, true, memory_order_release);
}

static APART void note_evaluate(const struct node_head *node, uintptr_t place, const void *function)
{
	const struct torch_host *host = find_host();
	if (!host || !node)
		return;
	note_code(host, function);
	host->evaluate(&(struct torch_node){node->thread, node->number}, place);
}

/* ---- the functions that we replace ---- */

EXPORT uint64_t next_number(void) __asm__(NEXT_NUMBER);

uint64_t next_number(void)
{
	static _Atomic(void *) cache;
	static __thread uint64_t own; /* a program found ours with dlsym */
	number_fn *real =
		(number_fn *)(uintptr_t)real_of(&cache, NEXT_NUMBER, __builtin_return_address(0));
	if (!real)
		return own++;
	const uint64_t number = real();
	note_made(number, __builtin_return_address(0));
	return number;
}

EXPORT evaluate_fn evaluate __asm__(EVALUATE);

/* After the jump, the highest word of our frame belongs to the frame of the real function. */
void evaluate(void *engine, void *task, void *node, void *inputs, void *queue)
{
	static _Atomic(void *) cache;
	evaluate_fn *real =
		(evaluate_fn *)(uintptr_t)real_of(&cache, EVALUATE, __builtin_return_address(0));
	if (!real)
		return;
	note_evaluate(node, MACHINE_CFA() - sizeof(uint64_t), (const void *)(uintptr_t)real);
	real(engine, task, node, inputs, queue);
}
