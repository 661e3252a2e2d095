/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table that a back end calls. The table identifies the back end. The functions keep errno, and
 * write nothing in a process whose file is not ours. Test: tests/unit/gpu/test_gpu_core.c.
 */
#include "hpcrun-lite/gpu/host.h"

#include "common/safe/text.h"
#include "hpcrun-lite/gpu/core_internal.h"

static const struct gpu_host hosts[GPU_MAX_BACKENDS];

/* NULL if nothing may be written. */
static struct gpu_backend *open_backend(const struct gpu_host *h)
{
	return gpu_is_open() ? &gpu_core.backend[h - hosts] : NULL;
}

/* The same, but also valid after the end, when losses are still counted. */
static struct gpu_backend *live_backend(const struct gpu_host *h)
{
	return gpu_is_alive() ? &gpu_core.backend[h - hosts] : NULL;
}

/* ---- life ---- */

static uint32_t host_generation(const struct gpu_host *h)
{
	(void)h;
	return gpu_is_open() ? atomic_load_explicit(&gpu_core.generation, memory_order_acquire) : 0;
}

static const char *host_options(const struct gpu_host *h)
{
	const char *options = gpu_core.backend[h - hosts].options;
	return options ? options : "";
}

static void host_at_end(const struct gpu_host *h, void (*fn)(uint64_t may_wait_ns))
{
	if (open_backend(h))
		gpu_core.runtime->at_end((unsigned)(h - hosts), fn);
}

static void host_at_thread_end(const struct gpu_host *h, void (*fn)(void))
{
	if (open_backend(h))
		gpu_core.runtime->at_thread_end((unsigned)(h - hosts), fn);
}

static void host_entered(const struct gpu_host *h, const char *how, const void *text)
{
	struct gpu_backend *b = open_backend(h);
	if (!b)
		return;
	if (how) {
		struct text kept = text_in(b->entrance, sizeof b->entrance),
			    shown = text_in(gpu_tally_of(b)->entrance, sizeof b->entrance);
		text_put(&kept, how);
		text_put(&shown, how);
	}
	if (text)
		gpu_core.runtime->leave_out((unsigned)(h - hosts), text);
}

static void host_note(const struct gpu_host *h, const char *text)
{
	if (open_backend(h))
		gpu_core.runtime->note(text);
}

static void host_suspend(const struct gpu_host *h)
{
	(void)h;
	gpu_core.runtime->suspend();
}

static void host_resume(const struct gpu_host *h)
{
	(void)h;
	gpu_core.runtime->resume();
}

static void host_sample_by_timer(const struct gpu_host *h)
{
	if (open_backend(h))
		gpu_core.runtime->sample_by_timer((unsigned)(h - hosts));
}

/* ---- definitions ---- */

static uint32_t host_device(const struct gpu_host *h, const struct gpu_device *d)
{
	struct gpu_backend *b = open_backend(h);
	return b ? registry_device(b, d) : 0;
}

static uint32_t host_context(const struct gpu_host *h, const struct gpu_context *c)
{
	struct gpu_backend *b = open_backend(h);
	return b ? registry_context(b, c) : 0;
}

static uint32_t host_queue(const struct gpu_host *h, const struct gpu_queue *q)
{
	struct gpu_backend *b = open_backend(h);
	return b ? registry_queue(b, q) : 0;
}

static uint32_t host_clock(const struct gpu_host *h)
{
	return open_backend(h)
		       ? 1 + atomic_fetch_add_explicit(&gpu_core.n_clocks, 1, memory_order_relaxed)
		       : 0;
}

static void host_clock_pair(const struct gpu_host *h, uint32_t clock, uint64_t device_ns,
			    uint64_t mono_ns, uint64_t error_ns)
{
	struct gpu_backend *b = open_backend(h);
	if (b && clock)
		device_clock_pair(b, &(struct msr_gpu_clock){.clock = clock,
							     .device_ns = device_ns,
							     .mono_ns = mono_ns,
							     .error_ns = error_ns});
}

