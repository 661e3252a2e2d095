/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of gpu=nvidia; see nv_options.h. Never allocates, because it also runs in the
 * measured process. Test: tests/unit/cupti/test_cupti_pc.c.
 */
#include "hpcrun-lite/gpu/cupti/nv_options.h"

#include "common/safe/text.h"
#include "hpcrun-lite/gpu/cupti/nv_counter_list.h"

#include <string.h>

struct word {
	const char *at;
	size_t n;
};

struct reading {
	struct nv_options o;
	bool has_pc, has_mode;
	struct text why;
};

static bool is(struct word w, const char *name)
{
	return w.n == strlen(name) && memcmp(w.at, name, w.n) == 0;
}

/* Returns true if the word starts with `head`, and removes it. */
static bool take(struct word *w, const char *head)
{
	size_t n = strlen(head);
	if (w->n < n || memcmp(w->at, head, n) != 0)
		return false;
	w->at += n;
	w->n -= n;
	return true;
}

static bool refuse(struct reading *r, const char *before, struct word w, const char *after)
{
	text_put(&r->why, before);
	for (size_t i = 0; i < w.n; i++)
		text_put_char(&r->why, w.at[i]);
	text_put(&r->why, after);
	return false;
}

/* Returns a decimal number from `least` to `most`; 0: the word is something else. */
static uint32_t number(struct word w, uint32_t least, uint32_t most)
{
	uint32_t n = 0;
	for (size_t i = 0; i < w.n; i++) {
		if (w.at[i] < '0' || w.at[i] > '9' || n > most)
			return 0;
		n = n * 10 + (uint32_t)(w.at[i] - '0');
	}
	return n >= least && n <= most ? n : 0;
}

static bool read_mode(struct reading *r, struct word w)
{
	const struct word whole = w;
	r->has_mode = true;
	r->o.pc = is(w, "serialized") ? NV_PC_SERIALIZED
		  : is(w, "bursts")   ? NV_PC_BURSTS
				      : NV_PC_CONTINUOUS;
	if (r->o.pc != NV_PC_CONTINUOUS || is(w, "continuous"))
		return true;
	if (!take(&w, "bursts@"))
		return refuse(r, "has no mode '", whole,
			      "'; its modes are: continuous, serialized, bursts[@N]");
	r->o.pc = NV_PC_BURSTS;
	r->o.percent = number(w, 1, NV_MOST_PERCENT);
	return r->o.percent || refuse(r, "cannot serialize '", w,
				      "' percent of the launches in bursts: 1 to 50, default 5");
}

/* Reads a number of bytes, or a number with K, M or G, from 1M to 1024G. */
static bool read_size(struct reading *r, struct word w)
{
	static const char units[] = "KMG";
	struct word digits = w;
	const char *unit = w.n ? memchr(units, w.at[w.n - 1], sizeof units - 1) : NULL;
	digits.n -= unit != NULL;
	uint64_t n = number(digits, 1, UINT32_MAX / 16);
	r->o.record_bytes = n << (unit ? 10 * (unit - units + 1) : 0);
	if (r->o.record_bytes >= (UINT64_C(1) << 20) && r->o.record_bytes <= (UINT64_C(1) << 40))
		return true;
	return refuse(r, "cannot record '", w, "' bytes: a number, or K, M, G, from 1M to 1024G");
}

static bool read_counters(struct reading *r, struct word w)
{
	struct nv_counter_list list;
	struct word wrong = w;
	r->o.counters = w.at;
	r->o.n_counter_bytes = w.n;
	return nv_counter_list_read(w.at, w.n, &list, &wrong.at, &wrong.n) ||
	       refuse(r, "has no counters '", wrong,
		      "'; it has the sets " NV_COUNTER_SETS ", and CUPTI's names that end in .sum");
}

static bool read_word(struct reading *r, struct word w)
{
	const struct word whole = w;
	if (is(w, "notimes"))
		r->o.no_times = true;
	else if (is(w, "latency"))
		r->o.latency = true;
	else if (is(w, "energy"))
		r->o.energy = true;
	else if (is(w, "replay-kernels"))
		r->o.replays_kernels = true;
	else if (take(&w, "counters="))
		return read_counters(r, w);
	else if (take(&w, "mode="))
		return read_mode(r, w);
	else if (is(w, "pc"))
		r->has_pc = true;
	else if (is(w, "record"))
		r->o.record_bytes = NV_USUAL_RECORD_BYTES;
	else if (take(&w, "record="))
		return read_size(r, w);
	else if (take(&w, "pc@")) {
		r->has_pc = true;
		r->o.exponent = number(w, NV_LEAST_EXPONENT, NV_MOST_EXPONENT);
		return r->o.exponent || refuse(r, "cannot sample at pc@", w,
					       ": the period is 2^EXP cycles, EXP from 5 to 31");
	} else if (!take(&w, "cupti=") || !w.n) {
		return refuse(r, "has no option '", whole, "'; its options are: " NV_OPTIONS_SHOWN);
	}
	return true;
}

static bool read_all(struct reading *r, const char *options)
{
	static const struct word none = {"", 0};
	while (*options) {
		size_t n = strcspn(options, ",");
		if (!read_word(r, (struct word){options, n}))
			return false;
		options += n + (options[n] == ',');
	}
	if (!r->has_pc && (r->has_mode || r->o.no_times))
		return refuse(r, "samples instructions only with pc: ", none,
			      "mode=... and notimes need it");
	if (r->o.latency && r->o.no_times)
		return refuse(r, "cannot record when kernels were submitted: ", none,
			      "latency and notimes exclude each other");
	if (r->o.pc == NV_PC_BURSTS && r->o.no_times)
		return refuse(r, "cannot sample in bursts with notimes: ", none,
			      "the end of kernels must be known between them");
	if (r->o.replays_kernels && !r->o.n_counter_bytes)
		return refuse(r, "replays kernels only to count: ", none,
			      "replay-kernels needs counters=...");
	if (r->o.n_counter_bytes && (r->has_pc || r->o.record_bytes))
		return refuse(r, "cannot count in the same run: ", none,
			      "counters=... excludes pc and record");
	if (r->has_pc && r->o.pc == NV_PC_OFF)
		r->o.pc = NV_PC_CONTINUOUS;
	return true;
}

bool nv_options_read(const char *options, struct nv_options *o, char *why, size_t why_bytes)
{
	struct reading r = {.o = {.percent = NV_USUAL_PERCENT}, .why = text_in(why, why_bytes)};
	*o = r.o;
	if (!read_all(&r, options))
		return false;
	*o = r.o;
	return true;
}
