/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * torch_program LIBRARY MODE: loads torch_fake as Python loads PyTorch, makes nodes in line_a() and
 * line_b(), and has them evaluated. What runs in the nodes of line_a() takes three times the CPU
 * time of what runs in those of line_b(). Prints how many exceptions were caught.
 *
 *     same     in the thread that made them
 *     other    in another thread
 *     ended    made in a thread that ends before
 *     throws   each node of line_a() throws
 *     nested   each node makes another in line_b() and has it evaluated, as checkpoints do
 *     again    each node is evaluated twice
 *     launch   each node launches a kernel, in another thread
 *     forked   in a child
 *     many     after more nodes than the run time remembers
 */
#include "tests/workload/torch/torch_fake.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline, optnone))
#else
#define NOINLINE __attribute__((noipa)) /* line_a() and line_b() are equal */
#endif
#define KEEP_FRAME() __asm__ volatile("" ::: "memory") /* no tail call before this */

static __typeof__(fake_node) *node;
static __typeof__(fake_free) *drop;
static __typeof__(fake_backward) *backward;
static int n_thrown;

static NOINLINE void *line_b(const struct fake_work *work)
{
	void *made = node(work);
	KEEP_FRAME();
	return made;
}

static NOINLINE void *line_a(const struct fake_work *work)
{
	void *made = node(work);
	KEEP_FRAME();
	return made;
}

static NOINLINE void recompute(void *seconds)
{
	void *made = line_b(&(struct fake_work){.seconds = *(double *)seconds});
	n_thrown += backward(&made, 1, false);
	drop(made);
	KEEP_FRAME();
}

/* ---- a driver that needs no GPU: tests/gpu/fake/fake_cuda.c ---- */

static int (*launch_kernel)(void *function, unsigned x, unsigned y, unsigned z, unsigned threads_x,
			    unsigned threads_y, unsigned threads_z, unsigned n_shared, void *stream,
			    void **arguments, void **extra);
static void *kernel;

static bool start_gpu(void)
{
	static const char image[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
				    ".visible .entry spin()\n{ ret; }\n";
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context, *module;
	int (*init)(unsigned), (*retain)(void **, int), (*use)(void *);
	int (*load)(void **, const void *), (*find)(void **, void *, const char *);
	if (!cuda)
		return false;
	*(void **)&init = dlsym(cuda, "cuInit");
	*(void **)&retain = dlsym(cuda, "cuDevicePrimaryCtxRetain");
	*(void **)&use = dlsym(cuda, "cuCtxSetCurrent");
	*(void **)&load = dlsym(cuda, "cuModuleLoadData");
	*(void **)&find = dlsym(cuda, "cuModuleGetFunction");
	*(void **)&launch_kernel = dlsym(cuda, "cuLaunchKernel");
	return init(0) == 0 && retain(&context, 0) == 0 && use(context) == 0 &&
	       load(&module, image) == 0 && find(&kernel, module, "spin") == 0;
}

static NOINLINE void launch(void *arg)
{
	uint64_t ns = 2000;
	void *arguments[] = {&ns};
	(void)arg;
	launch_kernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL);
	KEEP_FRAME();
}

struct step {
	struct fake_work a, b, leaf;
	void *nodes[3];
};

static void *forward(void *arg)
{
	struct step *s = arg;
	s->nodes[0] = line_a(&s->a);
	s->nodes[1] = line_b(&s->b);
	s->nodes[2] = node(&s->leaf);
	return NULL;
}

static void evaluate(const struct step *s, const char *mode)
{
	n_thrown += backward(s->nodes, 3, !strcmp(mode, "other") || !strcmp(mode, "launch"));
	if (!strcmp(mode, "again"))
		n_thrown += backward(s->nodes, 3, false);
}

static void train(const char *mode)
{
	static double nested_seconds = 0.004;
	struct step s = {
		.a.seconds = 0.012, .b.seconds = 0.004, .leaf = {.seconds = 0.002, .is_leaf = 1}};
	pthread_t thread;
	s.a.throws = !strcmp(mode, "throws");
	if (!strcmp(mode, "nested")) {
		s.a.call = s.b.call = recompute;
		s.a.arg = s.b.arg = &nested_seconds;
	}
	if (!strcmp(mode, "launch"))
		s.a.call = s.b.call = launch;
	if (strcmp(mode, "ended") != 0) {
		forward(&s);
	} else {
		pthread_create(&thread, NULL, forward, &s);
		pthread_join(thread, NULL);
	}
	for (int i = 0; i < 300000 && !strcmp(mode, "many"); i++)
		drop(node(&(struct fake_work){.seconds = 0}));
	if (strcmp(mode, "forked") != 0) {
		evaluate(&s, mode);
	} else if (fork() == 0) {
		evaluate(&s, mode);
		exit(0);
	} else {
		wait(NULL);
	}
	for (int i = 0; i < 3; i++)
		drop(s.nodes[i]);
}

int main(int argc, char **argv)
{
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!library) {
		fprintf(stderr, "usage: torch_program LIBRARY MODE\n");
		return 2;
	}
	*(void **)&node = dlsym(library, "fake_node");
	*(void **)&drop = dlsym(library, "fake_free");
	*(void **)&backward = dlsym(library, "fake_backward");
	if (!strcmp(argv[2], "launch") && !start_gpu()) {
		fprintf(stderr, "no GPU\n");
		return 2;
	}
	const bool is_once = !strcmp(argv[2], "forked") || !strcmp(argv[2], "many");
	for (int i = 0; i < (is_once ? 1 : 20); i++)
		train(argv[2]);
	printf("%d\n", n_thrown);
	return 0;
}
