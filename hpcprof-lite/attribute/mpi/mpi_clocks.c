/* SPDX-License-Identifier: BSD-3-Clause */
/* See mpi_clocks.h. Test: tests/unit/prof_mpi/test_mpi_waits.c. */
#include "hpcprof-lite/attribute/mpi/mpi_clocks.h"

#include "hpcprof-lite/parts/comm.h"

#include <stdlib.h>
#include <string.h>

enum {
	N_WINDOWS = 64,
	DRIFT_ONE_IN = 10000,     /* two clocks drift apart by at most 100 us in a second */
	/* while a host is up, its time of day may be set by up to this much */
	ONE_BOOT_NS = 1000000000
};

/*
 * Bounds in one window of time: the clock of a host minus that of the first host is in [low, high].
 */
struct band {
	int64_t low, high;
	int64_t middle_ns;        /* of the window, by the clock of the host */
};

struct host_clock {
	struct band band[N_WINDOWS];
	int64_t from_ns, until_ns; /* its first and last arrival */
	int64_t fallback_ns;       /* the difference if real-time clocks agree */
};

/*
 * True for calls that no process leaves before all have entered. Some calls guarantee this only if
 * they move data.
 */
static bool holds_all(const struct mpi_arrival *a)
{
	switch (a->call) {
	case MPI_CALL_Barrier:
	case MPI_CALL_Comm_dup:
	case MPI_CALL_Comm_split:
		return true;
	case MPI_CALL_Allreduce:
	case MPI_CALL_Allgather:
	case MPI_CALL_Alltoall:
	case MPI_CALL_Reduce_scatter_block:
		return !a->is_empty;
	default:
		return false;
	}
}

static unsigned window_of(const struct host_clock *h, int64_t at_ns)
{
	int64_t length = h->until_ns - h->from_ns;
	if (length <= 0 || at_ns <= h->from_ns)
		return 0;
	double share = (double)(at_ns - h->from_ns) / (double)length;
	unsigned w = (unsigned)(share * N_WINDOWS);
	return w < N_WINDOWS ? w : N_WINDOWS - 1;
}

/* The arrivals of one host at one call. */
struct group {
	int64_t last_enter_ns, first_leave_ns;
	bool is_here;
};

static void gather(struct group *groups, const struct mpi_arrival *at)
{
	struct group *g = &groups[at->host];
	if (!g->is_here)
		*g = (struct group){INT64_MIN, INT64_MAX, true};
	if (at->enter_ns > g->last_enter_ns)
		g->last_enter_ns = at->enter_ns;
	if (at->leave_ns < g->first_leave_ns)
		g->first_leave_ns = at->leave_ns;
}

static void tighten(struct host_clock *c, const struct group *base, const struct group *g)
{
	struct band *b = &c->band[window_of(c, g->last_enter_ns)];
	/* each side enters before the other leaves */
	int64_t low = g->last_enter_ns - base->first_leave_ns,
		high = g->first_leave_ns - base->last_enter_ns;
	if (low > b->low)
		b->low = low;
	if (high < b->high)
		b->high = high;
}

/*
 * Bounds the clocks of all hosts that took part in one call. `groups`: by host; is_here is false in
 * all before and after.
 */
static void bound_by(struct host_clock *clocks, struct group *groups, const struct mpi_arrival *at,
		     size_t n)
{
	for (size_t i = 0; i < n; i++)
		gather(groups, &at[i]);
	const struct group base = groups[0];
	for (size_t i = 0; i < n; i++) {
		struct group *g = &groups[at[i].host];
		if (at[i].host && g->is_here && base.is_here)
			tighten(&clocks[at[i].host], &base, g);
		g->is_here = false;
	}
}

/* CLOCK_MONOTONIC minus CLOCK_REALTIME when a process of the host started; 0: damaged. */
static int64_t to_mono(const struct msr_header *h)
{
	int64_t d = (int64_t)(h->start_mono_ns - h->start_real_ns);
	return d > -(INT64_C(1) << 61) && d < INT64_C(1) << 61 ? d : 0;
}

/*
 * True if CLOCK_MONOTONIC of the host restarted, as at a reboot between two runs. Then no single
 * difference holds for all files of the host.
 */
static bool is_restarted(const struct load_job *job, uint64_t host_id)
{
	int64_t first = 0;
	for (size_t i = 0; i < job->files.n; i++) {
		const struct msr_header *h = &job->files.at[i].header;
		const int64_t d = h->host_id == host_id ? to_mono(h) : 0;
		first = first ? first : d;
		if (d && llabs(d - first) > ONE_BOOT_NS)
			return true;
	}
	return false;
}

