/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the rules of a recording and picks an order that keeps them; see shuffle.h. */
#include "tests/replay/shuffle.h"

#include "common/base/log.h"
#include "common/base/vec.h"

#include <stdlib.h>
#include <string.h>

struct rule {
	uint32_t event, before; /* `before` is played before `event` */
};

struct planning {
	const struct tape *t;
	VEC(struct rule) rules;      /* by event */
	uint32_t *first_rule;        /* by event */
	uint32_t *segment;           /* by event; no event leaves its segment */
	uint8_t *form;               /* enum nv_form of callback ids */
	/* The values of the maps are event + 1. */
	struct nv_map launches;      /* correlation id + 1 -> ENTER of the launch */
	struct nv_map handles;       /* handle -> the call that returned it */
	struct nv_map addresses;     /* address -> its allocation or release */
	struct nv_map buffers;       /* buffer -> its request or return */
	uint32_t last_load, last_guarded;
	bool is_short;               /* out of memory */
};

/* ---- rules ---- */

/* The LEAVE of an ENTER: everything that it did is done then. */
static uint32_t done(const struct tape *t, uint32_t n)
{
	return t->event[n].head->type == RECORDING_ENTER && t->event[n].leave != TAPE_NONE
		       ? t->event[n].leave
		       : n;
}

static void add_rule(struct planning *p, uint32_t event, uint32_t before)
{
	if (before == TAPE_NONE)
		return;
	before = done(p->t, before);
	if (before >= event || p->t->event[before].stream == p->t->event[event].stream ||
	    !tape_has_turn(&p->t->event[before]))
		return;
	struct rule *r = vec_push(&p->rules);
	if (r)
		*r = (struct rule){event, before};
	else
		p->is_short = true;
}

static void after_kept(struct planning *p, uint32_t event, struct nv_map *m, uint64_t key)
{
	uint64_t before = key ? nv_map_get(m, key) : 0;
	if (before)
		add_rule(p, event, (uint32_t)before - 1);
}

static void keep(struct planning *p, uint32_t event, struct nv_map *m, uint64_t key)
{
	if (key && !nv_map_put(m, key, (uint64_t)event + 1))
		p->is_short = true;
}

/* ---- events ---- */

static enum nv_form form_of(const struct planning *p, uint32_t id)
{
	return id < NV_MAX_CALLS ? (enum nv_form)p->form[id] : NV_FORM_NONE;
}

static uint64_t argument(const struct recording_driver *d, uint32_t i)
{
	return i < d->n_arguments ? recording_arguments(d)[i] : 0;
}

/* The eight bytes that the first argument points to. */
static uint64_t given(const struct recording_driver *d)
{
	const struct recording_memory *m = NULL;
	uint64_t value = 0;
	while (recording_next_memory(d, &m))
		if (m->argument == 0 && m->n_bytes >= sizeof value)
			memcpy(&value, m + 1, sizeof value);
	return value;
}

static void driver(struct planning *p, uint32_t n)
{
	const struct recording_driver *d = (const void *)p->t->event[n].head;
	enum nv_form form = form_of(p, d->id);
	if (!d->site)
		keep(p, n, &p->launches, (uint64_t)d->correlation + 1);
	switch (form) {
	case NV_FORM_LAUNCH:
		after_kept(p, n, &p->handles, argument(d, 0));
		break;
	case NV_FORM_LAUNCH_EX:
		after_kept(p, n, &p->handles, argument(d, 1));
		break;
	case NV_FORM_GET:
	case NV_FORM_LOAD:
		if (form == NV_FORM_GET)
			after_kept(p, n, &p->handles, argument(d, 1));
		if (d->site)
			keep(p, n, &p->handles, given(d));
		break;
	case NV_FORM_ALLOC:
	case NV_FORM_PITCH:
	case NV_FORM_ARRAY:
	case NV_FORM_ARRAY3:
	case NV_FORM_REGISTER:
	case NV_FORM_FREE:
		if (d->site) {
			uint64_t address = form == NV_FORM_FREE || form == NV_FORM_REGISTER
						   ? argument(d, 0)
						   : given(d);
			after_kept(p, n, &p->addresses, address);
			keep(p, n, &p->addresses, address);
		}
		break;
	default:
		break;
	}
}

