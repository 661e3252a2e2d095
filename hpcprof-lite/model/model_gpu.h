/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of the model about GPUs: the account of operations and of PC samples, devices, queues, and
 * operations. Include model.h.
 */
#ifndef HPCPROF_MODEL_MODEL_GPU_H
#define HPCPROF_MODEL_MODEL_GPU_H

#include "common/format/measurement_gpu.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- the account ---- */

/*
 * What happened to the GPU operations of one back end, counted by the reader. The ledger closes if
 * launched == joined + aggregated + lost for each kind, with the losses given by cause, and
 * unexplained is 0.
 */
struct model_gpu_ledger {
	const char *backend;       /* "opencl"; "" in sums over back ends */
	const char *entrance;      /* how the back end entered the process */
	/*
	 * Launches by enum msr_gpu_kind, as our runtime counted them: calls that asked for
	 * operations. [0]: the process was killed before it counted them.
	 */
	uint64_t launched[16];
	/* launches with at least one operation under a CPU path (NO_PATH: under its own entry) */
	uint64_t joined[16];
	uint64_t aggregated[16]; /* launches that were aggregated during the run and are complete */
	uint64_t losses[MSR_GPU_LOSS_ROOM]; /* lost launches by cause, each counted once */
	/*
	 * Lost operations of graphs, by cause; a lower bound. The launch of a graph has several
	 * operations and is joined if one of them was recorded. These losses are in none of the
	 * sums above.
	 */
	uint64_t graph_losses[MSR_GPU_LOSS_ROOM];
	/* launches in no group above, and operations beyond the number of launches */
	uint64_t unexplained;
	/* Operations in the tree, including aggregated ones. The launch of a graph has several. */
	uint64_t n_ops;
	/*
	 * Operation records without a launch, because its record was lost. They are in the tree
	 * under their own entry.
	 */
	uint64_t n_orphans;
	uint64_t n_no_path;        /* launched by threads that are not measured */
	/*
	 * Operations whose times are not enqueue <= start <= end within the error of the clocks.
	 * They are in the tree; this counts them.
	 */
	uint64_t n_bad_order;
	uint64_t n_unknown_calls;
	/* Names, queues and shapes that could not be written. Records that refer to them remain. */
	uint64_t n_lost_definitions;
	uint64_t n_lost_contents;  /* code objects whose content could not be saved */
	/* counter values, PC sampling ranges and clock pairs that could not be written */
	uint64_t n_lost_values;
	/*
	 * Operations that overlap more others in their queue than there are lanes. Only the time
	 * line shortens them.
	 */
	uint64_t n_clipped;
	uint64_t handler_ns;
	bool closes;
};

/*
 * The error of apportioning, for one kernel. Several contexts launched the kernel in serialized
 * windows, where samples carry their launch. The error is the share of these samples that would be
 * in a wrong place if they had been apportioned by GPU time (total variation distance). "chance" is
 * the part of the error that this number of samples causes by chance. Negative: not measured.
 * doc/outputs.md has the definition.
 */
struct model_gpu_yardstick {
	uint32_t context;          /* one context of the kernel */
	/*
	 * Contexts that launched the kernel in the windows. With only one, wrong_context compares
	 * its samples per time in the windows with those of all contexts elsewhere.
	 */
	uint32_t n_contexts;
	uint64_t n_samples;        /* samples with a known launch */
	uint64_t n_apportioned;    /* samples of the kernel outside the windows */
	double wrong_context, chance_context; /* 0 .. 1 */
	double wrong_place, chance_place; /* place: (context, instruction) */
};

/*
 * What PC sampling of GPUs delivered. The account closes if total == recorded + dropped + outside
 * for each range, and recorded == in_tree_exact + in_tree_apportioned + in_tree_unattributed +
 * not_written + cut_off.
 */