static void start(struct host_clock *clocks, const struct mpi_arrivals *a,
		  const struct load_job *job)
{
	for (uint32_t h = 0; h < a->hosts.n; h++) {
		clocks[h].from_ns = INT64_MAX;
		clocks[h].until_ns = INT64_MIN;
		for (unsigned w = 0; w < N_WINDOWS; w++)
			clocks[h].band[w] = (struct band){INT64_MIN, INT64_MAX, 0};
	}
	for (size_t i = 0; i < a->list.n; i++) {
		struct host_clock *c = &clocks[a->list.at[i].host];
		if (a->list.at[i].enter_ns < c->from_ns)
			c->from_ns = a->list.at[i].enter_ns;
		if (a->list.at[i].enter_ns > c->until_ns)
			c->until_ns = a->list.at[i].enter_ns;
	}
	for (size_t i = job->files.n; i-- > 0;) {
		const struct msr_header *r = &job->files.at[i].header;
		for (uint32_t h = 0; h < a->hosts.n; h++)
			if (a->hosts.at[h] == r->host_id)
				clocks[h].fallback_ns = to_mono(r);
	}
}

/* A bound from another time also holds here if it is widened by the possible drift in between. */
static struct band widen(const struct host_clock *c, int64_t at_ns)
{
	struct band b = {INT64_MIN, INT64_MAX, at_ns};
	for (unsigned w = 0; w < N_WINDOWS; w++) {
		const struct band *from = &c->band[w];
		int64_t drift = llabs(from->middle_ns - at_ns) / DRIFT_ONE_IN;
		if (from->low != INT64_MIN && from->low - drift > b.low)
			b.low = from->low - drift;
		if (from->high != INT64_MAX && from->high + drift < b.high)
			b.high = from->high + drift;
	}
	return b;
}

/*
 * Makes the bands as narrow as all calls allow. Returns the number of windows, or 0 if one side has
 * no bound at all. *error_ns: the largest error.
 */
static unsigned settle(struct host_clock *c, uint64_t *error_ns)
{
	*error_ns = 0;
	struct band narrow[N_WINDOWS];
	if (c->from_ns > c->until_ns) /* no arrivals */
		return 0;
	for (unsigned w = 0; w < N_WINDOWS; w++)
		c->band[w].middle_ns =
			c->from_ns +
			(int64_t)((double)(c->until_ns - c->from_ns) * (w + 0.5) / N_WINDOWS);
	for (unsigned w = 0; w < N_WINDOWS; w++) {
		narrow[w] = widen(c, c->band[w].middle_ns);
		if (narrow[w].low == INT64_MIN || narrow[w].high == INT64_MAX)
			return 0;
		/* bounds may cross if some call did not hold all processes */
		uint64_t half = (uint64_t)llabs(narrow[w].high - narrow[w].low) / 2;
		if (half > *error_ns)
			*error_ns = half;
	}
	memcpy(c->band, narrow, sizeof narrow);
	return N_WINDOWS;
}

static int64_t middle(const struct band *b)
{
	return b->low + (b->high - b->low) / 2;
}

/* Interpolates linearly between the middles of windows. */
static int64_t difference_at(const struct host_clock *c, unsigned n, int64_t at_ns)
{
	unsigned i = 0;
	while (i + 1 < n && c->band[i + 1].middle_ns < at_ns)
		i++;
	const struct band *a = &c->band[i], *b = &c->band[i + 1 < n ? i + 1 : i];
	int64_t span = b->middle_ns - a->middle_ns;
	if (span <= 0 || at_ns <= a->middle_ns)
		return middle(a);
	if (at_ns >= b->middle_ns)
		return middle(b);
	double share = (double)(at_ns - a->middle_ns) / (double)span;
	return middle(a) + (int64_t)((double)(middle(b) - middle(a)) * share);
}

/*
 * Errors of hosts relative to the first host. The errors of two other hosts add up, so times on any
 * two hosts differ by at most the sum of the two largest errors.
 */
struct errors {
	uint64_t largest_ns, second_ns;
};

static void add_error(struct errors *e, uint64_t error_ns)
{
	if (error_ns > e->largest_ns) {
		e->second_ns = e->largest_ns;
		e->largest_ns = error_ns;
	} else if (error_ns > e->second_ns) {
		e->second_ns = error_ns;
	}
}