static void resource(struct planning *p, uint32_t n)
{
	const struct recording_resource *r = (const void *)p->t->event[n].head;
	if (r->id == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
		add_rule(p, n, p->last_load);
		p->last_load = n;
	}
}

static uint32_t correlation_of(const struct recording_complete *c, uint32_t i)
{
	const uint32_t *offset = recording_offsets(c);
	uint64_t end = i + 1 < c->n_records ? offset[i + 1] : c->n_valid;
	const void *record = recording_content(c) + offset[i];
	const uint32_t *id = NULL;
	CUpti_ActivityKind kind = end - offset[i] < sizeof(CUpti_Activity)
					  ? CUPTI_ACTIVITY_KIND_INVALID
					  : ((const CUpti_Activity *)record)->kind;
	size_t n = end - offset[i];
	if ((kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) &&
	    n >= sizeof(CUpti_ActivityKernel10))
		id = &((const CUpti_ActivityKernel10 *)record)->correlationId;
	else if (kind == CUPTI_ACTIVITY_KIND_MEMCPY && n >= sizeof(CUpti_ActivityMemcpy6))
		id = &((const CUpti_ActivityMemcpy6 *)record)->correlationId;
	else if (kind == CUPTI_ACTIVITY_KIND_MEMCPY2 && n >= sizeof(CUpti_ActivityMemcpyPtoP4))
		id = &((const CUpti_ActivityMemcpyPtoP4 *)record)->correlationId;
	else if (kind == CUPTI_ACTIVITY_KIND_MEMSET && n >= sizeof(CUpti_ActivityMemset4))
		id = &((const CUpti_ActivityMemset4 *)record)->correlationId;
	return id ? *id : 0;
}

static void complete(struct planning *p, uint32_t n)
{
	const struct recording_complete *c = (const void *)p->t->event[n].head;
	add_rule(p, n, p->last_load);
	after_kept(p, n, &p->buffers, c->buffer);
	keep(p, n, &p->buffers, c->buffer);
	for (uint32_t i = 0; i < c->n_records; i++)
		after_kept(p, n, &p->launches, (uint64_t)correlation_of(c, i) + 1);
}

static void request(struct planning *p, uint32_t n)
{
	uint32_t leave = p->t->event[n].leave;
	uint64_t buffer =
		leave == TAPE_NONE
			? 0
			: ((const struct recording_leave *)p->t->event[leave].head)->value[0];
	after_kept(p, n, &p->buffers, buffer);
	keep(p, n, &p->buffers, buffer);
}

/* Samples come after their modules and, if they know them, after their launches. */
static void guarded(struct planning *p, uint32_t n)
{
	const struct recording_call *c = (const void *)p->t->event[n].head;
	const struct recording_pc_data *d =
		c->head.what == RECORDING_PC_GET_DATA || c->head.what == RECORDING_PC_DISABLE
			? recording_pc_data(c)
			: NULL;
	add_rule(p, n, p->last_guarded);
	p->last_guarded = n;
	if (!d)
		return;
	add_rule(p, n, p->last_load);
	const struct recording_pc *pc = (const void *)(d + 1);
	for (uint32_t i = 0; i < d->n_pcs; i++, pc = recording_next_pc(pc))
		if (pc->correlation)
			after_kept(p, n, &p->launches, (uint64_t)pc->correlation + 1);
}

/* A flush delivered the buffers that arrived while it waited. */
static void flush(struct planning *p, uint32_t n)
{
	const struct recording_call *c = (const void *)p->t->event[n].head;
	for (uint32_t i = n; i-- > 0 && p->t->event[i].head->order > c->begin;)
		if (tape_is_enter(&p->t->event[i], RECORDING_COMPLETE))
			add_rule(p, n, i);
}

static void find_rules(struct planning *p, uint32_t n)
{
	const struct tape_event *e = &p->t->event[n];
	p->first_rule[n] = (uint32_t)p->rules.n;
	if (tape_is_enter(e, RECORDING_DRIVER))
		driver(p, n);
	else if (tape_is_enter(e, RECORDING_RESOURCE))
		resource(p, n);
	else if (tape_is_enter(e, RECORDING_REQUEST))
		request(p, n);
	else if (tape_is_enter(e, RECORDING_COMPLETE))
		complete(p, n);
	else if (tape_is_long(e) && e->head->what != RECORDING_WAIT &&
		 e->head->what != RECORDING_POINT)
		guarded(p, n);
	if (e->head->type == RECORDING_CALL && e->head->what == RECORDING_FLUSH_ALL)
		flush(p, n);
}

