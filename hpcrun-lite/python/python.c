/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the interpreter and the thread's state in it, and joins native and Python frames by their
 * places on the C stack; see python.h. Must not wait or allocate. Memory that may have been freed
 * is read with guarded loads only. Tests: tests/cli/python/python_*.sh.
 */
#include "hpcrun-lite/python/python_internal.h"

#include "common/safe/find_object.h"
#include "common/safe/load.h"
#include "common/safe/text.h"
#include "hpcrun-lite/python/python_symbols.h"
#include "hpcrun-lite/python/python_tls.h"
#include "hpcrun-lite/python/torch_code.h"

#include <dlfcn.h>
#include <pthread.h>

struct python_interpreter python;

/* ---- the interpreter ---- */

void python_init(const struct python_host *host)
{
	python.host = host;
}

/*
 * Returns the minor version of Python 3; 0: older than 3.10, or unknown. Before 3.11 no variable
 * contains it, but PyIter_Send came with 3.10.
 */
static unsigned version_of(const struct symbols *s)
{
	unsigned long version;
	uintptr_t at = symbols_find(s, "Py_Version", NULL);
	if (at)
		return load_guarded(&version, at, sizeof version) == sizeof version &&
				       version >> 24 == 3
			       ? version >> 16 & 0xff
			       : 0;
	return symbols_find(s, "PyIter_Send", NULL) ? 10 : 0;
}

static void say_unknown(unsigned minor)
{
	char line[160];
	struct text t = text_in(line, sizeof line);
	text_put(&t, "Python frames are not shown: ");
	if (minor) {
		text_put(&t, "CPython 3.");
		text_put_u64(&t, minor);
		text_put(&t, ", or this build of it, is not supported; 3.10 to 3.15 are");
	} else {
		text_put(&t, "the interpreter is older than CPython 3.10");
	}
	python.host->note(line);
}

/* Returns false if it is not known where a thread has its state. */
static bool find_states(const struct python_layout *l, const struct symbols *s)
{
	uint8_t code[64];
	uint64_t n;
	if (l->runtime.tss != PYTHON_NOWHERE)
		return true;
	const uintptr_t at = symbols_find(s, "PyGILState_GetThisThreadState", &n);
	n = n < sizeof code ? n : sizeof code;
	return at && load_guarded(code, at, n) == n && python_tls_decode(code, n, at, &python.tls);
}

void python_consider(const struct link_map *map, uint16_t module)
{
	struct symbols s;
	uintptr_t runtime;
	uint8_t said[PYTHON_LAYOUT_SAID_BYTES];
	if (!python.host || atomic_load_explicit(&python.considered, memory_order_relaxed) ||
	    !symbols_open(map, &s) || !(runtime = symbols_find(&s, "_PyRuntime", NULL)) ||
	    atomic_exchange_explicit(&python.considered, true, memory_order_relaxed))
		return;
	unsigned minor = version_of(&s);
	const struct python_layout *l = python_layout_of(minor);
	python.runtime = runtime;
	python.map = map;
	python.module = module;
	python.types = (struct code_types){symbols_find(&s, "PyCode_Type", NULL),
					   symbols_find(&s, "PyUnicode_Type", NULL),
					   symbols_find(&s, "PyBytes_Type", NULL)};
	python.object_types = (struct object_types){symbols_find(&s, "PyDict_Type", NULL),
						    symbols_find(&s, "PyODict_Type", NULL),
						    symbols_find(&s, "PyCell_Type", NULL)};
	uintptr_t call = symbols_find(&s, "_PyEval_EvalFrameDefault", &python.call_bytes);
	python.call_link = call ? call - map->l_addr : 0;
	bool known = l && python.types.code && python.types.string && python.types.bytes;
	if (known)
		known = python_layout_agrees(l, said, load_guarded(said, runtime, sizeof said)) &&
			find_states(l, &s);
	if (!known)
		say_unknown(minor);
	else
		atomic_store_explicit(&python.layout, l, memory_order_release);
}

bool python_is_there(void)
{
	return atomic_load_explicit(&python.layout, memory_order_relaxed) != NULL;
}