static uint32_t host_code(const struct gpu_host *h, const struct gpu_code *c, uint64_t hash[2])
{
	return registry_code(&gpu_core.backend[h - hosts], c, hash);
}

static uint32_t host_function(const struct gpu_host *h, const struct gpu_function *f)
{
	struct gpu_backend *b = open_backend(h);
	return b ? registry_function(b, f) : 0;
}

static uint32_t host_shape(const struct gpu_host *h, const struct gpu_shape *s)
{
	struct gpu_backend *b = open_backend(h);
	return b ? registry_shape(b, s) : 0;
}

static void host_stall(const struct gpu_host *h, unsigned index, const char *name,
		       const char *description, uint32_t device, uint32_t flags)
{
	struct gpu_backend *b = open_backend(h);
	if (b)
		registry_stall(b, index, name, description, device, flags);
}

static uint32_t host_counter(const struct gpu_host *h, const char *name, const char *description,
			     enum msr_unit unit)
{
	struct gpu_backend *b = open_backend(h);
	return b ? registry_counter(b, name, description, unit) : 0;
}

/* ---- operations ---- */

/*
 * A vendor's ids that are in use are less than 2^30 apart. So the wide id is the number with these
 * low bits that is nearest to the highest id so far. The highest id is updated only in steps of
 * 2^24, so that threads do not write to one cache line at every launch.
 */
static uint64_t host_widen(const struct gpu_host *h, _Atomic uint64_t *state, uint32_t id)
{
	const uint64_t turn = UINT64_C(1) << 32, half = turn / 2, near = UINT64_C(1) << 24;
	uint64_t highest = atomic_load_explicit(state, memory_order_relaxed);
	uint64_t wide = (highest & ~(turn - 1)) | id;
	(void)h;
	if (wide + half < highest)
		wide += turn;
	else if (wide > highest + half && wide >= turn)
		wide -= turn;
	while (wide > highest + near &&
	       !atomic_compare_exchange_weak_explicit(state, &highest, wide, memory_order_relaxed,
						      memory_order_relaxed))
		;
	return wide;
}

static bool host_launch(const struct gpu_host *h, const struct gpu_launch *l, struct gpu_ticket *t)
{
	struct gpu_backend *b = live_backend(h);
	if (b)
		return launch_record(b, l, t);
	*t = (struct gpu_ticket){.kind = (uint8_t)l->kind};
	return false;
}

static void host_graph_node(const struct gpu_host *h, uint64_t node, uint64_t original)
{
	struct gpu_backend *b = open_backend(h);
	if (b)
		launch_graph_node(b, node, original);
}

static void host_op(const struct gpu_host *h, const struct gpu_ticket *t, const struct gpu_op *op)
{
	struct gpu_backend *b = live_backend(h);
	if (b)
		op_record(b, t, op);
}

static void host_lost(const struct gpu_host *h, const struct gpu_ticket *t, enum msr_gpu_loss cause)
{
	struct gpu_backend *b = live_backend(h);
	if (b)
		op_lost(b, t, cause);
}

static void host_op_by_id(const struct gpu_host *h, uint64_t id, const struct gpu_op *op)
{
	struct gpu_backend *b = live_backend(h);
	if (b)
		op_record_by_id(b, id, op);
}

static void host_lost_by_id(const struct gpu_host *h, uint64_t id, enum msr_gpu_kind kind,
			    enum msr_gpu_loss cause)
{
	struct gpu_backend *b = live_backend(h);
	if (b)
		op_lost_by_id(b, id, kind, cause);
}

static void host_refused(const struct gpu_host *h, uint64_t id, const struct gpu_refusal *why)
{
	struct gpu_backend *b = live_backend(h);
	if (b)
		op_refused_by_id(b, id, why);
}

static void host_launch_lost(const struct gpu_host *h, enum msr_gpu_kind kind,
			     enum msr_gpu_loss cause)
{
	struct gpu_backend *b = live_backend(h);
	if (!b || gpu_is_off())
		return;
	gpu_count(&gpu_tally_of(b)->launched[(unsigned)kind & 15u], 1);
	gpu_count(&gpu_tally_of(b)->launch_losses[(unsigned)cause % MSR_GPU_LOSS_ROOM], 1);
}

