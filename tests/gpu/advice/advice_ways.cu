/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *     advice_ways NAME flawed|cured [N]     runs the way N times (10), after once to warm up
 *     advice_ways NAME times [RUNS]         times both, in turn, RUNS times (3)
 *     advice_ways --list        NAME, "pair" or "clean", "kernel" or "program", one a line
 *
 * Prints "result NAME HEX" of the output and "time NAME NS": what one of the N times took, by
 * events around all of them, or by the host's clock where the flaw is in the host's calls. "times"
 * prints "times NAME N FLAWED CURED": medians in ns, each of N times (CURED is "-" if there is no
 * flaw).
 */
#include "tests/gpu/advice/advice_ways.h"

#include <algorithm>
#include <vector>

static const advice_way *const tables[] = {advice_memory,  advice_occupancy, advice_units,
					   advice_program, advice_clean,     advice_apps,
					   advice_later,     advice_again};
static float *room, *output;
static const size_t ROOM_FLOATS = (size_t)1 << 26, HASHED_BYTES = (size_t)1 << 20;

static float *make(size_t n_floats)
{
	float *made;
	if (n_floats > ROOM_FLOATS)
		abort();
	MUST(cudaMalloc(&made, ROOM_FLOATS * sizeof *made));
	MUST(cudaMemset(made, 0, ROOM_FLOATS * sizeof *made));
	return made;
}

float *advice_room(size_t n_floats)
{
	if (!room)
		room = make(n_floats);
	return room;
}

float *advice_output(size_t n_floats)
{
	if (!output)
		output = make(n_floats);
	return output;
}

unsigned advice_units_of_device()
{
	int n = 0;
	MUST(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
	return (unsigned)n;
}

static int list()
{
	for (const advice_way *table : tables)
		for (const advice_way *w = table; w->name; w++)
			printf("%s %s %s\n", w->name, w->cured ? "pair" : "clean",
			       w->by_host ? "program" : "kernel");
	return 0;
}

static const advice_way *find(const char *name)
{
	for (const advice_way *table : tables)
		for (const advice_way *w = table; w->name; w++)
			if (!strcmp(w->name, name))
				return w;
	return NULL;
}

static void report(const char *name)
{
	unsigned char *host = (unsigned char *)malloc(HASHED_BYTES);
	MUST(cudaMemcpy(host, advice_output(1), HASHED_BYTES, cudaMemcpyDeviceToHost));
	printf("result %s %016llx\n", name, (unsigned long long)work_hash(host, HASHED_BYTES));
	free(host);
}

/* What one of `n` runs takes, in ns. */
static double time_of(const advice_way *w, void (*run)(cudaStream_t), int n, cudaStream_t s)
{
	static cudaEvent_t first, last;
	float ms = 0;
	if (!first) {
		MUST(cudaEventCreate(&first));
		MUST(cudaEventCreate(&last));
	}
	MUST(cudaDeviceSynchronize());
	uint64_t begin = work_now_ns();
	MUST(cudaEventRecord(first, s));
	for (int i = 0; i < n; i++)
		run(s);
	MUST(cudaEventRecord(last, s));
	MUST(cudaDeviceSynchronize());
	double host_ns = (double)(work_now_ns() - begin);
	MUST(cudaEventElapsedTime(&ms, first, last));
	return (w->by_host ? host_ns : ms * 1e6) / n;
}

/* How many runs take a fifth of a second, once the clock of the device is up. */
static int rounds(const advice_way *w, cudaStream_t s)
{
	const double whole_ns = 2e8;
	double ns = 0;
	for (uint64_t begin = work_now_ns(); (double)(work_now_ns() - begin) < whole_ns;)
		ns = time_of(w, w->flawed, 2, s);
	return std::clamp((int)(whole_ns / ns), 2, 5000);
}

/* In turn, so that a change of the clock meets both. */
static void report_times(const advice_way *w, int n_runs, cudaStream_t s)
{
	std::vector<double> flawed, cured;
	int n = rounds(w, s);
	for (int i = 0; i < n_runs; i++) {
		flawed.push_back(time_of(w, w->flawed, n, s));
		if (w->cured)
			cured.push_back(time_of(w, w->cured, n, s));
	}
	std::sort(flawed.begin(), flawed.end());
	std::sort(cured.begin(), cured.end());
	printf("times %s %d %.0f ", w->name, n, flawed[flawed.size() / 2]);
	if (w->cured)
		printf("%.0f\n", cured[cured.size() / 2]);
	else
		printf("-\n");
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list();
	const advice_way *w = argc >= 3 ? find(argv[1]) : NULL;
	bool times = w && !strcmp(argv[2], "times"), cured = w && !strcmp(argv[2], "cured");
	int n = argc > 3 ? atoi(argv[3]) : times ? 3 : 10;
	if (!w || n < 1 || (cured && !w->cured) || (!times && !cured && strcmp(argv[2], "flawed")))
		return 2;
	void (*run)(cudaStream_t) = cured ? w->cured : w->flawed;
	cudaStream_t s;
	work_open();
	MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	run(s);
	if (times) {
		if (w->cured)
			w->cured(s);
		report_times(w, n, s);
		return 0;
	}
	printf("time %s %.0f\n", w->name, time_of(w, run, n, s));
	report(w->name);
	return 0;
}