void python_forked(void)
{
	if (!atomic_load_explicit(&python.considered, memory_order_relaxed))
		return; /* no interpreter: touch no page, because each one costs the child a copy */
	atomic_fetch_add_explicit(&python.n_forks, 1, memory_order_relaxed);
	code_forget();
	torch_forget();
}

/* Returns false if dlclose has unloaded the interpreter. */
static bool is_loaded(void)
{
	struct dl_find_object now;
	return find_object((void *)python.runtime, &now) == 0 &&
	       now.dlfo_link_map == python.map;
}

static uint16_t logical_module(void)
{
	uint32_t id = atomic_load_explicit(&python.logical, memory_order_relaxed);
	if (!id) {
		id = python.host->module();
		if (id != MSR_MODULE_UNKNOWN)
			atomic_store_explicit(&python.logical, id, memory_order_relaxed);
	}
	return (uint16_t)id;
}

uint32_t python_count_interpreters(const struct python_layout *l)
{
	const uint8_t *runtime = (const uint8_t *)python.runtime;
	return is_loaded() && l->runtime.interpreters != PYTHON_NOWHERE
		       ? reader_half(runtime, l->runtime.interpreters)
		       : 0;
}

/* ---- the thread state ---- */

/*
 * Returns true if no other thread can free this thread's state: it holds the interpreter lock, or
 * it set the interpreter up. States of other threads are freed at shutdown, while daemon threads
 * may still run.
 */
static bool is_held(const struct python_layout *l, const struct python_thread *t,
		    const uint8_t *runtime, const struct python_state *s)
{
	if (t->is_main && reader_word(runtime, l->runtime.main_thread) == (uint64_t)pthread_self())
		return true;
	if (l->runtime.current != PYTHON_NOWHERE)
		return reader_word(runtime, l->runtime.current) == s->at;
	return (reader_half(s->bytes, l->thread.status) & l->thread.status_mask) ==
	       l->thread.attached;
}

/* `known`: the variable, if this thread's state was found there before. */
static uintptr_t load_own_state(uintptr_t known)
{
	uintptr_t state, at = python_tls_place(&python.tls);
	if (at && (!python.tls.module || at == known))
		return *(const uintptr_t *)at;
	return at && load_guarded(&state, at, sizeof state) == sizeof state ? state : 0;
}

/*
 * Finds the thread state by CPython's key for PyGILState_Ensure, or its variable, but not during
 * shutdown. glibc's pthread_getspecific reads only the thread's own memory.
 */
static uintptr_t state_of_this_thread(const struct python_layout *l, const struct python_thread *t)
{
	const uint8_t *runtime = (const uint8_t *)python.runtime;
	if (!is_loaded() || reader_word(runtime, l->runtime.finalizing))
		return 0;
	if (l->runtime.tss == PYTHON_NOWHERE)
		return load_own_state(t ? t->own_at : 0);
	if (!reader_half(runtime, l->runtime.tss))
		return 0;
	return (uintptr_t)pthread_getspecific(reader_half(runtime, l->runtime.tss + 4));
}

void python_here(struct python_place *place)
{
	const struct python_layout *l = atomic_load_explicit(&python.layout, memory_order_acquire);
	place->state = l ? state_of_this_thread(l, NULL) : 0;
	place->thread = place->state ? (uint64_t)pthread_self() : 0;
}

/*
 * The state of another thread is read with guarded loads. The main thread's state does not move,
 * and that thread deletes the key's value before it frees the state.
 */
bool python_find_state(const struct python_layout *l, struct python_thread *t,
		       const struct python_place *other, struct python_state *s)
{
	const uint8_t *runtime = (const uint8_t *)python.runtime, *found;
	s->at = !other ? state_of_this_thread(l, t) : is_loaded() ? other->state : 0;
	t->reader.direct = t->is_main && !other;
	found = s->at ? reader_load(&t->reader, s->bytes, s->at, sizeof s->bytes) : NULL;
	t->reader.direct = false;
	if (!found || reader_word(found, l->thread.thread_id) !=
			      (other ? other->thread : (uint64_t)pthread_self()))
		return false;
	if (found != s->bytes)
		memcpy(s->bytes, found, sizeof s->bytes);
	s->is_held = !other && is_held(l, t, runtime, s);
	if (!other && l->runtime.tss == PYTHON_NOWHERE)
		t->own_at = python_tls_place(&python.tls);
	return true;
}

