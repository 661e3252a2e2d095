/* SPDX-License-Identifier: BSD-3-Clause */
/* GPUs: devices, queues, shapes, waits, energy; see record.h. Test: tests/cli/sink/sink_gpu.sh. */
#include "hpcprof-lite/record/record_ledger.h"
#include "hpcprof-lite/record/words.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/view/view_gpu_idle.h"

/* ---- devices ---- */

static struct value device_type(const struct record *r)
{
	return value_text(names_device_type(r->at));
}

/* A member of the definition of a device; 0: unknown. */
#define DEFINED(function, member)                                                                  \
	static struct value function(const struct record *r)                                       \
	{                                                                                          \
		const struct model_gpu_device *d = r->at;                                          \
		return value_count(d->definition ? d->definition->member : 0);                     \
	}
DEFINED(device_units, n_units)
DEFINED(device_clock, clock_mhz)
DEFINED(device_memory, memory_bytes)

static const struct field device_fields[] = {
	KEY,
	ID(model_gpu_device, process, "process", "None: several processes use it"),
	COUNT(model_gpu_device, ordinal, "ordinal", NULL),
	GET(FIELD_WORD, "type", device_type, "GPU, CPU device, accelerator"),
	GET(FIELD_COUNT, "units", device_units, "Multiprocessors"),
	GET(FIELD_COUNT, "clock_mhz", device_clock, NULL),
	GET(FIELD_COUNT, "memory_bytes", device_memory, NULL),
	TEXT(model_gpu_device, name, "name", NULL),
	TEXT(model_gpu_device, driver, "driver", NULL),
};

#define LIMIT(member, name, meaning) COUNT(msr_gpu_def_device_limits, member, name, meaning)
static const struct field limit_fields[] = {
	OWNER("device", "gpu_device"),
	LIMIT(compute_major, "compute_major", "Compute capability"),
	LIMIT(compute_minor, "compute_minor", NULL),
	LIMIT(registers_per_group, "registers_per_group", NULL),
	LIMIT(reserved_shared_bytes, "reserved_shared_bytes", "Of each group"),
	LIMIT(shared_bytes_per_group, "shared_bytes_per_group", NULL),
	LIMIT(shared_bytes_per_group_optin, "shared_bytes_per_group_optin", NULL),
};
static const struct field rate_fields[] = {
	OWNER("device", "gpu_device"),
	COUNT(msr_gpu_def_device_rates, memory_khz, "memory_khz", "Clock of the memory"),
	COUNT(msr_gpu_def_device_rates, memory_bits, "memory_bits", "Width of its bus"),
};
static const struct field gpu_context_fields[] = {
	KEY,
	ID(model_gpu_context, process, "process", NULL),
	ID(model_gpu_context, device, "gpu_device", NULL),
	COUNT(model_gpu_context, ordinal, "ordinal", NULL),
};

/* ---- queues and shapes ---- */

static const struct model_gpu_queue *queue_of(const struct record *r)
{
	return r->at;
}

static struct value queue_process(const struct record *r)
{
	return value_id(r->m->gpu_contexts[queue_of(r)->context].process);
}

static struct value queue_context(const struct record *r)
{
	return value_count(r->m->gpu_contexts[queue_of(r)->context].ordinal);
}

static struct value queue_out_of_order(const struct record *r)
{
	return value_count((queue_of(r)->flags & MSR_GPU_QUEUE_OUT_OF_ORDER) != 0);
}

static const struct field queue_fields[] = {
	KEY,
	{.name = "context_id", .kind = FIELD_ID, .of = "gpu_context",
	 FIELD_AT(model_gpu_queue, context)},
	ID(model_gpu_queue, device, "gpu_device", NULL),
	COUNT(model_gpu_queue, ordinal, "ordinal", NULL),
	COUNT(model_gpu_queue, flags, "flags", "MSR_GPU_QUEUE_*"),
	COUNT(model_gpu_queue, n_lanes, "lanes", "0: no operation with times ran on it"),
	COUNT(model_gpu_queue, busy_ns, "busy_ns", "With at least one operation"),
	TEXT(model_gpu_queue, name, "name", NULL),
	{.name = "process", .kind = FIELD_ID, .of = "process", .get = queue_process},
	{.name = "context", .meaning = "Ordinal of the context", .kind = FIELD_COUNT,
	 .sinks = RECORD_TEXT | RECORD_JSON, .get = queue_context},
	{.name = "gpu_context", .meaning = "Ordinal of the context", .kind = FIELD_COUNT,
	 .sinks = RECORD_SQL, .get = queue_context},
	GET(FIELD_BOOL, "out_of_order", queue_out_of_order, NULL),
};