/* The bounds of a clock, stored so that the largest value is the tightest, for comm_most(). */
enum { N_BOUNDS = 2 + 2 * N_WINDOWS };

static void put_bounds(const struct host_clock *c, int64_t *to)
{
	*to++ = ~c->from_ns;
	*to++ = c->until_ns;
	for (unsigned w = 0; w < N_WINDOWS; w++) {
		*to++ = c->band[w].low;
		*to++ = ~c->band[w].high;
	}
}

static void get_bounds(struct host_clock *c, const int64_t *from)
{
	c->from_ns = ~*from++;
	c->until_ns = *from++;
	for (unsigned w = 0; w < N_WINDOWS; w++) {
		c->band[w].low = *from++;
		c->band[w].high = ~*from++;
	}
}

/* Combines the bounds that all parts of the job found for each clock. */
static void share(const struct load_job *job, struct host_clock *clocks, uint32_t n_hosts,
		  int64_t *bounds)
{
	for (uint32_t h = 0; h < n_hosts; h++)
		put_bounds(&clocks[h], bounds + (size_t)h * N_BOUNDS);
	comm_most(job->comm, bounds, (size_t)n_hosts * N_BOUNDS);
	for (uint32_t h = 0; h < n_hosts; h++)
		get_bounds(&clocks[h], bounds + (size_t)h * N_BOUNDS);
}

static void find_bounds(const struct mpi_arrivals *a, const struct load_job *job,
			struct host_clock *clocks, struct group *groups, int64_t *bounds)
{
	const bool are_shared = mpi_arrivals_are_shared(job);
	const uint32_t n_hosts = (uint32_t)a->hosts.n;
	start(clocks, a, job);
	if (are_shared)
		share(job, clocks, n_hosts, bounds);
	for (size_t i = 0, end; i < a->list.n; i = end) {
		bool is_whole;
		end = mpi_arrivals_end(a, i, &is_whole);
		if (is_whole && holds_all(&a->list.at[i]))
			bound_by(clocks, groups, &a->list.at[i], end - i);
	}
	if (are_shared)
		share(job, clocks, n_hosts, bounds);
}

/*
 * Compares the clocks of all hosts. Returns them by host number. n[h] is 0 if host h could not be
 * compared with the first. Returns NULL if memory is short. Ends a step of the parts that share the
 * calls.
 */
