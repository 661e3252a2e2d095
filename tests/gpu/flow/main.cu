/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow mini-application (flow.h): flowbox [STEPS [SIZE [TRACERS]]], by default 200 steps of
 * 128^3 cells and a million tracers. Prints energy and divergence now and then, the time of the
 * steps, and "truth" and "result" lines (tests/gpu/work.cuh).
 */
#include "tests/gpu/flow/flow.h"

#include <utility>

struct simulation {
	int n, n_tracers;
	float dt, viscosity;
	struct velocity now, next, spare;
	struct pressure *pressure;
	struct energy *energy;
	float *tracers;
	double *seen; /* pinned */
	cudaStream_t flow, trace;
	cudaEvent_t projected, traced;
};

static struct velocity new_velocity(int n)
{
	struct velocity v;
	for (float *&u : v.u)
		MUST(cudaMalloc(&u, (size_t)n * n * n * sizeof *u));
	return v;
}

static void create(struct simulation *s, int n, int n_tracers)
{
	s->n = n;
	s->n_tracers = n_tracers;
	s->dt = 0.5f;
	s->viscosity = 0.01f;
	s->now = new_velocity(n);
	s->next = new_velocity(n);
	s->spare = new_velocity(n);
	s->pressure = pressure_create(n, 2);
	s->energy = energy_create();
	MUST(cudaMalloc(&s->tracers, (size_t)n_tracers * 3 * sizeof *s->tracers));
	MUST(cudaMallocHost(&s->seen, 2 * sizeof *s->seen));
	MUST(cudaStreamCreateWithFlags(&s->flow, cudaStreamNonBlocking));
	MUST(cudaStreamCreateWithFlags(&s->trace, cudaStreamNonBlocking));
	MUST(cudaEventCreateWithFlags(&s->projected, cudaEventDisableTiming));
	MUST(cudaEventCreateWithFlags(&s->traced, cudaEventDisableTiming));
	MUST(cudaDeviceSynchronize()); /* what was set on the default stream */
	work_count(TRUTH_SYNC);
	advect_start(s->now, n, s->flow);
	pressure_project(s->pressure, s->now, s->flow);
	tracers_start(s->tracers, n_tracers, n, s->trace);
}

/* The tracers move with the velocity of this step while the next one is made; the step after that
 * must not overwrite it before. */
static void step(struct simulation *s)
{
	MUST(cudaEventRecord(s->projected, s->flow));
	MUST(cudaStreamWaitEvent(s->trace, s->projected, 0));
	tracers_move(s->tracers, s->n_tracers, s->now, s->n, s->dt, s->trace);
	advect_step(s->now, s->spare, s->next, s->n, s->dt, s->viscosity, s->flow);
	pressure_project(s->pressure, s->next, s->flow);
	MUST(cudaEventRecord(s->traced, s->trace));
	MUST(cudaStreamWaitEvent(s->flow, s->traced, 0));
	std::swap(s->now, s->next);
}

static void show(struct simulation *s, int i)
{
	energy_measure(s->energy, s->now, s->n, s->seen, s->flow);
	work_sync(s->flow);
	printf("step %5d  energy %.9g  divergence %.3g\n", i,
	       s->seen[0] / ((double)s->n * s->n * s->n), s->seen[1]);
}

int main(int argc, char **argv)
{
	int n_steps = argc > 1 ? atoi(argv[1]) : 200, n = argc > 2 ? atoi(argv[2]) : 128,
	    n_tracers = argc > 3 ? atoi(argv[3]) : 1000000;
	struct simulation s = {};
	if (n < 16 || (n & (n - 1)) || n > 512 || n_steps < 0 || n_tracers < 1) {
		fputs("usage: flowbox [STEPS [SIZE [TRACERS]]]    SIZE: a power of 2, 16 to 512\n",
		      stderr);
		return 2;
	}
	work_open();
	create(&s, n, n_tracers);
	show(&s, 0);
	uint64_t begin = work_now_ns();
	for (int i = 1; i <= n_steps; i++) {
		step(&s);
		if (i % 50 == 0)
			show(&s, i);
	}
	work_sync(s.flow);
	work_sync(s.trace);
	printf("elapsed-ns %llu\n", (unsigned long long)(work_now_ns() - begin));
	work_result("velocity", s.now.u[0], (size_t)n * n * n * sizeof(float));
	work_result("pressure", pressure_field(s.pressure), (size_t)n * n * n * sizeof(float));
	work_result("tracers", s.tracers, (size_t)n_tracers * 3 * sizeof(float));
	work_report();
	return 0;
}
