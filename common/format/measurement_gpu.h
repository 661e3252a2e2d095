/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPU part of the measurement file: what back ends (OpenCL, CUPTI, ...) deliver, without a word of any vendor. The run time writes,
 * hpcprof-lite joins. doc/formats/measurement.md is the specification. Pure layout; everything is async-signal-safe.
 * Tests: tests/unit/test_measurement.c, tests/unit/test_gpu_*.c.
 *
 * An operation is asked for by a thread ("launch") and done by a queue of a device ("op"), often much later and noticed by another thread. Both records carry
 * the same 48-bit id, unique in the process (its highest two bits tell the back end); the launch knows thread and context node, the op knows queue, times and what was done. One launch may have several
 * ops (a graph). Every launch ends in at least one op, in an op with a cause of loss, or is accounted for by a loss in the tally.
 */
#ifndef COMMON_FORMAT_MEASUREMENT_GPU_H
#define COMMON_FORMAT_MEASUREMENT_GPU_H

#include "common/format/measurement.h"

/* ---- kinds ------------------------------------------------------------------------------------------------ */

/* Kinds of operations. Order is part of the format: append only, at most 15. */
enum msr_gpu_kind {
	MSR_GPU_NO_KIND = 0,
	MSR_GPU_KERNEL = 1,
	MSR_GPU_COPY = 2,    /* amount: bytes; detail: enum msr_gpu_direction */
	MSR_GPU_SET = 3,     /* fill; amount: bytes */
	MSR_GPU_ALLOC = 4,   /* on the CPU; amount: bytes; detail: enum msr_gpu_memory */
	MSR_GPU_FREE = 5,    /* likewise */
	MSR_GPU_SYNC = 6,    /* the CPU waited; start and end by our clock; detail: enum msr_gpu_sync */
	MSR_GPU_MARKER = 7,  /* markers, barriers, waits on the device: in the queue's order, no work */
	MSR_GPU_GRAPH = 8,   /* a launch alone: of a graph, whose ops are kernels, copies and sets with its id */
	MSR_N_GPU_KINDS = 9
};

enum msr_gpu_direction {
	MSR_GPU_COPY_UNKNOWN, MSR_GPU_COPY_H2D, MSR_GPU_COPY_D2H, MSR_GPU_COPY_D2D, MSR_GPU_COPY_H2H,
	MSR_GPU_COPY_P2P,     /* from a device to another */
	MSR_GPU_COPY_MAP,     /* device memory made visible to the host; bytes of the range */
	MSR_GPU_COPY_UNMAP,
	MSR_GPU_COPY_MIGRATE, /* moved by request, direction as the run time likes */
	MSR_N_GPU_DIRECTIONS
};

enum msr_gpu_memory {
	MSR_GPU_MEMORY_UNKNOWN, MSR_GPU_MEMORY_DEVICE, MSR_GPU_MEMORY_HOST /* pinned */, MSR_GPU_MEMORY_MANAGED /* shared virtual, unified */,
	MSR_GPU_MEMORY_IMAGE /* textures, images, arrays */, MSR_N_GPU_MEMORIES
};

enum msr_gpu_sync {
	MSR_GPU_SYNC_UNKNOWN, MSR_GPU_SYNC_QUEUE /* clFinish, stream */, MSR_GPU_SYNC_EVENT, MSR_GPU_SYNC_DEVICE /* device or context */,
	MSR_GPU_SYNC_COPY /* inside a blocking copy, map or launch */, MSR_GPU_SYNC_FLUSH, MSR_N_GPU_SYNCS
};