#define SHAPE(member, name_, meaning_)                                                             \
	{.name = (name_), .meaning = (meaning_), .kind = FIELD_COUNT, .n_items = 3,                \
	 FIELD_AT(msr_gpu_shape, member)}

static const struct model_gpu_occupancy *occupancy_of(const struct record *r)
{
	static const struct model_gpu_occupancy unknown;
	return r->m->gpu_occupancies ? &r->m->gpu_occupancies[r->id] : &unknown;
}

static bool has_occupancy(const struct record *r)
{
	return occupancy_of(r)->warps_most != 0;
}

static struct value resident_warps(const struct record *r)
{
	return value_count(occupancy_of(r)->warps);
}

static struct value resident_warps_most(const struct record *r)
{
	return value_count(occupancy_of(r)->warps_most);
}

static struct value limited_by(const struct record *r)
{
	return value_text(occupancy_of(r)->warps ? model_gpu_limit_name(occupancy_of(r)->limit)
						 : NULL);
}

static const struct field shape_fields[] = {
	KEY,
	SHAPE(grid, "grid", "Blocks, or groups"),
	SHAPE(block, "block", "Threads of a block"),
	SHAPE(cluster, "cluster", "Blocks of a cluster"),
	SHAPE(global, "global", "Work-items"),
	COUNT(msr_gpu_shape, registers, "registers", "Of a thread"),
	COUNT(msr_gpu_shape, static_shared_bytes, "static_shared_bytes", "Of a block"),
	COUNT(msr_gpu_shape, dynamic_shared_bytes, "dynamic_shared_bytes", NULL),
	COUNT(msr_gpu_shape, local_bytes, "local_bytes", "Of a thread"),
	{.name = "resident_warps", .meaning = "Warps of the launch that fit on a multiprocessor",
	 .kind = FIELD_COUNT, .is_optional = true, .is_known = has_occupancy,
	 .get = resident_warps},
	{.name = "resident_warps_most", .meaning = "... of any launch", .kind = FIELD_COUNT,
	 .is_optional = true, .is_known = has_occupancy, .get = resident_warps_most},
	{.name = "limited_by", .meaning = "registers, shared memory, blocks, threads",
	 .kind = FIELD_WORD, .is_optional = true, .is_known = has_occupancy, .get = limited_by},
};

/* ---- blames ---- */

static struct value wait_of(const struct record *r)
{
	const struct model_gpu_blame *b = r->at;
	return value_text(b->is_before ? "before" : words_wait_kind(b->kind));
}

static const struct field blame_fields[] = {
	ID(model_gpu_blame, profile, "profile", NULL),
	ID(model_gpu_blame, waiting, "context", "Of the samples"),
	ID(model_gpu_blame, cause, "context", "What they waited for"),
	ID(model_gpu_blame, metric, "metric", "Their stall reason"),
	COUNT(model_gpu_blame, n, "samples", NULL),
	WORD(model_gpu_blame, kind, words_wait_kind, "result, operands, fixed, warps"),
	FLAG(model_gpu_blame, is_carried, "The cause is in an earlier iteration of a loop"),
	FLAG(model_gpu_blame, is_before, "A fixed latency of the instruction before"),
	WORD(model_gpu_blame, operation, words_operation, "What the cause does: global load"),
	GET(FIELD_WORD, "wait", wait_of, "The kind, or before"),
};

/* ---- energy ---- */