struct model_gpu_sampling {
	uint64_t n_ranges;         /* ranges with samples; 0: there was no PC sampling */
	uint64_t n_open_ranges;    /* ranges whose own equation does not hold */
	/*
	 * Samples, as the vendor counts them. outside: not attributed to any code, such as the
	 * vendor's own work.
	 */
	uint64_t total, recorded, dropped, outside;
	uint64_t in_tree_exact;    /* recorded samples that are under their own launch */
	/*
	 * recorded samples that were apportioned over the contexts that launched the kernel, or
	 * over the calls that lead to a device function
	 */
	uint64_t in_tree_apportioned;
	/*
	 * The part of in_tree_apportioned with a known launch. Only the path inside the kernel to a
	 * device function is uncertain.
	 */
	uint64_t apportioned_by_calls;
	/*
	 * the part of in_tree_apportioned that was apportioned by number of launches, because the
	 * times of these kernels are unknown
	 */
	uint64_t apportioned_by_launches;
	/* recorded samples of functions that nothing launched: under MODEL_ENTRY_GPU_NO_LAUNCH */
	uint64_t in_tree_unattributed;
	uint64_t not_written;      /* samples that our runtime could not write */
	/*
	 * For a process that was killed or could not write: the samples missing in or after its
	 * last range.
	 */
	uint64_t cut_off;
	/*
	 * Samples counted a second time by reasons that count only while nothing was issued. They
	 * are in no sum.
	 */
	uint64_t in_tree_not_issued;
	/* ranges with sampling; sampled_ns includes serialized_ns */
	uint64_t sampled_ns, serialized_ns;
	uint64_t gap_ns, longest_gap_ns, n_gaps; /* times between ranges, without sampling */
	/*
	 * Gaps at the end of a context, where the vendor's library kept samples. No counter says
	 * how many it kept.
	 */
	uint64_t n_cut;
	uint64_t n_buffer_full, n_serialized;
	uint64_t period_least, period_most; /* cycles */
	uint32_t samplers, clock_mhz; /* of the first range that gives them; 0: unknown */
	double expected;           /* samples if all samplers had been busy whenever a kernel ran */
	/* samples if as many samplers had been busy as the kernels have blocks; 0: unknown */
	double promised;
	/*
	 * n_yardsticks, by falling n_apportioned, then n_samples. Only a single process has them;
	 * sums over processes have none.
	 */
	const struct model_gpu_yardstick *yardsticks;
	uint32_t n_yardsticks;
	struct {
		uint64_t n_kernels, n_samples;
		/* The apportioned samples of these kernels. If there are none: n_samples. */
		double weight;
		/* of `weight`, the samples in a wrong place; divide by `weight` */
		double wrong_context, chance_context;
		double place_weight, wrong_place, chance_place;
	} yardstick;
	bool closes;
};

/* ---- what warps waited for ---- */

/*
 * PC samples of warps that waited at one place for an operation at another. Derived from the
 * dependencies in the code, not measured; several possible causes share the samples.
 */
struct model_gpu_blame {
	uint32_t profile;          /* the same as for the values of the samples */
	uint32_t waiting;          /* context of the samples */
	uint32_t cause;            /* context of what they waited for, in the same kernel */
	uint32_t metric;           /* their stall reason */
	uint64_t n;
	/*
	 * n_issued: samples of warps that issued the cause, or another instruction with the same
	 * operation that the same instruction waits for. bytes_issued: n_issued times the bytes
	 * that the instruction moves for a thread (0: unknown). If several instructions wait for
	 * one, its number is divided among them by their samples. So sums over a kernel say how
	 * often it did this operation.
	 */
	uint64_t n_issued, bytes_issued;
	double cycles;             /* n times the cycles that a warp waits there each time */
	uint8_t kind;              /* enum structure_wait_kind */
	uint8_t operation;         /* of the cause: enum structure_operation */
	bool is_carried;           /* the cause is in an earlier iteration */
	bool is_chained;           /* see struct structure_cause */
	/* FIXED: the cause is the instruction before, because of its latency or another delay. */
	bool is_before;
};

/* ---- devices and queues ---- */

struct model_gpu_device {
	const char *name, *driver;
	const struct msr_gpu_def_device *definition; /* of the first process with this device */
	/* of the first process with this device; NULL: unknown */
	const struct msr_gpu_def_device_limits *limits;
	const struct msr_gpu_def_device_rates *rates; /* the same */
	uint32_t process; /* MODEL_NONE if several processes use it (equal uuid on one host) */
	uint32_t first_process;    /* the first process with this device */
	uint32_t ordinal;
};
struct model_gpu_context {
	uint32_t process, device, ordinal;
};
/* The resource that limits how many blocks of a launch fit on an SM; the first of equal limits. */
enum model_gpu_limit {
	MODEL_LIMIT_WARPS,  /* threads of an SM */
	MODEL_LIMIT_GROUPS, /* blocks of an SM */
	MODEL_LIMIT_REGISTERS,
	MODEL_LIMIT_SHARED,
	MODEL_N_LIMITS
};
/* "threads", "blocks", "registers", "shared memory" */
const char *model_gpu_limit_name(enum model_gpu_limit limit);