/* ---- joining ---- */

size_t python_thread_bytes(uint32_t max_depth)
{
	return ((sizeof(struct python_thread) + 63) & ~(size_t)63) +
	       (size_t)max_depth * (2 * sizeof(uint64_t) + sizeof(struct frames_frame) +
				    2 * sizeof(struct frames_run) + sizeof(struct code_known));
}

struct python_thread *python_thread_init(void *memory, uint32_t max_depth, bool is_main)
{
	struct python_thread *t = memory;
	uint8_t *at = (uint8_t *)memory + ((sizeof *t + 63) & ~(size_t)63);
	t->max_depth = max_depth;
	t->is_main = is_main;
	t->path[0] = (uint64_t *)at;
	t->path[1] = t->path[0] + max_depth;
	t->frames.frame = (struct frames_frame *)(t->path[1] + max_depth);
	t->frames.run = (struct frames_run *)(t->frames.frame + max_depth);
	t->runs = t->frames.run + max_depth;
	t->known = (struct code_known *)(t->runs + max_depth);
	t->frames.max = max_depth;
	t->frames.with_locals = python.host && python.host->names_modules;
	return t;
}

/*
 * Returns true if the stack was walked to its end and no frame is in the interpreter's module. Then
 * no frame runs Python code, whatever the thread state says. Threads that libraries made need no
 * guarded load because of this. In Python's own threads an outermost frame is in the interpreter.
 */
static bool is_plain(const struct unwind_path *walked)
{
	for (uint32_t i = walked->n; i-- > 0;)
		if (msr_addr_module(walked->addr[i]) == python.module)
			return false;
	return walked->end == UNWIND_ROOT;
}

static void pass_through(struct python_thread *t, const struct unwind_path *walked,
			 uint32_t n_inner, const struct python_cuts *cuts,
			 struct python_path *path)
{
	for (uint32_t i = 0; cuts && i < cuts->n; i++)
		cuts->at[i] -= cuts->at[i] < n_inner ? cuts->at[i] : n_inner;
	*path = (struct python_path){.addr = walked->addr + n_inner,
				     .n = walked->n - n_inner,
				     .n_same = !t || t->was_native ? walked->n_same : 0,
				     .end = walked->end,
				     .broken = path->broken};
	if (!t)
		return;
	t->was_native = true;
	t->n_previous = 0;
	t->torch.n = 0;
}

/* A path that grows from its innermost frame outwards. It is cut if there is no more room. */
struct path_builder {
	uint64_t *at;
	uint32_t n, max;
	uint32_t fetched; /* number of Python frames whose code objects were fetched together */
	bool full;
	const struct python_cuts *cuts;
	uint32_t n_cuts;  /* number of cuts that are already indices into this path */
};

static void append(struct path_builder *g, uint64_t addr)
{
	if (g->n < g->max)
		g->at[g->n++] = addr;
	else
		g->full = true;
}

/*
 * Converts the cuts up to the walked frame `next`, which is the next one to append or to replace.
 */
static void pass_cuts(struct path_builder *g, uint32_t next)
{
	while (g->cuts && g->n_cuts < g->cuts->n && g->cuts->at[g->n_cuts] <= next)
		g->cuts->at[g->n_cuts++] = g->n;
}

static void append_walked(struct path_builder *g, const struct unwind_path *walked, uint32_t i)
{
	pass_cuts(g, i);
	append(g, walked->addr[i]);
}

/* The frame of a module comes directly outside the frames that call it. */
static void note_call(const struct path_builder *g, const struct code_context *c,
		      struct python_thread *t, uint32_t i)
{
	if (!torch_add(&t->torch, c->layout, &t->frames.frame[i], i, g->n, c->reader->direct))
		t->frames.broken = true;
}

