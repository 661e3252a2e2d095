/* SPDX-License-Identifier: BSD-3-Clause */
/* See compare_fixture.h. */
#include "tests/unit/compare/compare_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t next(uint32_t *n, uint32_t most)
{
	if (*n >= most)
		abort();
	return (*n)++;
}

void fixture_begin(struct fixture *f, const char *executable)
{
	memset(f, 0, sizeof *f);
	f->m = (struct model){.modules = f->modules,
			      .files = f->files,
			      .functions = f->functions,
			      .contexts = f->contexts,
			      .metrics = f->metrics,
			      .processes = f->processes,
			      .n_processes = 1,
			      .profiles = f->profiles,
			      .totals = f->totals,
			      .ledger_closes = true};
	f->processes[0] = (struct model_process){.executable = executable, .rank = -1};
	fixture_module(f, executable);
	f->contexts[0] = (struct model_context){
		.parent = MODEL_NONE, .kind = MODEL_CONTEXT_ROOT, .function = MODEL_NONE};
	f->contexts[1] =
		(struct model_context){.kind = MODEL_CONTEXT_ENTRY, .function = MODEL_NONE};
	f->m.n_contexts = 2;
}

uint32_t fixture_module(struct fixture *f, const char *path)
{
	uint32_t i = next(&f->m.n_modules, 8);
	f->modules[i].path = path;
	return i;
}

uint32_t fixture_file(struct fixture *f, const char *path)
{
	uint32_t i = next(&f->m.n_files, 8);
	f->files[i].path = path;
	return i;
}

uint32_t fixture_function(struct fixture *f, const char *name, uint32_t module, uint32_t file,
			  uint32_t line)
{
	uint32_t i = next(&f->m.n_functions, FIXTURE_MOST);
	f->functions[i] = (struct model_function){.name = name,
						  .module = module,
						  .file = file,
						  .line = line,
						  .gpu_kind = MSR_GPU_NO_KIND};
	return i;
}

uint32_t fixture_call(struct fixture *f, uint32_t parent, uint32_t function,
		      enum model_relation relation)
{
	uint32_t i = next(&f->m.n_contexts, FIXTURE_MOST);
	f->contexts[i] = (struct model_context){.parent = parent,
						.kind = MODEL_CONTEXT_FUNCTION,
						.relation = (uint8_t)relation,
						.function = function,
						.file = MODEL_NONE};
	return i;
}

uint32_t fixture_line(struct fixture *f, uint32_t parent, uint32_t file, uint32_t line)
{
	uint32_t i = next(&f->m.n_contexts, FIXTURE_MOST);
	f->contexts[i] = (struct model_context){.parent = parent,
						.kind = MODEL_CONTEXT_LINE,
						.function = f->contexts[parent].function,
						.file = file,
						.line = line};
	return i;
}

uint32_t fixture_metric(struct fixture *f, const char *name, const char *event,
			enum model_unit unit, enum model_metric_kind kind,
			enum model_metric_role role)
{
	uint32_t i = next(&f->m.n_metrics, 8);
	f->metrics[i] = (struct model_metric){.kind = (uint8_t)kind,
					      .role = (uint8_t)role,
					      .divisor = MODEL_NONE,
					      .name = name,
					      .event = event,
					      .unit = (uint8_t)unit,
					      .is_of_pc_samples = kind == MODEL_METRIC_GPU_SAMPLES};
	return i;
}

void fixture_value(struct fixture *f, uint32_t context, uint32_t metric, uint64_t n, double sum)
{
	if (f->m.n_totals >= FIXTURE_MOST)
		abort();
	struct model_total *t = &f->totals[f->m.n_totals++];
	*t = (struct model_total){.context = context, .metric = metric, .n_samples = n};
	t->sum[MODEL_POINT] = sum;
}

void fixture_rank(struct fixture *f, double sum)
{
	uint32_t i = next(&f->m.n_profiles, FIXTURE_RANKS);
	f->processes[i].rank = (int32_t)i;
	f->processes[i].executable = f->processes[0].executable;
	f->m.n_processes = i + 1;
	f->values[i] = (struct model_value){.context = 0, .metric = 0};
	f->values[i].at[MODEL_EXECUTION] = sum;
	f->profiles[i] = (struct model_profile){
		.kind = MODEL_PROFILE_THREAD, .process = i, .values = &f->values[i], .n_values = 1};
}

/* A number in (0, 1): SplitMix64 (Steele, Lea and Flood, 2014). */
static double uniform(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

/* Knuth's method, in steps that exp() can represent. */
uint64_t fixture_poisson(uint64_t *seed, double mean)
{
	static const double step = 500;
	uint64_t n = 0;
	for (; mean > 0; mean -= step) {
		double limit = exp(-fmin(mean, step)), product = uniform(seed);
		for (; product > limit; product *= uniform(seed))
			n++;
	}
	return n;
}

double fixture_normal(uint64_t *seed)
{
	double u = uniform(seed), v = uniform(seed);
	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}
