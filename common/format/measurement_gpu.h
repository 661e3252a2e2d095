/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPU part of the measurement file: the data of back ends (OpenCL, CUPTI, ...), in a form that
 * does not depend on the vendor. The run time writes it and hpcprof-lite joins the records.
 * doc/formats/measurement.md is the specification. Only layout; everything is async-signal-safe.
 * Tests: tests/unit/common/test_measurement.c, tests/unit/prof_gpu/test_gpu_*.c.
 *
 * A thread starts an operation ("launch") and a queue of a device executes it ("op"), often much
 * later. Another thread may be the one that sees it end. Both records have the same 48-bit id,
 * which is unique in the process; its two highest bits are the number of the back end. The launch
 * has the thread and the context node; the op has the queue and the times. A launch may have
 * several ops (a graph). Every launch has at least one op, or an op with a cause of loss, or a loss
 * in the tally.
 */
#ifndef COMMON_FORMAT_MEASUREMENT_GPU_H
#define COMMON_FORMAT_MEASUREMENT_GPU_H

#include "common/format/measurement.h"

/* ---- kinds ---- */

/* Kinds of operations. The order is part of the format: append only, at most 15. */
enum msr_gpu_kind {
	MSR_GPU_NO_KIND = 0,
	MSR_GPU_KERNEL = 1,
	MSR_GPU_COPY = 2,    /* amount: bytes; detail: enum msr_gpu_direction */
	MSR_GPU_SET = 3,     /* a fill; amount: bytes */
	MSR_GPU_ALLOC = 4,   /* on the CPU; amount: bytes; detail: enum msr_gpu_memory */
	MSR_GPU_FREE = 5,    /* the same */
	/* the CPU waited; start and end are CLOCK_MONOTONIC; detail: enum msr_gpu_sync */
	MSR_GPU_SYNC = 6,
	/* markers, barriers, waits on the device: they have a place in the queue but do no work */
	MSR_GPU_MARKER = 7,
	/* only launches; the ops of a graph are kernels, copies and sets with the launch's id */
	MSR_GPU_GRAPH = 8,
	MSR_N_GPU_KINDS = 9
};

enum msr_gpu_direction {
	MSR_GPU_COPY_UNKNOWN,
	MSR_GPU_COPY_H2D,
	MSR_GPU_COPY_D2H,
	MSR_GPU_COPY_D2D,
	MSR_GPU_COPY_H2H,
	MSR_GPU_COPY_P2P, /* from one device to another */
	MSR_GPU_COPY_MAP, /* device memory made visible to the host; amount: bytes of the range */
	MSR_GPU_COPY_UNMAP,
	MSR_GPU_COPY_MIGRATE, /* moved on request; the run time chooses the direction */
	MSR_N_GPU_DIRECTIONS
};

enum msr_gpu_memory {
	MSR_GPU_MEMORY_UNKNOWN,
	MSR_GPU_MEMORY_DEVICE,
	MSR_GPU_MEMORY_HOST /* pinned */,
	MSR_GPU_MEMORY_MANAGED /* shared virtual, unified */,
	MSR_GPU_MEMORY_IMAGE /* textures, images, arrays */,
	MSR_N_GPU_MEMORIES
};

enum msr_gpu_sync {
	MSR_GPU_SYNC_UNKNOWN,
	MSR_GPU_SYNC_QUEUE /* clFinish, stream */,
	MSR_GPU_SYNC_EVENT,
	MSR_GPU_SYNC_DEVICE /* device or context */,
	MSR_GPU_SYNC_COPY /* inside a blocking copy, map or launch */,
	MSR_GPU_SYNC_FLUSH,
	MSR_N_GPU_SYNCS
};

/*
 * Why an operation was lost; msr_gpu_loss_name() names the causes. The order is part of the format:
 * append only.
 */