#define ENERGY(member, name, meaning) COUNT(model_meter, sum.member, name, meaning)
static const struct field meter_fields[] = {
	KEY,
	TEXT(model_meter, name, "name", NULL),
	ID(model_meter, device, "gpu_device", "None: of the host of the process"),
	ID(model_meter, process, "process", "The first that read it"),
	ENERGY(covered_ns, "covered_ns", "Between changes"),
	ENERGY(total_uj, "total_uj", "operations + idle + unknown"),
	ENERGY(operations_uj, "operations_uj", NULL),
	ENERGY(shared_uj, "shared_uj", "Of operations_uj, while several contexts ran"),
	ENERGY(idle_uj, "idle_uj", NULL),
	ENERGY(unknown_uj, "unknown_uj", NULL),
	ENERGY(busy_ns, "busy_ns", NULL),
	ENERGY(idle_ns, "idle_ns", NULL),
	ENERGY(idle_mw, "idle_mw", "0: not measured"),
	{.name = "changes", .kind = FIELD_COUNT, .sinks = RECORD_TEXT | RECORD_SQL,
	 FIELD_AT(model_meter, sum.n_changes)},
	ENERGY(step_ns, "step_ns", "Mean time between two changes"),
	ENERGY(late_ns, "late_ns", "Median time without a reading"),
	ENERGY(error_uj, "error_uj", "Of total_uj"),
};
static const struct field change_fields[] = {
	OWNER("meter", "meter"),
	COUNT(model_energy_change, time_ns, "time_ns",
	      "The change was in (unchanged_ns, time_ns], since 1970, also in JSON"),
	COUNT(model_energy_change, unchanged_ns, "unchanged_ns", "As time_ns"),
	COUNT(model_energy_change, energy_uj, "energy_uj", "Above the one before"),
	COUNT(model_energy_change, begins, "begins", "1: a series begins"),
};

/* ---- idle time ---- */

#define IDLE(member, name, meaning) COUNT(model_gpu_idle, member, name, meaning)
static struct value only_copies_ns(const struct record *r)
{
	return value_count(view_gpu_part_ns(r->at, VIEW_GPU_COPIES));
}

static const struct field idle_fields[] = {
	{.name = "device", .kind = FIELD_ID, .of = "gpu_device", .get = value_of_id},
	IDLE(watched_ns, "watched_ns", "While its processes were measured"),
	IDLE(kernel_ns, "kernels_ns", "A kernel ran"),
	GET(FIELD_COUNT, "copies_ns", only_copies_ns, "Only copies or sets ran"),
	IDLE(idle_ns[MODEL_GPU_IDLE_BEFORE], "before_ns", "Idle before the first operation"),
	IDLE(idle_ns[MODEL_GPU_IDLE_NOTHING], "nothing_ns", "Idle: nothing was launched"),
	IDLE(idle_ns[MODEL_GPU_IDLE_LAUNCH], "launch_ns", "Idle: launches came too slowly"),
	IDLE(idle_ns[MODEL_GPU_IDLE_SYNC], "sync_ns", "Idle: a thread had waited for it"),
	IDLE(idle_ns[MODEL_GPU_IDLE_QUEUED], "queued_ns", "Idle: launched, not started"),
	IDLE(idle_ns[MODEL_GPU_IDLE_AFTER], "after_ns", "Idle after the last operation"),
	IDLE(copy_ns, "copy_ns", "A copy or set ran"),
	IDLE(overlap_ns, "overlap_ns", "... and a kernel"),
	IDLE(blamed_ns, "blamed_ns", "Idle while a thread did something else"),
	IDLE(waiting_ns, "waiting_ns", "Idle while all threads waited for it"),
	IDLE(unsampled_ns, "unsampled_ns", "Idle while no thread had a sample"),
	IDLE(off_ns, "off_ns", "Idle while measurement was off: not watched"),
	IDLE(n_ops, "operations", "With times"),
	IDLE(n_untimed, "untimed", "Operations without"),
	IDLE(n_latencies, "latencies", "Operations that found the device idle"),
	IDLE(latency_median_ns, "median_ns", "From call to start, of these"),
	IDLE(latency_95_ns, "percentile_95_ns", NULL),
	IDLE(queue_most, "queue_most", "Operations that had not ended"),
	REAL(model_gpu_idle, queue_mean, "queue_mean", NULL),
};

static const char *memory_word(unsigned memory)
{
	return memory == MSR_GPU_MEMORY_HOST ? "pinned"
					     : msr_gpu_memory_name((enum msr_gpu_memory)memory);
}