/* Causes of loss of an operation; msr_gpu_loss_name() names them. Order is part of the format: append only. */
enum msr_gpu_loss {
	MSR_GPU_LOSS_NONE = 0,
	MSR_GPU_LOSS_REFUSED,      /* the run time refused the launch after it was recorded: nothing ran */
	MSR_GPU_LOSS_FAILED,       /* the device reported an error instead of times */
	MSR_GPU_LOSS_NEVER_DONE,   /* not complete when the process ended, or when its queue went away */
	MSR_GPU_LOSS_NO_TIMES,     /* complete, but the run time gave no times, or senseless ones */
	MSR_GPU_LOSS_NO_PATH,      /* launched by a thread that is not measured: joined, but under no CPU path (takes no op) */
	MSR_GPU_LOSS_NO_SPACE,     /* the file could not grow */
	MSR_GPU_LOSS_NO_MEMORY,    /* memory for an index could not be had */
	MSR_GPU_LOSS_PENDING,      /* too many operations in flight: bound on what is remembered */
	MSR_GPU_LOSS_DROPPED,      /* the vendor's tool interface says that it dropped records */
	MSR_GPU_LOSS_FORK,         /* of the parent, unfinished at fork: belongs to the parent's file */
	MSR_GPU_LOSS_UNKNOWN_CALL, /* a call of the API that the back end does not know */
	MSR_GPU_LOSS_STOPPED,      /* launched after the end of measurement had begun */
	MSR_GPU_LOSS_IN_FLIGHT,    /* computed by the reader: the process was killed before the op was noticed */
	MSR_GPU_LOSS_BUSY,         /* inside the core already (the program's signal handler launched), or a lock was held too long */
	MSR_N_GPU_LOSSES,
	MSR_GPU_LOSS_ROOM = 24
};
const char *msr_gpu_loss_name(enum msr_gpu_loss l);        /* stable, lower case: "refused", "never-done" */
const char *msr_gpu_loss_description(enum msr_gpu_loss l); /* one line for people */
bool msr_gpu_loss_takes_op(enum msr_gpu_loss l);           /* false: the operation is there all the same (NO_PATH) */
const char *msr_gpu_kind_name(enum msr_gpu_kind k);        /* "kernel", "copy", ... */
const char *msr_gpu_direction_name(enum msr_gpu_direction d); /* "unknown", "H2D", ... */
const char *msr_gpu_memory_name(enum msr_gpu_memory m);    /* "unknown", "device", ... */
const char *msr_gpu_sync_name(enum msr_gpu_sync s);        /* "unknown", "queue", ... */

/* ---- definitions ------------------------------------------------------------------------------------------- */

/* Variable-length records in MSR_GPU_DEFINITION extents: this head, the fixed part of the type, then strings with NUL; padded to 8. */
enum msr_gpu_definition_type {
	MSR_GPU_DEF_DEVICE = 1,
	MSR_GPU_DEF_CONTEXT = 2,
	MSR_GPU_DEF_QUEUE = 3,
	MSR_GPU_DEF_CODE = 4,
	MSR_GPU_DEF_FUNCTION = 5,
	MSR_GPU_DEF_STALL = 6,    /* name of a stall reason */
	MSR_GPU_DEF_COUNTER = 7,
	MSR_GPU_DEF_DEVICE_LIMITS = 8 /* more of a device: what a group of threads may use */
};
struct msr_gpu_definition {
	uint32_t bytes;      /* whole record, a multiple of 8 */
	uint16_t type;       /* enum msr_gpu_definition_type */
	uint16_t name_bytes; /* of the first string, with NUL: the name */
	uint32_t id;         /* within the type, from 1; 0 means "none" wherever an id is expected */
	uint32_t more_bytes; /* of the second string, with NUL: see the type; 0: there is none */
};
struct msr_gpu_def_device {   /* name: the device's; more: back end and driver: "OpenCL 3.0 PoCL 3.1" */
	struct msr_gpu_definition head;
	uint32_t ordinal;         /* number among the devices of the process, from 0, as the user counts them */
	uint32_t n_units;         /* compute units, SMs; 0: unknown, as all below */
	uint32_t threads_per_unit;/* resident at most */
	uint32_t group_max;       /* work-items, threads of a group at most */
	uint32_t lanes;           /* width of a warp, wavefront, subgroup */
	uint32_t clock_mhz;
	uint64_t memory_bytes;
	uint8_t uuid[16];         /* zero: unknown */
	uint32_t registers_per_unit;
	uint32_t shared_bytes_per_unit;
	uint32_t groups_per_unit; /* resident at most */
	uint32_t type;            /* enum msr_gpu_device_type */
};
enum msr_gpu_device_type { MSR_GPU_DEVICE_OTHER, MSR_GPU_DEVICE_GPU, MSR_GPU_DEVICE_CPU, MSR_GPU_DEVICE_ACCELERATOR };
/*
 * What limits how many groups are resident on a unit at once, beyond what the device says. Its id is the device's. Name: "". The strings of a definition begin behind its fixed part, so
 * fields that came later are a record of their own; readers that do not know it pass over it.
 */