static struct host_clock *compare(const struct mpi_arrivals *a, const struct load_job *job,
				  unsigned *n, struct errors *errors)
{
	const uint32_t n_hosts = (uint32_t)a->hosts.n;
	struct host_clock *clocks = calloc(n_hosts, sizeof *clocks);
	struct group *groups = calloc(n_hosts, sizeof *groups);
	int64_t *bounds = calloc((size_t)n_hosts * N_BOUNDS, sizeof *bounds);
	bool ok = clocks && groups && bounds && n;
	if (mpi_arrivals_are_shared(job))
		ok = comm_agree(job->comm, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
	if (ok) {
		find_bounds(a, job, clocks, groups, bounds);
		const bool has_base = !is_restarted(job, a->hosts.at[0]);
		for (uint32_t h = 1; h < n_hosts; h++) {
			uint64_t error_ns;
			n[h] = has_base && !is_restarted(job, a->hosts.at[h])
				       ? settle(&clocks[h], &error_ns)
				       : 0;
			if (n[h])
				add_error(errors, error_ns);
		}
	}
	free(bounds);
	free(groups);
	if (!ok)
		free(clocks);
	return ok ? clocks : NULL;
}

/* The difference for a clock that could not be compared. It assumes that the times of day agree. */
static int64_t fallback(const struct mpi_arrival *at, const struct host_clock *clocks,
			const struct load_job *job)
{
	const int64_t of_host = clocks[at->host].fallback_ns,
		      own = at->file < job->files.n ? to_mono(&job->files.at[at->file].header) : 0;
	const bool is_other_boot = own && llabs(own - of_host) > ONE_BOOT_NS;
	return (is_other_boot ? own : of_host) - clocks[0].fallback_ns;
}

bool mpi_clocks_join(struct mpi_arrivals *a, const struct load_job *job, uint64_t *error_ns)
{
	const uint32_t n_hosts = (uint32_t)a->hosts.n;
	*error_ns = 0;
	if (n_hosts < 2 || !(mpi_arrivals_are_shared(job) ? a->n_all : a->list.n))
		return true;
	unsigned *n = calloc(n_hosts, sizeof *n);
	struct errors errors = {0};
	struct host_clock *clocks = compare(a, job, n, &errors);
	bool is_unknown = false;
	if (clocks) {
		for (uint32_t h = 1; h < n_hosts; h++)
			is_unknown = is_unknown || !n[h];
		for (size_t i = 0; i < a->list.n; i++) {
			struct mpi_arrival *at = &a->list.at[i];
			const struct host_clock *c = &clocks[at->host];
			int64_t d = n[at->host] ? difference_at(c, n[at->host], at->enter_ns)
						: fallback(at, clocks, job);
			at->enter_ns -= d;
			at->leave_ns -= d;
		}
	}
	*error_ns = is_unknown ? UINT64_MAX : errors.largest_ns + errors.second_ns;
	bool ok = clocks;
	free(clocks);
	free(n);
	return ok;
}

/*
 * The difference in the middle of the run. Time lines have a single offset, so the error also
 * includes the drift of the clocks until the ends.
 */
static int64_t difference_of(const struct host_clock *c, unsigned n, struct errors *errors)
{
	uint64_t error_ns = 0;
	const int64_t d = difference_at(c, n, c->from_ns + (c->until_ns - c->from_ns) / 2);
	for (unsigned i = 0; i < n; i++) {
		uint64_t half = (uint64_t)llabs(c->band[i].high - c->band[i].low) / 2,
			 drift = (uint64_t)llabs(middle(&c->band[i]) - d);
		if (half + drift > error_ns)
			error_ns = half + drift;
	}
	add_error(errors, error_ns);
	return d;
}

/* `d`: the clock of this host minus that of the first. */
static void shift(struct load_job *job, uint64_t host_id, int64_t d, int64_t first_to_mono)
{
	for (size_t i = 0; i < job->files.n; i++) {
		struct msr_header *h = &job->files.at[i].header;
		if (h->host_id == host_id && to_mono(h))
			h->start_real_ns = h->start_mono_ns - (uint64_t)(d + first_to_mono);
	}
}

/* False if some host of the job made no record that could be compared. */
static bool has_all_hosts(const struct mpi_arrivals *a, const struct load_job *job)
{
	uint64_t last = a->hosts.at[0];
	for (size_t i = 0; i < job->files.n; i++) {
		const uint64_t id = job->files.at[i].header.host_id;
		size_t h = 0;
		if (id == last) /* most files of a host are neighbours */
			continue;
		while (h < a->hosts.n && a->hosts.at[h] != id)
			h++;
		if (h == a->hosts.n)
			return false;
		last = id;
	}
	return true;
}

static uint32_t count_hosts(const struct load_job *job)
{
	uint32_t n = 0;
	for (size_t i = 0; i < job->files.n && n < 2; i++)
		n += n == 0 ||
		     job->files.at[i].header.host_id != job->files.at[0].header.host_id;
	return n;
}

bool mpi_clocks_align(struct load_job *job, uint64_t *error_ns)
{
	struct mpi_arrivals a = {0};
	struct errors errors = {0}, unused = {0};
	*error_ns = 0;
	if (count_hosts(job) < 2)
		return true;
	*error_ns = UINT64_MAX;
	bool ok = mpi_arrivals_collect(&a, job, NULL);
	const uint32_t n_hosts = (uint32_t)a.hosts.n;
	const bool are_several = ok && n_hosts > 1;
	unsigned *n = are_several ? calloc(n_hosts, sizeof *n) : NULL;
	struct host_clock *clocks = are_several ? compare(&a, job, n, &unused) : NULL;
	ok = ok && (n_hosts < 2 || clocks);
	if (clocks) {
		bool is_unknown = !has_all_hosts(&a, job);
		for (uint32_t h = 1; h < n_hosts; h++) {
			if (n[h])
				shift(job, a.hosts.at[h],
				      difference_of(&clocks[h], n[h], &errors),
				      clocks[0].fallback_ns);
			is_unknown = is_unknown || !n[h];
		}
		*error_ns = is_unknown ? UINT64_MAX : errors.largest_ns + errors.second_ns;
	}
	free(clocks);
	free(n);
	mpi_arrivals_free(&a);
	return ok;
}

static bool open_clocks(void *none, struct topic_run *r)
{
	(void)none;
	return mpi_clocks_align(r->job, &r->m->clock_error_ns);
}

const struct topic_ops topic_clocks = {.steps = {[TOPIC_OPEN] = open_clocks}};