/* How many warps of a launch fit on an SM at a time. */
struct model_gpu_occupancy {
	uint32_t warps, warps_most; /* 0: unknown */
	enum model_gpu_limit limit; /* only if `warps` is known */
	/*
	 * eased: the value of the limiting resource at which more warps would fit: registers of a
	 * thread, bytes of shared memory of a block, or threads of a block. eased_warps: how many
	 * would fit then. 0: unknown, or no value makes more fit.
	 */
	uint32_t eased, eased_warps;
};
struct model_gpu_queue {
	/* name for people, as short as is unique in the process: "GPU 0 context 0 queue 1" */
	const char *name;
	uint32_t context, device, ordinal;
	uint32_t flags;            /* MSR_GPU_QUEUE_* */
	uint32_t n_lanes; /* number of its profiles; 0: no operation with times ran on it */
	/* time with at least one operation; markers do not count and are on no time line */
	uint64_t busy_ns;
};

/* ---- idle time ---- */

/* Why no operation ran on a device. doc/gpu-idle.md has the definitions. */
enum model_gpu_idle_cause {
	MODEL_GPU_IDLE_BEFORE,     /* before the first operation */
	MODEL_GPU_IDLE_NOTHING,    /* nothing was launched: threads did something else */
	MODEL_GPU_IDLE_LAUNCH,     /* threads launched, but not fast enough */
	MODEL_GPU_IDLE_SYNC,       /* during a thread's wait for the device, and after it */
	MODEL_GPU_IDLE_QUEUED,     /* launched and not started: latency, or a dependency */
	MODEL_GPU_IDLE_AFTER,      /* after the last operation */
	MODEL_N_GPU_IDLE_CAUSES
};

/*
 * What a device did while its processes were measured, of all processes that use it:
 * watched_ns == kernel_ns + copy_ns - overlap_ns + the sum of idle_ns, and
 * the sum of idle_ns == blamed_ns + waiting_ns + unsampled_ns.
 */
struct model_gpu_idle {
	/* False: no operation of the device has a time, or too many of its processes' have none. */
	bool is_known;
	uint64_t watched_ns;
	uint64_t kernel_ns;        /* at least one kernel ran */
	uint64_t copy_ns;          /* at least one copy or set ran */
	uint64_t overlap_ns;       /* both */
	uint64_t idle_ns[MODEL_N_GPU_IDLE_CAUSES];
	uint64_t setup_ns;         /* the part of MODEL_GPU_IDLE_NOTHING before the first kernel */
	uint64_t blamed_ns;        /* idle while a thread did something else: in GPU_IDLE_CAUSE */
	uint64_t waiting_ns;       /* idle while all threads with a sample waited for the device */
	uint64_t unsampled_ns;     /* idle while no thread had a sample */
	uint64_t off_ns;           /* idle while measurement was off: not watched */
	/* n_ops: operations with times. n_untimed: operations without times in its processes. */
	uint64_t n_ops, n_untimed;
	/* Time from call to start of operations that found the device idle with an empty queue. */
	uint64_t n_latencies, latency_median_ns, latency_95_ns;
	/* number of operations that were launched and had not ended, over the watched time */
	double queue_mean;
	uint64_t queue_most;
};

/* Time that threads waited for GPUs: all_ns == blamed_ns + idle_ns + unknown_ns. */
struct model_gpu_waits {
	uint64_t all_ns;
	uint64_t blamed_ns;        /* while operations ran: in CPU_IDLE_CAUSE */
	uint64_t idle_ns;          /* while nothing ran on the device */
	/* It is not known which device the thread waited for, or what ran there. */
	uint64_t unknown_ns;
};

/* ---- operations ---- */

struct model_gpu_op {
	/* CLOCK_REALTIME since the epoch; increases within a profile (lane) without overlap */
	uint64_t start_ns, end_ns;
	/* CLOCK_REALTIME of the entry into the call that asked for it; 0: unknown */
	uint64_t enter_ns;
	uint64_t queued_ns, submitted_ns; /* 0: unknown */
	uint64_t id;                   /* id of the launch, unique in its process */
	uint64_t bytes;                /* of copies, fills, allocations, frees; else 0 */
	uint64_t graph_node;           /* of kernels of a graph; else 0 */
	uint32_t context;              /* the kernel function, or the placeholder of its kind */
	uint32_t shape;                /* index into gpu_shapes, or MODEL_NONE */
	uint32_t launcher;             /* profile of the thread that asked for it, or MODEL_NONE */
	uint8_t kind, detail; /* enum msr_gpu_kind, and the enum of the details of this kind */
};

#endif