struct msr_gpu_def_device_limits {
	struct msr_gpu_definition head;
	uint32_t compute_major, compute_minor; /* NVIDIA's compute capability; 0: none */
	uint32_t registers_per_group;          /* at most; 0: unknown, as below */
	uint32_t reserved_shared_bytes;        /* that the run time takes of each group, in addition to the kernel's own */
	uint32_t shared_bytes_per_group;       /* at most */
	uint32_t shared_bytes_per_group_optin; /* at most, for kernels that ask for more */
};
struct msr_gpu_def_context {  /* name: may be "" */
	struct msr_gpu_definition head;
	uint32_t device;          /* id; of a context over several devices the first */
	uint32_t ordinal;         /* as the user or the vendor counts, from 0 */
};
struct msr_gpu_def_queue {    /* name: as for people, "queue 1", "stream 7" */
	struct msr_gpu_definition head;
	uint32_t context, device; /* ids */
	uint32_t ordinal;         /* within its context, from 0 */
	uint32_t clock;           /* of the times of its ops: id of MSR_GPU_CLOCK records; 0: CLOCK_MONOTONIC ns */
	uint32_t flags;           /* MSR_GPU_QUEUE_* */
	uint32_t reserved;
};
#define MSR_GPU_QUEUE_OUT_OF_ORDER 1u
#define MSR_GPU_QUEUE_FORCED_PROFILING 2u /* the program had not asked for times */

enum msr_gpu_code_kind {
	MSR_GPU_CODE_OTHER,
	MSR_GPU_CODE_ELF,         /* cubin, HSA code object, zebin, shared object: suffix .gpubin */
	MSR_GPU_CODE_OPENCL_C,    /* source text: .cl */
	MSR_GPU_CODE_SPIRV,       /* .spv */
	MSR_GPU_CODE_PTX,         /* .ptx */
	MSR_GPU_CODE_BUILTIN      /* built into the run time: nothing is kept */
};
#define MSR_GPU_CODE_DIRECTORY "gpubins"
const char *msr_gpu_code_suffix(uint32_t kind); /* ".gpubin"; ".bin" for OTHER and what this version does not know */
struct msr_gpu_def_code {     /* name: file in <run>/gpubins, "" when it could not be kept; more: build options or "" */
	struct msr_gpu_definition head;
	uint64_t hash[2];         /* of the content; the file's name is its 32 hex digits, hash[0] first, and the suffix of the kind */
	uint64_t content_bytes;
	uint64_t load_ns;         /* CLOCK_MONOTONIC, when it was first seen */
	uint32_t kind;            /* enum msr_gpu_code_kind */
	uint32_t device;          /* id or 0 */
};
struct msr_gpu_def_function { /* name: linkage name, as the code object has it; more: source-level name where it differs */
	struct msr_gpu_definition head;
	uint32_t code;            /* id or 0 */
	uint32_t flags;           /* 0 */
};
struct msr_gpu_def_stall {    /* name: as the vendor has it; more: a line that describes it */
	struct msr_gpu_definition head; /* id: stall index + 1, as in msr_gpu_pc */
	uint32_t device;          /* id, or 0 for all */
	uint32_t flags;           /* MSR_GPU_STALL_* */
};
#define MSR_GPU_STALL_ISSUED 1u  /* not a stall: the sampled warp issued */
#define MSR_GPU_STALL_ONLY_NOT_ISSUED 2u /* counts samples in which the scheduler issued nothing */
struct msr_gpu_def_counter {  /* name; more: description */
	struct msr_gpu_definition head;
	uint32_t unit;            /* enum msr_unit */
	uint32_t flags;           /* 0 */
};

/* ---- records ----------------------------------------------------------------------------------------------- */

/* Launch characteristics of kernels; most launches of a program share few. */
struct msr_gpu_shape {
	uint32_t id;              /* from 1 */
	uint32_t function;        /* id */
	uint32_t grid[3];         /* groups (blocks) in each dimension; 0: not said */
	uint32_t block[3];        /* work-items (threads) of a group in each dimension; 0: left to the run time */
	uint32_t cluster[3];      /* groups of a cluster; 0: none */
	uint32_t registers;       /* of a thread; 0: unknown, as all below */
	uint32_t static_shared_bytes, dynamic_shared_bytes; /* of a group */
	uint32_t local_bytes;     /* private (spill) memory of a thread */
	uint32_t offset_flags;    /* 0 */
	uint64_t global[3];       /* work-items in each dimension where grid x block does not say it exactly (OpenCL); else 0 */
};