enum msr_gpu_loss {
	MSR_GPU_LOSS_NONE = 0,
	/* the run time refused the launch after it was recorded: nothing ran */
	MSR_GPU_LOSS_REFUSED,
	MSR_GPU_LOSS_FAILED, /* the device reported an error and no times */
	/* not complete when the process ended or its queue was destroyed */
	MSR_GPU_LOSS_NEVER_DONE,
	MSR_GPU_LOSS_NO_TIMES, /* complete, but without times or with impossible ones */
	/* launched by an unmeasured thread: the op is kept, but has no CPU path */
	MSR_GPU_LOSS_NO_PATH,
	MSR_GPU_LOSS_NO_SPACE, /* the file could not grow */
	MSR_GPU_LOSS_NO_MEMORY, /* no memory for an index */
	MSR_GPU_LOSS_PENDING, /* too many operations in flight: limit on remembered operations */
	MSR_GPU_LOSS_DROPPED, /* the vendor's tool interface reported dropped records */
	MSR_GPU_LOSS_FORK, /* unfinished in the parent at fork: belongs to the parent's file */
	MSR_GPU_LOSS_UNKNOWN_CALL, /* an API call that the back end does not know */
	MSR_GPU_LOSS_STOPPED, /* launched after the end of measurement had begun */
	MSR_GPU_LOSS_IN_FLIGHT, /* computed by the reader: the process was killed first */
	/*
	 * The thread was already inside the core (a signal handler of the program launched), or a
	 * lock was held too long.
	 */
	MSR_GPU_LOSS_BUSY,
	MSR_GPU_LOSS_YIELDED, /* another profiler in the program took the records */
	MSR_N_GPU_LOSSES,
	MSR_GPU_LOSS_ROOM = 24
};
/* stable, lower case: "refused", "never-done" */
const char *msr_gpu_loss_name(enum msr_gpu_loss l);
const char *msr_gpu_loss_description(enum msr_gpu_loss l); /* one line for people */
/* false if the operation is recorded in spite of the loss (NO_PATH) */
bool msr_gpu_loss_takes_op(enum msr_gpu_loss l);
const char *msr_gpu_kind_name(enum msr_gpu_kind k);        /* "kernel", "copy", ... */
const char *msr_gpu_direction_name(enum msr_gpu_direction d); /* "unknown", "H2D", ... */
const char *msr_gpu_memory_name(enum msr_gpu_memory m);    /* "unknown", "device", ... */
const char *msr_gpu_sync_name(enum msr_gpu_sync s);        /* "unknown", "queue", ... */

/* ---- definitions ---- */

/*
 * Records of variable length in MSR_GPU_DEFINITION extents: this head, the fixed part of the type,
 * then strings with NUL, padded to 8 bytes.
 */
enum msr_gpu_definition_type {
	MSR_GPU_DEF_DEVICE = 1,
	MSR_GPU_DEF_CONTEXT = 2,
	MSR_GPU_DEF_QUEUE = 3,
	MSR_GPU_DEF_CODE = 4,
	MSR_GPU_DEF_FUNCTION = 5,
	MSR_GPU_DEF_STALL = 6,    /* the name of a stall reason */
	MSR_GPU_DEF_COUNTER = 7,
	MSR_GPU_DEF_DEVICE_LIMITS = 8, /* more about a device: limits of a group of threads */
	MSR_GPU_DEF_DEVICE_RATES = 9   /* more about a device: how fast it is */
};
struct msr_gpu_definition {
	uint32_t bytes;      /* whole record, a multiple of 8 */
	uint16_t type;       /* enum msr_gpu_definition_type */
	uint16_t name_bytes; /* of the first string, the name, with NUL */
	uint32_t id; /* unique within the type, from 1; 0 means "none" wherever an id is expected */
	/* of the second string, with NUL; its meaning depends on the type; 0: none */
	uint32_t more_bytes;
};
/* name: of the device. more: back end and driver, such as "OpenCL 3.0 PoCL 3.1". */
struct msr_gpu_def_device {
	struct msr_gpu_definition head;
	uint32_t ordinal; /* number among the devices of the process, from 0, as the user counts */
	uint32_t n_units;         /* compute units, SMs; 0: unknown, as in all fields below */
	uint32_t threads_per_unit;/* maximum number of resident threads */
	uint32_t group_max;       /* maximum number of work-items or threads of a group */
	uint32_t lanes;           /* width of a warp, wavefront, subgroup */
	uint32_t clock_mhz;
	uint64_t memory_bytes;
	uint8_t uuid[16];         /* zero: unknown */
	uint32_t registers_per_unit;
	uint32_t shared_bytes_per_unit;
	uint32_t groups_per_unit; /* maximum number of resident groups */
	uint32_t type;            /* enum msr_gpu_device_type */
};
enum msr_gpu_device_type {
	MSR_GPU_DEVICE_OTHER,
	MSR_GPU_DEVICE_GPU,
	MSR_GPU_DEVICE_CPU,
	MSR_GPU_DEVICE_ACCELERATOR
};
/*
 * Further limits on how many groups a unit can hold at once. The id is the device's. Name: "". This
 * is a record of its own because strings follow the fixed part of a definition, which therefore
 * cannot grow. Readers that do not know it skip it.
 */