static void host_lost_unknown(const struct gpu_host *h, enum msr_gpu_loss cause, uint64_t n)
{
	struct gpu_backend *b = live_backend(h);
	if (!b)
		return;
	gpu_count(&gpu_tally_of(b)->op_losses[(unsigned)cause % MSR_GPU_LOSS_ROOM], n);
	if (cause == MSR_GPU_LOSS_UNKNOWN_CALL)
		gpu_count(&gpu_tally_of(b)->n_unknown_calls, n);
}

/* ---- samples and counters ---- */

static void host_pc_sample(const struct gpu_host *h, const struct gpu_pc_sample *s, size_t n)
{
	struct gpu_backend *b = live_backend(h);
	if (b)
		device_pc_samples(b, s, n);
}

static void host_pc_range(const struct gpu_host *h, const struct msr_gpu_pc_range *r)
{
	struct gpu_backend *b = live_backend(h);
	if (b)
		device_pc_range(b, r);
}

static void host_value(const struct gpu_host *h, uint64_t id, uint32_t queue, uint32_t counter,
		       uint64_t value)
{
	struct gpu_backend *b = live_backend(h);
	if (b)
		device_value(b, &(struct msr_gpu_value){.id = id ? gpu_full_id(b, id) : 0,
							.value = value,
							.counter = counter,
							.queue = queue});
}

static void host_energy(const struct gpu_host *h, const struct msr_gpu_energy *e)
{
	struct gpu_backend *b = live_backend(h);
	if (b)
		device_energy(b, e);
}

/* ---- for recordings ---- */

static void host_about(const struct gpu_host *h, struct gpu_about *a)
{
	bool is_measured = open_backend(h) != NULL && store_own();
	*a = (struct gpu_about){.file = is_measured ? store_path() : "",
				.max_record_bytes =
					is_measured ? gpu_core.runtime->max_record_bytes : 0,
				.number = (uint32_t)(h - hosts)};
}

static enum gpu_placed host_last_place(const struct gpu_host *h, uint32_t *thread, uint32_t *node)
{
	(void)h;
	return launch_last_place(thread, node);
}

/* ---- measurement that the program starts and stops ---- */

static bool host_is_off(const struct gpu_host *h)
{
	(void)h;
	return gpu_is_off();
}

static void host_on_switch(const struct gpu_host *h, void (*fn)(bool on))
{
	if (open_backend(h))
		gpu_core.runtime->on_switch((unsigned)(h - hosts), fn);
}

#define HOST_TABLE                                                                               \
	{                                                                                        \
		.version = GPU_HOST_VERSION, .generation = host_generation,                      \
		.options = host_options, .at_end = host_at_end,                                  \
		.at_thread_end = host_at_thread_end, .entered = host_entered, .note = host_note, \
		.suspend = host_suspend, .resume = host_resume, .device = host_device,           \
		.context = host_context, .queue = host_queue, .clock = host_clock,               \
		.clock_pair = host_clock_pair, .code = host_code, .function = host_function,     \
		.shape = host_shape, .stall = host_stall, .counter = host_counter,               \
		.widen = host_widen, .launch = host_launch, .graph_node = host_graph_node,       \
		.op = host_op, .lost = host_lost, .op_by_id = host_op_by_id,                     \
		.lost_by_id = host_lost_by_id, .lost_unknown = host_lost_unknown,                \
		.pc_sample = host_pc_sample, .pc_range = host_pc_range, .value = host_value,     \
		.about = host_about, .last_place = host_last_place, .is_off = host_is_off,       \
		.on_switch = host_on_switch, .sample_by_timer = host_sample_by_timer,            \
		.energy = host_energy, .launch_lost = host_launch_lost,                          \
		.refused = host_refused,                                                         \
	}

/* Equal tables: the position of its table is the number of the back end. */
static const struct gpu_host hosts[GPU_MAX_BACKENDS] = {HOST_TABLE, HOST_TABLE, HOST_TABLE};

const struct gpu_host *host_table(unsigned number)
{
	return &hosts[number];
}