static const struct field memory_fields[] = {
	ID(model_gpu_memory, process, "process", NULL),
	ID(model_gpu_memory, device, "gpu_device", "None: of the host, or unknown"),
	WORD(model_gpu_memory, memory, memory_word, "device, managed, pinned"),
	COUNT(model_gpu_memory, peak, "peak_bytes", "Live at peak_ns"),
	TIME(model_gpu_memory, peak_ns, "When most bytes were live"),
	COUNT(model_gpu_memory, end, "end_bytes", "Never freed"),
	COUNT(model_gpu_memory, bytes, "allocated_bytes", NULL),
	COUNT(model_gpu_memory, n_allocations, "allocations", NULL),
	COUNT(model_gpu_memory, n_freed, "freed", "Of them"),
	COUNT(model_gpu_memory, n_refused, "refused", "Allocations that failed"),
	COUNT(model_gpu_memory, refused_most, "refused_most_bytes", "The largest of them"),
};

#define WAITS(member, meaning) COUNT(model_gpu_waits, member, #member, meaning)
static const struct field waits_fields[] = {
	WAITS(all_ns, "Time that threads waited for GPUs"),
	WAITS(blamed_ns, "While operations ran"),
	WAITS(idle_ns, "While nothing ran on the device"),
	WAITS(unknown_ns, "Not known for which device"),
};

/* ---- kinds ---- */

static struct value ledger_closes(const struct record *r)
{
	return value_count(r->m->gpu_ledger.closes);
}
static struct value sampling_closes(const struct record *r)
{
	return value_count(r->m->gpu_sampling.closes);
}
static const struct field gpu_fields[] = {
	GET(FIELD_BOOL, "ledger_closes", ledger_closes, NULL),
	GET(FIELD_BOOL, "sampling_closes", sampling_closes, NULL),
};

const struct record_kind record_gpu = {
	.name = "gpu", .json = "gpu", .parent = &record_run,
	.meaning = "GPUs; null: no back end was in the run", .form = RECORD_OBJECT,
	.sinks = RECORD_JSON, FIELDS(gpu_fields), .is_wanted = record_always};
#define PART(name_, table_, json_, meaning_, fields_)                                              \
	.name = (name_), .table = (table_), .json = (json_), .parent = &record_gpu,                \
	.meaning = (meaning_), .sinks = RECORD_ALL, FIELDS(fields_)
static const struct record_kind record_device = {
	PART("gpu-device", "gpu_device", "devices", "A GPU", device_fields),
	.is_wanted = record_always};
static const struct record_kind record_limits = {
	.name = "gpu-device-limits", .table = "gpu_device_limits", .json = "limits",
	.parent = &record_device, .meaning = "Limits of a GPU", .form = RECORD_OBJECT,
	.sinks = RECORD_ALL, FIELDS(limit_fields)};
static const struct record_kind record_rates = {
	.name = "gpu-device-rates", .table = "gpu_device_rates", .json = "rates",
	.parent = &record_device, .meaning = "Memory of a GPU", .form = RECORD_OBJECT,
	.sinks = RECORD_ALL, FIELDS(rate_fields)};
static const struct record_kind record_gpu_context = {
	PART("gpu-context", "gpu_context", "contexts", "A context of CUDA or OpenCL",
	     gpu_context_fields)};
static const struct record_kind record_queue = {
	PART("gpu-queue", "gpu_queue", "queues", "A queue, or stream, of a GPU", queue_fields),
	.is_wanted = record_always};
static const struct record_kind record_shape = {
	PART("gpu-shape", "gpu_shape", "shapes", "Launch characteristics of kernels; 0: unknown",
	     shape_fields),
	.is_wanted = record_always};
static const struct record_kind record_gpu_counts = {
	.json = "ledger", .parent = &record_gpu, .form = RECORD_COUNTS, .sinks = RECORD_JSON};
static const struct record_kind record_sampling_counts = {
	.json = "sampling", .parent = &record_gpu, .form = RECORD_COUNTS, .sinks = RECORD_JSON};
static const struct record_kind record_blame = {
	PART("gpu-blame", "gpu_blame", "blames",
	     "Samples of warps that waited at one place for another; derived", blame_fields)};
static const struct record_kind record_meter = {
	PART("meter", "meter", "meters", "A meter of energy", meter_fields)};
static const struct record_kind record_change = {
	.name = "meter-change", .table = "meter_change", .json = "changes",
	.parent = &record_meter, .meaning = "A change of a meter", .form = RECORD_TUPLES,
	.sinks = RECORD_ALL, FIELDS(change_fields), .is_wanted = record_always};