struct msr_gpu_def_device_limits {
	struct msr_gpu_definition head;
	uint32_t compute_major, compute_minor; /* NVIDIA's compute capability; 0: none */
	uint32_t registers_per_group;          /* maximum; 0: unknown, as in all fields below */
	/* what the run time takes of each group, in addition to the kernel's own */
	uint32_t reserved_shared_bytes;
	uint32_t shared_bytes_per_group;       /* maximum */
	uint32_t shared_bytes_per_group_optin; /* maximum for kernels that ask for more */
};
/* The highest speed of a device. Also a record of its own, with the id of the device. */
struct msr_gpu_def_device_rates {
	struct msr_gpu_definition head;
	uint32_t memory_khz;      /* clock of its memory; 0: unknown, as below */
	uint32_t memory_bits;     /* width of the bus of its memory */
};
struct msr_gpu_def_context {  /* name: may be "" */
	struct msr_gpu_definition head;
	uint32_t device;          /* id; of the first device if the context has several */
	uint32_t ordinal;         /* as the user or the vendor counts, from 0 */
};
struct msr_gpu_def_queue {    /* name: for people, such as "queue 1" or "stream 7" */
	struct msr_gpu_definition head;
	uint32_t context, device; /* ids */
	uint32_t ordinal;         /* number within its context, from 0 */
	/* clock of its ops: id of MSR_GPU_CLOCK records; 0: CLOCK_MONOTONIC, in ns */
	uint32_t clock;
	uint32_t flags;           /* MSR_GPU_QUEUE_* */
	uint32_t reserved;
};
#define MSR_GPU_QUEUE_OUT_OF_ORDER 1u
#define MSR_GPU_QUEUE_FORCED_PROFILING 2u /* the program did not ask for times; we did */

enum msr_gpu_code_kind {
	MSR_GPU_CODE_OTHER,
	MSR_GPU_CODE_ELF,         /* cubin, HSA code object, zebin, shared object: suffix .gpubin */
	MSR_GPU_CODE_OPENCL_C,    /* source text: .cl */
	MSR_GPU_CODE_SPIRV,       /* .spv */
	MSR_GPU_CODE_PTX,         /* .ptx */
	MSR_GPU_CODE_BUILTIN      /* built into the run time: no content is kept */
};
#define MSR_GPU_CODE_DIRECTORY "gpubins"
/* Such as ".gpubin"; ".bin" for OTHER and for kinds that this version does not know. */
const char *msr_gpu_code_suffix(uint32_t kind);
/* name: file in <run>/gpubins, "" if the content could not be kept. more: build options or "". */
struct msr_gpu_def_code {
	struct msr_gpu_definition head;
	/*
	 * Hash of the content. The file name is its 32 hex digits, hash[0] first, plus the suffix
	 * of the kind.
	 */
	uint64_t hash[2];
	uint64_t content_bytes;
	uint64_t load_ns;         /* CLOCK_MONOTONIC when it was first seen */
	uint32_t kind;            /* enum msr_gpu_code_kind */
	uint32_t device;          /* id or 0 */
};
/* name: the linkage name in the code object. more: the source-level name if it differs. */
struct msr_gpu_def_function {
	struct msr_gpu_definition head;
	uint32_t code;            /* id or 0 */
	uint32_t flags;           /* MSR_GPU_FUNCTION_* */
};
/* The program loaded more than this code object has: the function was cut out of it. */
#define MSR_GPU_FUNCTION_PART 1u
struct msr_gpu_def_stall {    /* name: as the vendor names it. more: one line of description */
	struct msr_gpu_definition head; /* id: stall index + 1, as in msr_gpu_pc */
	uint32_t device;          /* id, or 0 for all */
	uint32_t flags;           /* MSR_GPU_STALL_* */
};
#define MSR_GPU_STALL_ISSUED 1u  /* not a stall: the sampled warp issued an instruction */
#define MSR_GPU_STALL_ONLY_NOT_ISSUED 2u /* counts samples in which the scheduler issued nothing */
struct msr_gpu_def_counter {  /* name; more: description */
	struct msr_gpu_definition head;
	uint32_t unit;            /* enum msr_unit */
	uint32_t flags;           /* 0 */
};