static uint32_t count_shown(const struct torch_calls *calls)
{
	uint32_t n = 0;
	for (uint32_t k = 0; k < calls->n; k++)
		n += torch_has_frame(calls, k);
	return n;
}

/* Inserts the frames of modules, from the outermost. If there is no room, the path has none. */
static void insert_calls(struct path_builder *g, const struct torch_calls *calls, uint16_t module)
{
	uint32_t n_new = count_shown(calls), end = g->n;
	if (g->n + n_new > g->max)
		return;
	g->n += n_new;
	for (uint32_t k = calls->n; k-- > 0 && n_new;) {
		const uint32_t at = calls->call[k].at < end ? calls->call[k].at : end;
		if (!torch_has_frame(calls, k))
			continue;
		memmove(g->at + at + n_new, g->at + at, (end - at) * sizeof *g->at);
		for (uint32_t i = 0; g->cuts && i < g->cuts->n; i++)
			if (g->cuts->at[i] >= at && g->cuts->at[i] <= end)
				g->cuts->at[i] += n_new;
		g->at[at + --n_new] = msr_addr_make(
			module, (uint64_t)calls->call[k].number << MSR_PYTHON_UNIT_BITS, false);
		end = at;
	}
}

/*
 * Appends the frames of one run. Returns false, and appends none, if one of them is not a Python
 * frame.
 */
static bool append_run(struct path_builder *g, const struct code_context *c,
		       struct python_thread *t, uint32_t begin, uint32_t end, uint16_t module)
{
	struct frames *f = &t->frames;
	uint32_t n = g->n, n_calls = t->torch.n;
	for (uint32_t i = begin; i < end && !g->full; i++) {
		struct code_known *known = &t->known[f->n_frames - 1 - i];
		uint64_t link;
		if (!c->reader->direct && i >= g->fetched)
			g->fetched = i + code_fetch(c, &f->frame[i], f->n_frames - i);
		enum code_verdict v = code_address(c, known, &f->frame[i], &link);
		if (v == CODE_BAD) {
			g->n = n;
			t->torch.n = n_calls;
			return false;
		}
		known->instruction = f->frame[i].instruction;
		f->broken = f->broken || !msr_python_code_of(link);
		if (v == CODE_FOUND)
			append(g, msr_addr_make(module, link, false));
		if (v == CODE_FOUND && known->is_torch_call)
			note_call(g, c, t, i);
	}
	return true;
}

/*
 * Finds the first native frame from `from` outwards that is a call of the interpreter, by its
 * symbol. Used for a run whose place is unknown. UINT32_MAX: none.
 */
static uint32_t find_interpreter(const struct unwind_path *walked, uint32_t from)
{
	for (uint32_t i = from; i < walked->n; i++)
		if (msr_addr_module(walked->addr[i]) == python.module &&
		    msr_addr_link(walked->addr[i]) - python.call_link < python.call_bytes)
			return i;
	return UINT32_MAX;
}

/*
 * With --with-tail-call-interp, _PyEval_EvalFrameDefault() only starts the first instruction, and
 * each instruction is a function that jumps to the next one: the frame inside of it belongs to the
 * run, too. Without it, the function has the code of all instructions.
 */
static uint32_t first_of_run(const struct unwind_path *walked, uint32_t done, uint32_t at)
{
	enum { ALL_INSTRUCTIONS = 4096 }; /* bytes; a tenth of the least that was seen */
	return python.call_bytes && python.call_bytes < ALL_INSTRUCTIONS && at > done &&
			       msr_addr_module(walked->addr[at - 1]) == python.module
		       ? at - 1
		       : at;
}

/*
 * Joins both paths. The call that runs a run is the native frame that contains the run's place on
 * the stack, if that frame is in the interpreter's module.
 */