/* ---- segments ---- */

static bool is_capture(const struct planning *p, const struct tape_event *e)
{
	if (!tape_is_enter(e, RECORDING_DRIVER))
		return false;
	enum nv_form form = form_of(p, ((const struct recording_driver *)e->head)->id);
	return form == NV_FORM_CAPTURE_BEGIN || form == NV_FORM_CAPTURE_END;
}

static bool is_context(const struct tape_event *e)
{
	if (!tape_is_enter(e, RECORDING_RESOURCE))
		return false;
	uint32_t id = ((const struct recording_resource *)e->head)->id;
	return id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED ||
	       id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING;
}

static bool is_barrier(const struct planning *p, const struct tape_event *e)
{
	return tape_is_enter(e, RECORDING_INIT) || tape_is_enter(e, RECORDING_RUN) ||
	       tape_is_enter(e, RECORDING_EXIT) || tape_is_enter(e, RECORDING_END) ||
	       tape_is_enter(e, RECORDING_SWITCH) || is_context(e) || is_capture(p, e);
}

static void freeze(uint8_t *frozen, uint32_t from, uint32_t to)
{
	memset(frozen + from, 1, to - from + 1);
}

/* A round reaches from a lock or a decision to the next one. Rounds that switch sampling keep their
 * place: they hold launches, and no event shows when. */
static void freeze_rounds(const struct tape *t, uint32_t stream, uint8_t *frozen)
{
	uint32_t lock = TAPE_NONE;
	for (uint32_t n = t->stream[stream].first; n != TAPE_NONE; n = t->event[n].next) {
		const struct recording_event *h = t->event[n].head;
		if (h->type != RECORDING_CALL)
			continue;
		if (h->what == RECORDING_LOCK || h->what == RECORDING_AGREE)
			lock = n;
		if (h->what == RECORDING_PC_ENABLE || h->what == RECORDING_PC_DISABLE)
			freeze(frozen, lock == TAPE_NONE ? n : lock, n);
	}
}

/* The end of a call that is a barrier is a barrier too. */
static bool find_segments(struct planning *p)
{
	uint8_t *frozen = calloc((size_t)p->t->n_events + 1, 1);
	uint32_t segment = 0;
	if (!frozen)
		return false;
	for (uint32_t s = 0; s < p->t->n_streams; s++)
		freeze_rounds(p->t, s, frozen);
	for (uint32_t n = 0; n < p->t->n_events; n++) {
		const struct tape_event *e = &p->t->event[n];
		if (is_barrier(p, e)) {
			frozen[n] = 1;
			if (e->leave != TAPE_NONE)
				freeze(frozen, e->leave, e->leave);
		}
	}
	for (uint32_t n = 0; n < p->t->n_events; n++) {
		segment += n && (frozen[n] || frozen[n - 1]);
		p->segment[n] = segment;
	}
	free(frozen);
	return true;
}

/* ---- an order ---- */

/* xorshift64*; the state is not 0. */
static uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545F4914F6CDD1D);
}

static bool is_ready(const struct planning *p, uint32_t n, const bool *is_planned)
{
	for (uint32_t i = p->first_rule[n]; i < p->first_rule[n + 1]; i++)
		if (!is_planned[p->rules.at[i].before])
			return false;
	return true;
}

/* Plans the next events of a stream while they are ready, at most `most`. Answers that need no turn
 * count too. Returns how many. */
static unsigned take_some(const struct planning *p, struct player *to, uint32_t *next,
			  uint32_t segment, unsigned most, bool *is_planned)
{
	unsigned n = 0;
	while (*next != TAPE_NONE && p->segment[*next] == segment && n < most &&
	       is_ready(p, *next, is_planned)) {
		is_planned[*next] = true;
		if (tape_has_turn(&p->t->event[*next]))
			to->plan[to->n_plan++] = *next;
		*next = p->t->event[*next].next;
		n++;
	}
	return n;
}

struct shuffling {
	uint32_t *next;   /* by stream */
	uint32_t *stream; /* those with events in the segment */
	uint32_t n_streams;
	bool *is_planned;
};