/* ---- records ---- */

/* Launch characteristics of kernels. Most launches of a program share a few shapes. */
struct msr_gpu_shape {
	uint32_t id;              /* from 1 */
	uint32_t function;        /* id */
	uint32_t grid[3];         /* groups (blocks) in each dimension; 0: unknown */
	/* work-items (threads) of a group in each dimension; 0: the run time chooses */
	uint32_t block[3];
	uint32_t cluster[3];      /* groups of a cluster in each dimension; 0: none */
	uint32_t registers;       /* of a thread; 0: unknown, as in all fields below */
	uint32_t static_shared_bytes, dynamic_shared_bytes; /* of a group */
	uint32_t local_bytes;     /* private (spill) memory of a thread */
	uint32_t offset_flags;    /* 0 */
	/* Work-items in each dimension if grid x block is not exact (OpenCL); else 0. */
	uint64_t global[3];
};

struct msr_gpu_clock {
	uint32_t clock;           /* from 1 */
	uint32_t reserved;
	uint64_t device_ns;       /* the device's clock, in units that are nominally ns */
	uint64_t mono_ns;         /* CLOCK_MONOTONIC at the same moment */
	uint64_t error_ns;        /* the pair is accurate to +- this */
};

/*
 * 16 bytes. The launching thread writes it into an extent of its own. The id of the launch is the
 * extent's `first` with the low 32 bits replaced by id_low.
 */
struct msr_gpu_launch {
	uint64_t enter_ns;        /* CLOCK_MONOTONIC when the program entered the call */
	uint32_t id_low;
	uint32_t kind_node;       /* bits 31..28 enum msr_gpu_kind, 27..0 context node (0: none) */
};

/* 40 bytes, or 48 if the extent's record_bytes says so. Readers use record_bytes as the stride. */
struct msr_gpu_op {
	/*
	 * Bits 47..0 id, 55..48 enum msr_gpu_kind, 63..56 detail, or enum msr_gpu_loss with
	 * MSR_GPU_OP_LOST.
	 */
	uint64_t id_kind;
	uint64_t start_ns; /* by the queue's clock; SYNC, ALLOC, FREE: CLOCK_MONOTONIC; lost: 0 */
	uint64_t end_ns;   /* lost: 0; ALLOC lost as refused: the bytes that were asked for */
	/*
	 * COPY, SET, ALLOC, FREE: bytes. KERNEL: node of the graph; 0: none. Lost as refused: the
	 * vendor's error; 0: unknown.
	 */
	uint64_t amount;
	uint32_t queue;  /* id; 0: none */
	/*
	 * KERNEL: id. ALLOC: id of the context, if its FREE will name it, also when it was refused.
	 * FREE: the low 32 bits of the id of its ALLOC. 0: none, or unknown.
	 */
	uint32_t shape;
	/*
	 * Optional: how long before the start the op was queued and submitted. UINT32_MAX: longer,
	 * or unknown.
	 */
	uint32_t queued_before_ns;
	uint32_t submitted_before_ns;
};
#define MSR_GPU_OP_SHORT 40u
#define MSR_GPU_OP_LONG 48u
#define MSR_GPU_OP_LOST 0x80u  /* added to the kind */
#define MSR_GPU_ID_MAX ((UINT64_C(1) << 48) - 1)

#define MSR_GPU_BACKEND_SHIFT 46 /* the two highest bits of an id are the number of the back end */

