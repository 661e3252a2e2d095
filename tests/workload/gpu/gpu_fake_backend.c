/* SPDX-License-Identifier: BSD-3-Clause */
/* The back end of the vendor that does not exist; see gpu_fake.h. Also an example of how little a
 * back end needs. */
#include "tests/workload/gpu/gpu_fake.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

static const struct gpu_host *host;
static uint32_t queues[2], shapes[2], generation;
static unsigned n_ends, n_left;
static _Atomic unsigned n_thread_ends;
static struct gpu_ticket left[4096];

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void done(const struct gpu_ticket *t, unsigned kernel, uint64_t ns, uint64_t amount)
{
	uint64_t now = now_ns();
	const struct gpu_op op = {
		.kind = (enum msr_gpu_kind)t->kind,
		.start_ns = now,
		.end_ns = now + ns,
		.amount = amount,
		.queue = queues[kernel & 1],
		.shape = t->kind == MSR_GPU_KERNEL ? shapes[kernel & 1] : 0,
		.detail = t->kind == MSR_GPU_COPY ? MSR_GPU_COPY_H2D : 0,
		.has_waits = t->kind == MSR_GPU_KERNEL,
		.queued_ns = now - 300,
		.submitted_ns = now - 200,
	};
	if (host)
		host->op(host, t, &op);
}

static void done_by_id(uint64_t id, enum msr_gpu_kind kind, unsigned kernel, uint64_t ns)
{
	uint64_t now = now_ns();
	const struct gpu_op op = {.kind = kind,
				  .start_ns = now,
				  .end_ns = now + ns,
				  .queue = queues[kernel & 1],
				  .shape = shapes[kernel & 1]};
	if (host)
		host->op_by_id(host, id, &op);
}

static bool is_gone;

/* From here on a vendor's library could not be asked any more. */
__attribute__((destructor)) static void go(void)
{
	is_gone = true;
}

static void at_end(uint64_t may_wait_ns)
{
	n_ends++;
	if (is_gone || may_wait_ns == 0 || generation != host->generation(host))
		return;
	for (unsigned i = 0; i < n_left; i++)
		done(&left[i], 0, 500, 0);
	n_left = 0;
}

/* Past what libraries in between tell: bit n - 1 is signal n. */
static uint64_t blocked_signals(void)
{
	uint64_t set = 0;
	register long bytes __asm__("r10") = sizeof set;
	long status = SYS_rt_sigprocmask;
	__asm__ volatile("syscall"
			 : "+a"(status)
			 : "D"(SIG_BLOCK), "S"(NULL), "d"(&set), "r"(bytes)
			 : "rcx", "r11", "memory");
	return set;
}

/* The sampling signal is kept out: a thread that was told of a start would start its sources
 * again. */
static void at_thread_end(void)
{
	n_thread_ends += blocked_signals() >> (SIGWINCH - 1) & 1;
}

static void leave(const struct gpu_ticket *t)
{
	left[n_left++ % 4096] = *t;
}

static bool define(void)
{
	static const char source[] = "kernel void first() {}\nkernel void second() {}\n";
	uint64_t hash[2];
	const struct gpu_device device = {.name = "nothing at all",
					  .driver = "fake 1.0",
					  .n_units = 7,
					  .type = MSR_GPU_DEVICE_OTHER};
	uint32_t device_id = host->device(host, &device);
	uint32_t context =
		host->context(host, &(struct gpu_context){.name = "", .device = device_id});
	queues[0] = host->queue(
		host,
		&(struct gpu_queue){.name = "queue 0", .context = context, .device = device_id});
	queues[1] = host->queue(host, &(struct gpu_queue){.name = "queue 1",
							  .context = context,
							  .device = device_id,
							  .ordinal = 1});
	const struct gpu_code code = {.kind = MSR_GPU_CODE_OPENCL_C,
				      .bytes = source,
				      .n_bytes = sizeof source - 1,
				      .options = "-O2",
				      .device = device_id};
	uint32_t code_id = host->code(host, &code, hash);
	const char *const names[2] = {"first", "second"};
	for (unsigned i = 0; i < 2; i++) {
		uint32_t function = host->function(
			host, &(struct gpu_function){.code = code_id, .name = names[i]});
		shapes[i] = host->shape(host, &(struct gpu_shape){.function = function,
								  .grid = {4 + i, 1, 1},
								  .block = {64, 1, 1}});
	}
	generation = host->generation(host);
	host->at_end(host, at_end);
	host->at_thread_end(host, at_thread_end);
	return device_id && context && queues[0] && queues[1] && code_id && shapes[0] &&
	       shapes[1] && shapes[0] != shapes[1];
}

static bool enter(const char *name)
{
	gpu_host_fn *find;
	*(void **)&find = dlsym(RTLD_DEFAULT, GPU_HOST_SYMBOL);
	host = find ? find(name, GPU_HOST_VERSION) : NULL;
	if (!host)
		return false;
	host->entered(host, "a library of the tests", (const void *)(uintptr_t)enter);
	if (!strcmp(host->options(host), "timer"))
		host->sample_by_timer(host);
	return define();
}

/* A frame of the back end's own, which must not be seen. */
__attribute__((noinline)) static bool tell(const struct gpu_launch *l, struct gpu_ticket *t)
{
	if (generation != host->generation(host) && host->generation(host) != 0)
		define();
	bool good = host->launch(host, l, t);
	__asm__ volatile("");
	return good;
}

/* The call of the API. */
static bool launch(enum msr_gpu_kind kind, unsigned kernel, uint64_t id, struct gpu_ticket *t)
{
	const struct gpu_launch l = {.kind = kind, .id = id};
	(void)kernel;
	memset(t, 0, sizeof *t);
	bool good = host && tell(&l, t);
	__asm__ volatile("");
	return good;
}

static const struct gpu_host *get_host(void)
{
	return host;
}

static uint32_t queue(unsigned i)
{
	return queues[i];
}

static unsigned get_n_ends(void)
{
	return n_ends;
}

static unsigned get_n_thread_ends(void)
{
	return n_thread_ends;
}

__attribute__((visibility("default")))
const struct fake_api fake_api = {.enter = enter,
				  .host = get_host,
				  .queue = queue,
				  .launch = launch,
				  .done = done,
				  .done_by_id = done_by_id,
				  .n_ends = get_n_ends,
				  .n_thread_ends = get_n_thread_ends,
				  .leave = leave};