static void join(struct python_thread *t, const struct code_context *c,
		 const struct unwind_thread *unwind, const struct unwind_path *walked,
		 uint32_t n_inner, uint16_t module, struct path_builder *g)
{
	enum { MOST_MISSES = 4 }; /* each search goes through the whole path */
	struct unwind_scan scan = {0};
	struct frames *f = &t->frames;
	/* the last run has no place */
	bool is_open = f->n_frames > (f->n_runs ? f->run[f->n_runs - 1].end : 0);
	uint32_t done = n_inner, begin = 0, n_misses = 0, n_runs = f->n_runs + is_open;
	for (uint32_t i = 0; i < n_runs && n_misses < MOST_MISSES; begin = f->run[i++].end) {
		uint32_t end = i < f->n_runs ? f->run[i].end : f->n_frames;
		if (end == begin) /* 3.14: the last frame */
			continue;
		uint32_t at = i < f->n_runs ? unwind_find_on_stack(unwind, &scan, f->run[i].place)
					    : find_interpreter(walked, done);
		if (at == UINT32_MAX || at < done ||
		    msr_addr_module(walked->addr[at]) != python.module) {
			f->broken = f->broken || at == UINT32_MAX;
			n_misses += at == UINT32_MAX;
			continue;
		}
		for (const uint32_t first = first_of_run(walked, done, at); done < first; done++)
			append_walked(g, walked, done);
		pass_cuts(g, at);
		if (append_run(g, c, t, begin, end, module))
			done = at + 1;
		else
			f->broken = true;
		g->full = g->full || (f->is_cut && i + 1 == n_runs);
	}
	for (; done < walked->n && !g->full; done++)
		append_walked(g, walked, done);
	pass_cuts(g, UINT32_MAX);
}

/* Copies the path to the end of path[1], leaf first. Counts the unchanged outermost frames. */
static void publish(struct python_thread *t, const struct path_builder *g,
		    const struct unwind_path *walked, struct python_path *path)
{
	uint64_t *end = t->path[1] + t->max_depth;
	uint32_t same = 0;
	path->end = g->full ? UNWIND_DEEP : walked->end;
	if (path->end == t->end && !g->full)
		while (same < t->n_previous && same < g->n &&
		       g->at[g->n - 1 - same] == end[-1 - (int64_t)same])
			same++;
	memcpy(end - g->n, g->at, (g->n - same) * sizeof *g->at);
	t->n_previous = g->full ? 0 : g->n;
	t->end = path->end;
	t->was_native = false;
	path->addr = end - g->n;
	path->n = g->n;
	path->n_same = same;
}

/* Returns true if the frames now call the same modules as in the previous path. */
static bool calls_same(struct python_thread *t, const struct code_context *c)
{
	struct torch_calls *now = &t->torch_now;
	now->n = 0;
	for (uint32_t k = 0; k < t->torch.n; k++) {
		const uint32_t i = t->torch.call[k].frame;
		torch_add(now, c->layout, &t->frames.frame[i], i, 0, true);
	}
	if (now->n != t->torch.n)
		return false;
	torch_name(&(struct torch_context){c, &python.object_types, &t->torch_scratch}, now);
	for (uint32_t k = 0; k < now->n; k++)
		if (now->call[k].module != t->torch.call[k].module ||
		    now->call[k].number != t->torch.call[k].number)
			return false;
	return true;
}

/*
 * Returns true if the path is unchanged: the native path is that of the previous walk, and each
 * Python frame runs the same instruction of the same code object. This costs half as much as
 * joining.
 */
static bool is_unchanged(struct python_thread *t, const struct code_context *c,
			 const struct unwind_path *walked, uint32_t n_inner, uint64_t n_walks)
{
	const struct frames *f = &t->frames;
	if (!c->reader->direct || f->broken || f->is_cut || t->was_native ||
	    n_walks != t->n_walks + 1 || walked->n_same != walked->n || n_inner != t->n_inner ||
	    f->n_frames != t->n_known || f->n_runs != t->n_runs ||
	    memcmp(f->run, t->runs, f->n_runs * sizeof *f->run) != 0)
		return false;
	for (uint32_t i = 0; i < f->n_frames; i++) {
		const struct code_known *k = &t->known[f->n_frames - 1 - i];
		if (k->instruction != f->frame[i].instruction ||
		    !code_is_known(c, k, f->frame[i].code))
			return false;
	}
	return !t->torch.n || calls_same(t, c);
}