static inline uint64_t msr_gpu_op_make(uint64_t id, unsigned kind, unsigned detail)
{
	return (id & MSR_GPU_ID_MAX) | (uint64_t)(kind & 255u) << 48 |
	       (uint64_t)(detail & 255u) << 56;
}
static inline uint64_t msr_gpu_op_id(const struct msr_gpu_op *o)
{
	return o->id_kind & MSR_GPU_ID_MAX;
}
/* Without MSR_GPU_OP_LOST. A damaged file may have any number there. */
static inline unsigned msr_gpu_op_kind(const struct msr_gpu_op *o)
{
	return (unsigned)(o->id_kind >> 48) & 255u & ~MSR_GPU_OP_LOST;
}
static inline bool msr_gpu_op_is_lost(const struct msr_gpu_op *o)
{
	return o->id_kind >> 48 & MSR_GPU_OP_LOST;
}
static inline unsigned msr_gpu_op_detail(const struct msr_gpu_op *o)
{
	return (unsigned)(o->id_kind >> 56);
}

static inline uint32_t msr_gpu_launch_make(unsigned kind, uint32_t node)
{
	return kind << 28 | (node & MSR_TRACE_NODE_MAX);
}
static inline unsigned msr_gpu_launch_kind(const struct msr_gpu_launch *l)
{
	return l->kind_node >> 28;
}
static inline uint32_t msr_gpu_launch_node(const struct msr_gpu_launch *l)
{
	return l->kind_node & MSR_TRACE_NODE_MAX;
}

/*
 * Sums of operations, used after the limit on records is reached. Updated in place, like cells.
 * (thread, node, kind, detail, queue, shape) is unique among the aggregates of a back end.
 *
 * A launch is counted where detail, queue and shape are 0, because they are not known yet. An op
 * that is lost is counted there, too. Since 1.7, the detail of refused ops is the error if it is
 * known (65535: or a larger one). To find what is in flight (n_launches - n_ops - n_lost), sum over
 * the aggregates of a thread, node and kind. GRAPH has only launches: its ops are kernels, copies
 * and sets, and lost ones are counted in aggregates without a launch.
 */
struct msr_gpu_aggregate {
	uint32_t thread;          /* ~0: not measured */
	uint32_t node;
	uint32_t queue, shape;
	uint16_t kind, detail;
	uint32_t backend;            /* its number: the highest two bits of its ids */
	_Atomic uint64_t n_launches; /* including those in flight */
	_Atomic uint64_t n_ops;
	_Atomic uint64_t busy_ns; /* sum of end - start */
	_Atomic uint64_t amount;
	/* refused, failed, never done, no times; other causes are in the tally */
	_Atomic uint64_t n_lost[4];
};

/*
 * A node of a graph. Gives the place in the program that created (captured) it, or the node that it
 * is a copy of. The `amount` of a kernel's op is its node.
 */
struct msr_gpu_graph_node {
	uint64_t node;            /* the vendor's number, as in msr_gpu_op.amount */
	/*
	 * The node that it was copied from when the graph was instantiated or cloned. 0: a call at
	 * the place below created it.
	 */
	uint64_t original;
	uint32_t thread;          /* ~0: not known */
	uint32_t context;         /* context node; 0: no path */
	uint32_t backend;         /* its number */
	uint32_t reserved;
};

/*
 * Samples at one instruction. Samples that know their launch are recorded for each launch. All
 * others are summed in one record. After the limit on records is reached, samples are summed by the
 * place of their launch, in longer records (struct msr_gpu_pc_at) in extents of their own.
 */
struct msr_gpu_pc {
	uint64_t offset;          /* of the instruction in the function's code */
	uint64_t id;              /* of the launch, if the sampling mode provides it; else 0 */
	uint64_t count;           /* samples */
	uint32_t function;        /* id */
	uint16_t stall;           /* id of MSR_GPU_DEF_STALL */
	uint16_t queue_low;       /* the queue's id if it is known and fits; else 0 */
};

struct msr_gpu_pc_at {
	struct msr_gpu_pc pc;     /* id: 0 */
	uint32_t thread;          /* thread and context node of the launches; ~0: not measured */
	uint32_t node;            /* context node; 0: no path */
};