struct msr_gpu_clock {
	uint32_t clock;           /* from 1 */
	uint32_t reserved;
	uint64_t device_ns;       /* the device's clock, in units that are nominally ns */
	uint64_t mono_ns;         /* CLOCK_MONOTONIC at the same moment */
	uint64_t error_ns;        /* the pair is right to +- this */
};

/* 16 bytes, written by the launching thread in an extent of its own. The id is the extent's `first` with its low 32 bits replaced. */
struct msr_gpu_launch {
	uint64_t enter_ns;        /* CLOCK_MONOTONIC: the call was entered */
	uint32_t id_low;
	uint32_t kind_node;       /* bits 31..28 enum msr_gpu_kind, 27..0 context node (0: none) */
};

/* 40 bytes, and 8 more where the extent's record_bytes says so. Readers take record_bytes as the stride. */
struct msr_gpu_op {
	uint64_t id_kind;         /* bits 47..0 id, 55..48 enum msr_gpu_kind, 63..56 detail, or with MSR_GPU_OP_LOST enum msr_gpu_loss */
	uint64_t start_ns;        /* by the queue's clock; SYNC, ALLOC, FREE: CLOCK_MONOTONIC; lost: 0 */
	uint64_t end_ns;
	uint64_t amount;          /* COPY, SET, ALLOC, FREE: bytes; KERNEL: node of the graph, 0: none */
	uint32_t queue;           /* id; 0: none */
	uint32_t shape;           /* KERNEL: id; else 0 */
	uint32_t queued_before_ns;    /* optional: queued, submitted so long before start; UINT32_MAX: longer or unknown */
	uint32_t submitted_before_ns;
};
#define MSR_GPU_OP_SHORT 40u
#define MSR_GPU_OP_LONG 48u
#define MSR_GPU_OP_LOST 0x80u  /* set in the kind */
#define MSR_GPU_ID_MAX ((UINT64_C(1) << 48) - 1)

#define MSR_GPU_BACKEND_SHIFT 46 /* the highest two bits of an id are the back end's number */

static inline uint64_t msr_gpu_op_make(uint64_t id, unsigned kind, unsigned detail)
{
	return (id & MSR_GPU_ID_MAX) | (uint64_t)(kind & 255u) << 48 | (uint64_t)(detail & 255u) << 56;
}

/*
 * Operations beyond the bound on records, summed up. Updated in place, like cells; (thread, node, kind, detail, queue, shape) is unique among the aggregates of one
 * back end. A launch is counted where detail, queue and shape are 0, for they are not known yet, and so is an op that is lost; so what is in
 * flight (n_launches - n_ops - n_lost) is to be summed over the aggregates of a thread, node and kind. GRAPH has launches alone: its ops are kernels, copies and sets,
 * and those that are lost stand where no launch does.
 */
struct msr_gpu_aggregate {
	uint32_t thread;          /* ~0: not measured */
	uint32_t node;
	uint32_t queue, shape;
	uint16_t kind, detail;
	uint32_t backend;         /* its number: the highest two bits of its ids */
	_Atomic uint64_t n_launches; /* launched so; those not yet in n_ops or n_lost are in flight */
	_Atomic uint64_t n_ops;
	_Atomic uint64_t busy_ns; /* sum of end less start */
	_Atomic uint64_t amount;
	_Atomic uint64_t n_lost[4]; /* refused, failed, never done, no times; others are in the tally */
};

/* A node of a graph: the place in the program that made it (captured it), or which node it is a copy of. Kernels say their node in `amount`. */
struct msr_gpu_graph_node {
	uint64_t node;            /* the vendor's number, as in msr_gpu_op.amount */
	uint64_t original;        /* the node that it was copied from when the graph was instantiated or cloned; 0: made by a call, at the place below */
	uint32_t thread;          /* ~0: not known */
	uint32_t context;         /* context node; 0: no path */
	uint32_t backend;         /* its number */
	uint32_t reserved;
};

/*
 * Samples at one instruction: those of a launch as they came, those of which the launch is not known in one record. Beyond the bound on records samples are summed up by the place of their launch:
 * in records that are longer (struct msr_gpu_pc_at), in extents of their own.
 */