static void shuffle_segment(const struct planning *p, struct player *to, struct shuffling *s,
			    uint32_t from, uint64_t *random)
{
	uint32_t segment = p->segment[from];
	s->n_streams = 0;
	for (uint32_t n = from; n < p->t->n_events && p->segment[n] == segment; n++)
		if (s->next[p->t->event[n].stream] == n)
			s->stream[s->n_streams++] = p->t->event[n].stream;
	while (s->n_streams) {
		uint32_t first = (uint32_t)(random_next(random) % s->n_streams);
		unsigned most = 1 + (unsigned)(random_next(random) % 8), n = 0;
		for (uint32_t i = 0; i < s->n_streams && !n; i++) {
			uint32_t at = (first + i) % s->n_streams, stream = s->stream[at];
			n = take_some(p, to, &s->next[stream], segment, most, s->is_planned);
			if (s->next[stream] == TAPE_NONE || p->segment[s->next[stream]] != segment)
				s->stream[at] = s->stream[--s->n_streams];
		}
	}
}

static bool shuffle_all(const struct planning *p, struct player *to, uint64_t seed)
{
	const struct tape *t = p->t;
	struct shuffling s = {.next = calloc((size_t)t->n_streams + 1, sizeof *s.next),
			      .stream = calloc((size_t)t->n_streams + 1, sizeof *s.stream),
			      .is_planned = calloc((size_t)t->n_events + 1, sizeof *s.is_planned)};
	uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15) + UINT64_C(0x632BE59BD9B4E019);
	bool good = s.next && s.stream && s.is_planned;
	for (uint32_t i = 0; good && i < t->n_streams; i++)
		s.next[i] = t->stream[i].first;
	for (uint32_t n = 0; good && n < t->n_events; n++)
		if (!n || p->segment[n] != p->segment[n - 1])
			shuffle_segment(p, to, &s, n, &random);
	free(s.next);
	free(s.stream);
	free(s.is_planned);
	return good;
}

/* ---- all ---- */

/* CUPTI's name of a call tells its form. */
static void find_forms(struct planning *p)
{
	for (uint32_t i = 0; i < p->t->n_answers; i++) {
		const struct recording_call *c = (const void *)p->t->event[p->t->answer[i]].head;
		const char *name = recording_out(c);
		if (c->head.what == RECORDING_GET_CALLBACK_NAME &&
		    c->key[0] >> 32 == CUPTI_CB_DOMAIN_DRIVER_API &&
		    (uint32_t)c->key[0] < NV_MAX_CALLS && c->n_out && !name[c->n_out - 1])
			p->form[(uint32_t)c->key[0]] = nv_call_of(name).form;
	}
}

static bool make_shuffled(struct player *to, uint64_t seed)
{
	size_t n = (size_t)to->tape.n_events + 1;
	struct planning p = {.t = &to->tape, .last_load = TAPE_NONE, .last_guarded = TAPE_NONE};
	struct nv_map *const maps[] = {&p.launches, &p.handles, &p.addresses, &p.buffers};
	p.first_rule = calloc(n, sizeof *p.first_rule);
	p.segment = calloc(n, sizeof *p.segment);
	p.form = calloc(NV_MAX_CALLS, sizeof *p.form);
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		nv_map_init(maps[i], n);
	bool good = p.first_rule && p.segment && p.form;
	if (good) {
		find_forms(&p);
		for (uint32_t i = 0; i < to->tape.n_events; i++)
			find_rules(&p, i);
		p.first_rule[to->tape.n_events] = (uint32_t)p.rules.n;
		good = !p.is_short && p.rules.n < TAPE_NONE && find_segments(&p) &&
		       shuffle_all(&p, to, seed);
	}
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		nv_map_clear(maps[i]);
	vec_free(&p.rules);
	free(p.first_rule);
	free(p.segment);
	free(p.form);
	return good;
}

static uint32_t n_moved(const struct player *p)
{
	uint32_t n = 0;
	for (uint32_t i = 1; i < p->n_plan; i++)
		n += p->plan[i] < p->plan[i - 1];
	return n;
}

static uint64_t used_seed;

void shuffle_seed(uint64_t seed)
{
	used_seed = seed;
}

bool shuffle_plan(struct player *p)
{
	bool good = make_shuffled(p, used_seed);
	if (good)
		log_detail(NULL, "shuffled: %u of %u events come before one that they came after",
			   n_moved(p), p->n_plan);
	return good;
}