/* One range of PC sampling: total == recorded + dropped + outside. */
struct msr_gpu_pc_range {
	uint64_t start_ns, end_ns;/* CLOCK_MONOTONIC */
	/* samples; outside: samples of kernels that are not the program's */
	uint64_t total, recorded, dropped, outside;
	uint64_t period;   /* cycles between two samples of a sampler */
	uint32_t context;  /* id */
	uint32_t samplers; /* samplers of the device, to compute the expected rate; 0: unknown */
	uint32_t flags;    /* MSR_GPU_RANGE_* */
	uint32_t reserved;
};
#define MSR_GPU_RANGE_SERIALIZED 1u /* kernels ran one at a time and samples know their launch */
#define MSR_GPU_RANGE_BUFFER_FULL 2u
#define MSR_GPU_RANGE_GAP 4u        /* nothing was sampled in this range */
/* `dropped` includes samples of instructions that did not fit into our buffer. */
#define MSR_GPU_RANGE_NOT_FITTED 8u
/*
 * With GAP: measurement ended while kernels ran, or we could not ask CUPTI. We do not know how many
 * samples were taken and not delivered.
 */
#define MSR_GPU_RANGE_CUT 16u

struct msr_gpu_value {
	uint64_t id;              /* of the launch; 0: of the whole queue or device */
	uint64_t value;
	uint32_t counter;         /* id of MSR_GPU_DEF_COUNTER */
	uint32_t queue;
};

/*
 * A meter of energy has changed. It is the meter of a device or, if `device` is 0, of the host.
 * Meters change in steps. This change happened at some moment in (unchanged_ns, time_ns].
 */
struct msr_gpu_energy {
	uint64_t time_ns;         /* CLOCK_MONOTONIC of the reading that first had the value */
	uint64_t unchanged_ns;    /* ... of the last reading with the previous value */
	uint64_t energy_uj;       /* since a moment that is fixed for each meter */
	uint32_t meter;           /* id of MSR_GPU_DEF_COUNTER, in MSR_UNIT_UJ */
	uint32_t device;          /* id; 0: of the host */
	uint32_t reserved;        /* 0 */
	uint32_t flags;           /* MSR_GPU_ENERGY_* */
};
/* We know nothing about the time before: this is the first change, or measurement was off. */
#define MSR_GPU_ENERGY_BEGINS 1u

/*
 * The ledger of a back end, updated in place. A back end has one or more, so that threads that
 * launch at the same time use different ones. Readers add them up. The sum of launched == launch
 * records + aggregated + launch_losses without NO_PATH, which does not remove a launch.
 *
 * The extent's thread is ~0; its sequence is the number of the back end.
 */
struct msr_gpu_tally {
	char backend[16];         /* "opencl", "nvidia" */
	char entrance[48]; /* how it entered the process: "ICD loader's layer", "preloaded" */
	_Atomic uint64_t launched[16]; /* by enum msr_gpu_kind: calls that the run time accepted */
	_Atomic uint64_t recorded[16];   /* launch records written */
	_Atomic uint64_t aggregated[16]; /* launches counted in aggregates */
	/* launches with neither record nor aggregate, by cause */
	_Atomic uint64_t launch_losses[MSR_GPU_LOSS_ROOM];
	_Atomic uint64_t n_ops;          /* op records written, including lost ops */
	/*
	 * Ops that were dropped or could not be written, with an unknown or unwritten id, by cause.
	 */
	_Atomic uint64_t op_losses[MSR_GPU_LOSS_ROOM];
	_Atomic uint64_t handler_ns; /* CPU time of launch callbacks, estimated from every 128th */
	/*
	 * Ops whose times violate enqueue <= start <= end by more than the error of the clocks, as
	 * far as the run time saw it.
	 */
	_Atomic uint64_t n_bad_order;
	_Atomic uint64_t n_unknown_calls;
	/* Names, queues, shapes ... that could not be written; references to them are 0. */
	_Atomic uint64_t n_lost_definitions;
	_Atomic uint64_t n_lost_contents;    /* code objects whose content could not be saved */
	/* PC samples (the sum of their counts) that could not be written */
	_Atomic uint64_t n_lost_pc;
	/*
	 * Counter values, readings of energy, PC ranges, clock pairs and graph nodes that could not
	 * be written.
	 */
	_Atomic uint64_t n_lost_values;
	/* bytes of the extents for launches, ops and PC samples of launches */
	_Atomic uint64_t record_bytes;
	/* CLOCK_MONOTONIC when the limit on records was reached; 0: not yet */
	_Atomic uint64_t aggregate_from_ns;
	/*
	 * Ops reported as lost, by cause, in op records and in aggregates; for the reports of the
	 * run time.
	 */
	_Atomic uint64_t lost[MSR_GPU_LOSS_ROOM];
};

#endif