/* ---- paths ---- */

/* Stores the values for is_unchanged(). */
static void remember(struct python_thread *t, uint32_t n_inner, uint64_t n_walks)
{
	struct frames_run *runs = t->runs;
	t->runs = t->frames.run;
	t->frames.run = runs;
	t->n_runs = t->frames.n_runs;
	t->n_known = t->frames.broken || !t->n_previous ? 0 : t->frames.n_frames;
	t->n_marked = t->frames.n_frames > t->n_marked ? t->frames.n_frames : t->n_marked;
	t->n_inner = n_inner;
	t->n_walks = n_walks;
}

void python_splice(struct python_thread *t, const struct unwind_thread *unwind,
		   const struct unwind_path *walked, uint32_t n_inner, bool at_call,
		   const struct python_cuts *cuts, const struct python_place *other,
		   struct python_path *path)
{
	const struct python_layout *l = atomic_load_explicit(&python.layout, memory_order_acquire);
	struct python_state state;
	path->broken = false;
	if (t)
		t->is_plain = !l || (!other && is_plain(walked));
	if (!t || t->is_plain) {
		pass_through(t, walked, n_inner, cuts, path);
		return;
	}
	uintptr_t own_lo, own_hi;
	unwind_own_stack(unwind, &own_lo, &own_hi);
	reader_begin(&t->reader, own_lo, own_hi);
	if (!t->is_main)
		reader_begin_frames(&t->reader, &t->batch[0]);
	if (!python_find_state(l, t, other, &state)) {
		pass_through(t, walked, n_inner, cuts, path);
		return;
	}
	/*
	 * An interrupted thread may be anywhere: between two stores, freeing a frame, copying a
	 * stack (greenlet). A thread that called us is not.
	 */
	t->reader.direct = state.is_held && at_call;
	if (!t->reader.direct && !t->reader.is_noting)
		reader_begin_frames(&t->reader, &t->batch[0]);
	frames_collect(&t->frames, l, &t->reader, state.bytes, state.at);
	reader_end_frames(&t->reader);
	/* The first path of a process may find the table of modules in use. */
	const uint16_t module = t->frames.n_frames ? logical_module() : 0;
	path->broken = t->frames.broken || module == MSR_MODULE_UNKNOWN;
	if (!t->frames.n_frames || module == MSR_MODULE_UNKNOWN) {
		pass_through(t, walked, n_inner, cuts, path);
		return;
	}
	t->last = (struct code_last){0};
	t->n_splices++;
	const uint64_t epoch = (uint64_t)atomic_load_explicit(&python.n_forks, memory_order_relaxed)
				       << 32 |
			       python_count_interpreters(l);
	if (t->epoch != epoch)
		memset(t->known, 0, t->n_marked * sizeof *t->known);
	t->epoch = epoch;
	const struct code_context c = {.layout = l,
				       .types = &python.types,
				       .host = python.host,
				       .reader = &t->reader,
				       .scratch = &t->scratch,
				       .met = t->met,
				       .walk = t->n_splices,
				       .epoch = epoch,
				       .last = &t->last,
				       .batch = t->batch};
	uint64_t n_walks = unwind_counts(unwind)->walks;
	if (!cuts && is_unchanged(t, &c, walked, n_inner, n_walks)) {
		t->n_walks = n_walks;
		*path = (struct python_path){.addr = t->path[1] + t->max_depth - t->n_previous,
					     .n = t->n_previous,
					     .n_same = t->n_previous,
					     .end = t->end};
		return;
	}
	struct path_builder g = {.at = t->path[0], .max = t->max_depth, .cuts = cuts};
	t->torch.n = 0;
	join(t, &c, unwind, walked, n_inner, module, &g);
	if (t->torch.n) {
		const struct torch_context named = {&c, &python.object_types, &t->torch_scratch};
		if (!torch_name(&named, &t->torch))
			t->frames.broken = true;
		insert_calls(&g, &t->torch, module);
	}
	path->broken = t->frames.broken;
	publish(t, &g, walked, path);
	remember(t, n_inner, n_walks);
}