static const struct record_kind record_idle = {
	PART("gpu-idle", "gpu_idle", "idle", "Time of a device", idle_fields)};
static const struct record_kind record_memory = {
	PART("gpu-memory", "gpu_memory", "memory", "Memory of a process on a GPU", memory_fields)};
static const struct record_kind record_waits = {
	PART("gpu-waits", "gpu_waits", "waits", "Time that threads waited for GPUs",
	     waits_fields),
	.form = RECORD_OBJECT};

/* ---- visits ---- */

static void visit_devices(const struct record *r, struct record_visitor *v)
{
	const struct model *m = r->m;
	for (uint32_t i = 0; i < m->n_gpu_devices; i++) {
		const struct model_gpu_device *d = &m->gpu_devices[i];
		const struct record of_device = {.m = m, .owner = i};
		record_visit(v, r, &record_device, d, i);
		if (d->limits)
			record_visit(v, &of_device, &record_limits, d->limits, i);
		if (d->rates)
			record_visit(v, &of_device, &record_rates, d->rates, i);
	}
}

static void visit_things(const struct record *r, struct record_visitor *v)
{
	const struct model *m = r->m;
	for (uint32_t i = 0; i < m->n_gpu_contexts; i++)
		record_visit(v, r, &record_gpu_context, &m->gpu_contexts[i], i);
	for (uint32_t i = 0; i < m->n_gpu_queues; i++)
		record_visit(v, r, &record_queue, &m->gpu_queues[i], i);
	for (uint32_t i = 0; i < m->n_gpu_shapes; i++)
		record_visit(v, r, &record_shape, &m->gpu_shapes[i], i);
}

static void visit_ledgers(const struct record *r, struct record_visitor *v)
{
	const struct model *m = r->m;
	struct words_count counts[RECORD_COUNTS_MOST];
	const struct record_ledger_owner gpu = {MODEL_NONE, MODEL_NONE, "GPU"},
					 sampling = {MODEL_NONE, MODEL_NONE, "PC sampling"};
	record_visit_counts(v, m, &record_gpu_counts, counts,
			    record_count_gpu_ledger(&m->gpu_ledger, counts), gpu);
	record_visit_counts(v, m, &record_sampling_counts, counts,
			    record_count_sampling(&m->gpu_sampling, counts), sampling);
}

static void visit_meters(const struct record *r, struct record_visitor *v)
{
	const struct model *m = r->m;
	for (uint32_t i = 0; i < m->n_meters; i++) {
		const struct record of_meter = {.m = m, .owner = i};
		record_visit(v, r, &record_meter, &m->meters[i], i);
		for (size_t k = 0; k < m->meters[i].n_changes; k++)
			record_visit(v, &of_meter, &record_change, &m->meters[i].changes[k], 0);
	}
}

static bool visit_all(const struct model *m, struct record_visitor *v)
{
	const struct record r = {.m = m, .owner = MODEL_NONE};
	if (m->has_gpu)
		record_visit(v, &r, &record_gpu, m, 0);
	visit_devices(&r, v);
	visit_things(&r, v);
	if (m->has_gpu)
		visit_ledgers(&r, v);
	for (size_t i = 0; i < m->n_gpu_blames; i++)
		record_visit(v, &r, &record_blame, &m->gpu_blames[i], 0);
	visit_meters(&r, v);
	for (uint32_t i = 0; m->has_gpu && i < m->n_gpu_devices; i++)
		if (view_gpu_idle_of(m, i))
			record_visit(v, &r, &record_idle, view_gpu_idle_of(m, i), i);
	for (uint32_t i = 0; i < m->n_gpu_memory; i++)
		record_visit(v, &r, &record_memory, &m->gpu_memory[i], i);
	if (m->has_gpu)
		record_visit(v, &r, &record_waits, &m->gpu_waits, 0);
	return true;
}

static const struct record_kind *const kinds[] = {
	&record_gpu,   &record_device,      &record_limits,
	&record_rates, &record_gpu_context, &record_queue,
	&record_shape, &record_gpu_counts,  &record_sampling_counts,
	&record_blame, &record_meter,       &record_change,
	&record_idle,  &record_memory,      &record_waits};
const struct record_part record_part_gpu = {KINDS(kinds), visit_all};