struct msr_gpu_pc {
	uint64_t offset;          /* of the instruction in the function's code */
	uint64_t id;              /* of the launch, where the mode of sampling knows it; else 0 */
	uint64_t count;           /* samples */
	uint32_t function;        /* id */
	uint16_t stall;           /* id of MSR_GPU_DEF_STALL */
	uint16_t queue_low;       /* 0, or the queue's id where it is known and fits */
};

struct msr_gpu_pc_at {
	struct msr_gpu_pc pc;     /* id: 0 */
	uint32_t thread;          /* whose launches, and where; ~0: not measured */
	uint32_t node;            /* context node; 0: no path */
};

/* One range of PC sampling: total == recorded + dropped + outside. */
struct msr_gpu_pc_range {
	uint64_t start_ns, end_ns;/* CLOCK_MONOTONIC */
	uint64_t total, recorded, dropped, outside; /* samples; outside: of kernels that are not the program's */
	uint64_t period;          /* cycles between two samples of a sampler */
	uint32_t context;         /* id */
	uint32_t samplers;        /* samplers of the device, for the rate that was promised; 0: unknown */
	uint32_t flags;           /* MSR_GPU_RANGE_* */
	uint32_t reserved;
};
#define MSR_GPU_RANGE_SERIALIZED 1u /* kernels ran one at a time and samples know their launch */
#define MSR_GPU_RANGE_BUFFER_FULL 2u
#define MSR_GPU_RANGE_GAP 4u        /* nothing was sampled in this range: a gap and its duration */
#define MSR_GPU_RANGE_NOT_FITTED 8u /* `dropped` contains samples of instructions for which a buffer of ours had no room */
#define MSR_GPU_RANGE_CUT 16u       /* with GAP: measurement ended while kernels ran, or nobody could be asked: how many samples were taken and not handed out is not known */

struct msr_gpu_value {
	uint64_t id;              /* of the launch; 0: of the queue or device as a whole */
	uint64_t value;
	uint32_t counter;         /* id of MSR_GPU_DEF_COUNTER */
	uint32_t queue;
};

/*
 * One or more for each back end, updated in place; with more than one (threads that launch at once count in different ones) all words add up. The sum of launched == launch records +
 * aggregated + launch_losses, but for NO_PATH, which takes no launch.
 * Extent's thread: ~0, its sequence is the back end's number: the highest two bits of the ids.
 */
struct msr_gpu_tally {
	char backend[16];         /* "opencl", "nvidia" */
	char entrance[48];        /* how it came in: "ICD loader's layer", "preloaded" */
	_Atomic uint64_t launched[16];   /* by enum msr_gpu_kind: calls that the run time accepted */
	_Atomic uint64_t recorded[16];   /* launch records written */
	_Atomic uint64_t aggregated[16]; /* launches counted in aggregates */
	_Atomic uint64_t launch_losses[MSR_GPU_LOSS_ROOM]; /* launches without record and aggregate, by cause */
	_Atomic uint64_t n_ops;          /* op records written, lost ones included */
	_Atomic uint64_t op_losses[MSR_GPU_LOSS_ROOM]; /* ops that could not be written or were dropped, by cause, id unknown or unwritten */
	_Atomic uint64_t handler_ns;     /* CPU time of our launch callbacks, estimated from every 128th */
	_Atomic uint64_t n_bad_order;    /* ops whose times were not enqueue <= start <= end within the clocks' error, as seen in the run */
	_Atomic uint64_t n_unknown_calls;
	_Atomic uint64_t n_lost_definitions; /* names, queues, shapes ... that could not be written; what refers to them says 0 */
	_Atomic uint64_t n_lost_contents;    /* code objects whose content could not be kept */
	_Atomic uint64_t n_lost_pc;          /* PC samples (the sum of their counts) that could not be written */
	_Atomic uint64_t n_lost_values;      /* counter values, PC ranges, clock pairs and graph nodes likewise */
	_Atomic uint64_t record_bytes;       /* of the extents given out for launches, ops and PC samples of launches */
	_Atomic uint64_t aggregate_from_ns;  /* CLOCK_MONOTONIC: the bound on records was reached; 0: not */
	_Atomic uint64_t lost[MSR_GPU_LOSS_ROOM]; /* ops told as lost, by cause: in op records and in aggregates; for reports of the run time */
};

#endif
