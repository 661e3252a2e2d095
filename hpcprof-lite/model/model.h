/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile: the modules, functions, contexts, metrics, values and time lines of all merged
 * processes and threads.
 *
 * load and attribute build the model, and attribute_run() returns it constant. Each sink is a
 * function over a `const struct model *`. Sinks may run at the same time in different threads. One
 * struct model owns everything. All pointers returned are borrowed and stay valid as long as the
 * model. Tests: tests/unit/prof/test_model.c.
 *
 * Ids are dense indices into the arrays of this struct. Contexts are in depth-first preorder.
 * Siblings are sorted by kind, then name, file, line and address, so the order of the input does
 * not change the output. A parent's id is smaller than its children's. The descendants of a context
 * have the ids [id + 1, id + subtree_n).
 */
#ifndef HPCPROF_MODEL_MODEL_H
#define HPCPROF_MODEL_MODEL_H

#include "common/format/ends.h"
#include "common/format/measurement_gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_NONE UINT32_MAX

/* ---- modules, files and functions ---- */

enum model_structure { /* what is known about the code of a module */
	MODEL_STRUCTURE_NONE,    /* nothing: binary missing or unreadable */
	/* the binary on disk is not the one that ran (build ids differ); it is not used */
	MODEL_STRUCTURE_CHANGED,
	MODEL_STRUCTURE_SYMBOLS, /* functions, no lines */
	MODEL_STRUCTURE_LINES    /* functions, inlined calls, lines */
};

/* The role of a module in the call paths that lead through it. */
enum model_module_role {
	MODEL_MODULE_PROGRAM,     /* none of the roles below */
	MODEL_MODULE_INTERPRETER, /* runs lines of Python source */
	/* between the program and a GPU: runtimes and libraries of GPU vendors, libffi */
	MODEL_MODULE_LAUNCH,
	MODEL_MODULE_START        /* libc: processes and threads start there */
};

struct model_module {
	const char *path;              /* as the loader named it */
	const uint8_t *build_id;
	uint32_t build_id_bytes;
	enum model_structure structure;
	/*
	 * A code object that ran on a GPU. `path` says where it is kept; "": it is named by its
	 * hash. `build_id` is the hash of its content.
	 */
	bool is_gpu;
	uint8_t role;                  /* enum model_module_role */
	/* a file of Python source, or "<string>" and the like; it has no build id */
	bool is_python;
};

struct model_file {
	const char *path; /* from the debug information; absolute where that gives the directory */
};

struct model_function {
	/* demangled; "<unknown function> [libx.so]" and the like if there is no name */
	const char *name;
	uint32_t module;
	uint32_t file, line;           /* of the definition; MODEL_NONE and 0 if unknown */
	uint64_t link_addr;            /* entry; 0 if unknown */
	/*
	 * The function launches GPU work. It belongs to an API, or a compiler made it for a launch.
	 */
	bool is_launch;
	/*
	 * Not MSR_GPU_NO_KIND: the function is a placeholder: "<gpu kernel>", "<gpu copy>" and so
	 * on. It connects the CPU context that asked for operations of this kind with the
	 * operations. Its module is MODEL_NONE, and operations other than kernels count at it.
	 *
	 * Kernels are ordinary functions of modules with is_gpu. The placeholder calls them
	 * directly, without a line between. A graph kernel has a second placeholder of kind KERNEL
	 * between, "<graph node of FILE:LINE, FUNCTION>", if we saw the call that made its node.
	 * Values of a whole kernel count at its FUNCTION context. PC samples count at the lines,
	 * instructions and inlined calls below it. A kernel without a known code object also has
	 * module MODEL_NONE, but gpu_kind MSR_GPU_NO_KIND.
	 */
	uint8_t gpu_kind;
	/* The placeholder of a graph node. This line of this function made the node. */
	bool is_node;
	uint32_t node_function, node_file, node_line;
};

/* ---- contexts ---- */

enum model_context_kind {
	MODEL_CONTEXT_ROOT,        /* only id 0 */
	MODEL_CONTEXT_ENTRY, /* child of the root: where call paths start, see enum model_entry */
	MODEL_CONTEXT_FUNCTION,    /* a called or inlined function (see relation) */
	MODEL_CONTEXT_LOOP,
	MODEL_CONTEXT_LINE,        /* a source line; the parent of the calls made there */
	MODEL_CONTEXT_INSTRUCTION  /* takes the place of a LINE if the line is unknown */
};

enum model_relation { /* of a context to its parent */
	MODEL_LEXICAL, /* inside the parent in the source: a loop or line of a function */
	MODEL_CALL,                /* called by it */
	MODEL_INLINED              /* called by it and inlined by the compiler */
};

enum model_entry {
	MODEL_ENTRY_MAIN,          /* main thread, complete call paths */
	MODEL_ENTRY_THREAD,        /* other threads, complete call paths */
	/* call paths that the unwinder could not follow to the root; `end` gives the reason */
	MODEL_ENTRY_PARTIAL,
	/* GPU operations from threads that are not measured, or without a call path */
	MODEL_ENTRY_GPU_NO_PATH,
	/*
	 * GPU operations and samples with an unknown launch: its record was lost or never existed
	 */
	MODEL_ENTRY_GPU_NO_LAUNCH
};

struct model_context {
	uint32_t parent;           /* MODEL_NONE for the root */
	uint32_t subtree_n;        /* contexts in the subtree, including this one */
	uint8_t kind;              /* enum model_context_kind */
	uint8_t relation;          /* enum model_relation */
	uint8_t entry;             /* ENTRY: enum model_entry */
	uint8_t end;               /* partial ENTRY: enum msr_path_end */
	/*
	 * A heuristic found this frame. The flag is set in all contexts of the frame: its FUNCTION,
	 * inlined calls, LOOPs, and LINE or INSTRUCTION. They are separate from the contexts of the
	 * same function in frames that unwind rules found. Frames further out (parents) depend on
	 * the guess for the values that passed through it. Frames further in (children) are
	 * certain, but their place below this frame is not.
	 */
	bool marked;
	/* FUNCTION: the function; LINE, LOOP, INSTRUCTION: the enclosing function */
	uint32_t function;
	uint32_t module;           /* MODEL_NONE for root and entries */
	/* LINE, LOOP: the source line; FUNCTION: its definition; others: MODEL_NONE, 0 */
	uint32_t file, line;
	/*
	 * INSTRUCTION: its address; FUNCTION: its entry; LOOP without a line: its first
	 * instruction; others: 0
	 */
	uint64_t link_addr;
};

/*
 * The suffix of the name of a function in guessed frames. It keeps the function separate from the
 * one that unwind rules found.
 */
#define MODEL_GUESSED_SUFFIX " [guessed]"

/* ---- metrics ---- */

enum model_metric_kind {
	MODEL_METRIC_SAMPLED,   /* events sampled on CPUs; these have samples and time lines */
	/* "GPUOP (sec)", "GKER (sec)" and so on: sums of the durations of operations */
	MODEL_METRIC_GPU_TIME,
	MODEL_METRIC_GPU_COUNT, /* "GKER:COUNT", "GXCOPY:H2D (B)" and so on: sums */
	/*
	 * Launch characteristics. The values are sums over launches, because readers add values.
	 * People read the quotient: value / value of `divisor`.
	 */
	MODEL_METRIC_GPU_MEAN,
	/* PC samples and stall reasons: "GINS", "GINS:STL_*", "GSAMP:*" */
	MODEL_METRIC_GPU_SAMPLES,
	/*
	 * "CPUTIME:GUESSED (sec)": the part of the parent metric on call paths with a guessed
	 * frame. It exists only if there are guessed frames.
	 */
	MODEL_METRIC_GUESSED
};

/* What a GPU metric counts, so that a report finds the metric without its name. */
enum model_metric_role {
	MODEL_ROLE_NONE,        /* CPU metrics, and metrics that no report looks up */
	MODEL_ROLE_GPU_TIME,    /* kernels, copies and sets */
	MODEL_ROLE_KERNEL_TIME,
	MODEL_ROLE_COPY_TIME,
	MODEL_ROLE_SET_TIME,
	MODEL_ROLE_SYNC_TIME,   /* CPU time spent waiting for GPUs */
	MODEL_ROLE_KERNELS,     /* launches */
	MODEL_ROLE_COPIES,
	MODEL_ROLE_COPY_BYTES,  /* one metric for each direction */
	MODEL_ROLE_SETS,
	MODEL_ROLE_SET_BYTES,   /* one metric for each kind of memory */
	MODEL_ROLE_SYNCS,
	MODEL_ROLE_SAMPLES,     /* PC samples */
	MODEL_ROLE_APPORTIONED, /* PC samples that were apportioned */
	MODEL_ROLE_MEASURED,    /* PC samples of whole kernels */
	MODEL_ROLE_EXPECTED,    /* the same, if all SMs had been busy */
	MODEL_ROLE_ISSUED,      /* PC samples of warps that issued an instruction */
	MODEL_ROLE_STALL,       /* PC samples of waiting warps: one metric for each reason */
	/* the part of a STALL while the scheduler issued nothing; in no sum */
	MODEL_ROLE_STALL_IDLE
};

struct model_metric {
	uint8_t kind;              /* enum model_metric_kind */
	uint8_t role;              /* enum model_metric_role */
	uint32_t idle; /* STALL: its STALL_IDLE metric or MODEL_NONE; others: undefined */
	const char *reason; /* ISSUED, STALL, STALL_IDLE: the short name, "GMEM"; others: NULL */
	/*
	 * the metric that contains this one ("GKER (sec)" is part of "GPUOP (sec)"), or MODEL_NONE
	 */
	uint32_t parent;
	uint32_t divisor; /* GPU_MEAN: the metric that counts launches; others: MODEL_NONE */
	const char *name;          /* HPCToolkit's name: "CPUTIME (sec)", "PAPI_TOT_CYC" */
	const char *event;         /* as the user asked for it: "CPUTIME" */
	const char *unit;          /* "sec", "count", "B" */
	const char *description;
	/* the smallest period of all processes, in the unit of the measurement (ns, count) */
	uint64_t period;
	uint64_t period_most;      /* the largest period of all processes */
	enum msr_source source;    /* the source in the first process with this metric */
	/* Other processes used another source: a timer if they had no perf events. */
	bool sources_differ;
	/*
	 * For known stall reasons: what the reason means and what to look at, one line of text
	 * each. Others: NULL.
	 */
	const char *meaning, *hint;
	/*
	 * GPU_SAMPLES: some samples were apportioned to the contexts that launched the kernel, in
	 * proportion to its time in each. The description says so too.
	 */
	bool apportioned;
};

/* The part of the tree that a value sums over. The names are HPCToolkit's. */
enum model_scope {
	MODEL_POINT,               /* only the context itself */
	/*
	 * The context and all that is lexically inside it: all descendants reached only through
	 * MODEL_LEXICAL. An inlined call is a call, because readers sum this scope over functions.
	 */
	MODEL_FUNCTION,
	/* LOOP contexts: as MODEL_FUNCTION, without nested loops; others: as MODEL_FUNCTION */
	MODEL_LEX_AWARE,
	MODEL_EXECUTION,           /* inclusive: all descendants */
	MODEL_N_SCOPES
};

/*
 * The value of one (profile, context, metric), in the metric's unit. It exists only if
 * MODEL_EXECUTION is not 0.
 */
struct model_value {
	uint32_t context;
	uint32_t metric;
	double at[MODEL_N_SCOPES];
};

/*
 * The value over all profiles. Profiles without the context count as 0 in the mean and deviation.
 * They do not count in min.
 */
struct model_total {
	uint32_t context;
	uint32_t metric;
	uint32_t n_profiles;       /* profiles with a value */
	uint64_t n_samples;        /* at the context itself (MODEL_POINT) */
	double sum[MODEL_N_SCOPES], sum_of_squares[MODEL_N_SCOPES], min[MODEL_N_SCOPES],
		max[MODEL_N_SCOPES];
};

/* ---- profiles (threads) and the ledger ---- */

struct model_ledger {
	/* the file was still being written: the ledger holds for the moment of reading */
	bool is_live;
	uint64_t delivered;        /* samples delivered to our runtime */
	uint64_t recorded;         /* samples that our runtime says it put in its tree */
	uint64_t in_tree;          /* samples that the reader counted in the tree */
	uint64_t losses[MSR_LOSS_ROOM];
	uint64_t path_ends[MSR_N_PATH_ENDS];
	uint64_t n_marked; /* call paths with a guessed frame, as our runtime counted them */
	/*
	 * The samples in the tree by their call path, counted by the reader. Their sum is in_tree.
	 */
	uint64_t n_complete; /* reached the root of the thread without a guessed frame */
	uint64_t n_guessed;              /* reached the root, with a guessed frame */
	/* did not reach the root, by cause; [MSR_END_ROOT]: cause unknown */
	uint64_t n_cut[MSR_N_PATH_ENDS];
	uint64_t n_trace_records;
	uint64_t bytes_damaged;    /* bytes of the file that were skipped */
	uint64_t bytes_file;
	uint64_t handler_ns;
	uint64_t n_frames;
};

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
	/* launches in none of these groups, and operations in excess of the launches */
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
	 * its samples per time with the samples per time of all.
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
	 * Gaps at the end of a context, where the vendor kept samples. No counter has the number of
	 * these samples.
	 */
	uint64_t n_cut;
	uint64_t n_buffer_full, n_serialized;
	uint64_t period_least, period_most; /* cycles */
	uint32_t samplers, clock_mhz; /* of the first range that gives them; 0: unknown */
	double expected;           /* samples if all samplers had been busy whenever a kernel ran */
	/* samples if as many samplers had been busy as the kernels have blocks; 0: unknown */
	double promised;
	/*
	 * n_yardsticks, by falling n_apportioned, then n_samples. One process has them; sums over
	 * processes have none.
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

struct model_process {
	const struct model_gpu_ledger *gpu; /* n_gpu, by back end */
	uint32_t n_gpu;
	struct model_gpu_sampling gpu_sampling;
	const char *path;          /* of the measurement file */
	uint32_t owner;            /* user id of the owner of the measurement file */
	const char *host;
	uint64_t host_id;
	uint32_t pid;
	int32_t rank;              /* -1: none */
	uint32_t exec_seq;
	const char *executable;
	const char *command;       /* arguments joined by blanks */
	bool is_live;              /* the process was still running when its file was read */
	bool is_blank;             /* the process ended before it wrote what it measures */
	uint32_t exit_kind;        /* enum msr_exit_kind */
	int32_t exit_code;
	/* CLOCK_REALTIME since the epoch; end_ns of a killed process: its last record */
	uint64_t start_ns, end_ns;
	uint64_t off_ns;           /* the part of that time while measurement was off */
	uint64_t n_starts, n_stops;/* how often the program started and stopped measurement */
	struct model_ledger ledger;/* the process's own: losses outside threads, damage */
	const char *const *notes;  /* messages of our runtime to the user */
	uint32_t n_notes;
	const char *const *events; /* what the user asked for: "CPUTIME@f1000", "gpu=opencl" */
	uint32_t n_events;
};

/* Processes of one program that could not be measured. */
struct model_unmeasured {
	const char *path;          /* path of the program */
	const char *why;           /* "static executable" */
	bool is_starter;           /* `path` is the program that started the unmeasured one */
	uint64_t n;                /* number of processes; is_starter: 0, because it is unknown */
	uint64_t n_unknown;        /* processes among them whose CPU time is in no sum */
	/* CPU time of the other processes and of the children that they waited for */
	uint64_t cpu_ns;
};

enum model_profile_kind {
	MODEL_PROFILE_THREAD,      /* a CPU thread */
	/*
	 * A GPU queue (stream): a time line without values. Its operations count in the threads
	 * that asked for them. If the thread is unknown, they count in the first thread of the
	 * process.
	 */
	MODEL_PROFILE_QUEUE
};

struct model_gpu_device {
	const char *name, *driver;
	const struct msr_gpu_def_device *definition; /* of the first process with this device */
	/* of the first process with this device; NULL: unknown */
	const struct msr_gpu_def_device_limits *limits;
	uint32_t process; /* MODEL_NONE if several processes use it (equal uuid on one host) */
	uint32_t first_process;    /* the first process with this device */
	uint32_t ordinal;
};
struct model_gpu_context {
	uint32_t process, device, ordinal;
};
/* How many warps of a launch fit on an SM at a time. */
struct model_gpu_occupancy {
	uint32_t warps, warps_most; /* 0: unknown */
	/* what limits the number: "registers", "shared memory", "blocks", "threads" */
	const char *limit;
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

/*
 * The sample source of the CPU time of a thread. struct msr_source_use explains the numbers. All
 * are 0 if unknown.
 */
struct model_source_use {
	uint64_t event_ns, event_samples, event_switches, timer_ns, timer_samples, n_changes;
};

struct model_profile {
	uint8_t kind;              /* enum model_profile_kind */
	uint32_t queue;            /* QUEUE: index into gpu_queues; others: MODEL_NONE */
	/*
	 * QUEUE: operations that overlap (out-of-order queues) are in further lanes. Each lane is a
	 * profile.
	 */
	uint32_t lane;
	uint32_t process;
	uint32_t thread; /* number in its process, 0 is the main thread; QUEUE: MODEL_NONE */
	uint32_t tid;
	const char *name;          /* may be "" */
	uint64_t start_ns, end_ns; /* CLOCK_REALTIME */
	uint64_t cpu_ns; /* from the thread's CPU clock while measurement was on; 0 if unknown */
	struct model_source_use source_use;
	struct model_ledger ledger;
	const struct model_value *values; /* sorted by context, then metric */
	size_t n_values;
	uint64_t n_trace_records;  /* QUEUE: operations in the lane */
};

/* ---- the whole model ---- */

struct model {
	const struct model_module *modules;
	uint32_t n_modules;
	const struct model_file *files;
	uint32_t n_files;
	const struct model_function *functions;
	uint32_t n_functions;
	const struct model_context *contexts;
	uint32_t n_contexts;
	const struct model_metric *metrics;
	uint32_t n_metrics;
	const struct model_process *processes;
	uint32_t n_processes;
	const struct model_unmeasured *unmeasured; /* by falling CPU time, then path */
	uint32_t n_unmeasured;
	const struct model_gpu_device *gpu_devices;
	uint32_t n_gpu_devices;
	const struct model_gpu_context *gpu_contexts;
	uint32_t n_gpu_contexts;
	const struct model_gpu_queue *gpu_queues;
	uint32_t n_gpu_queues;
	const struct msr_gpu_shape *gpu_shapes; /* launch characteristics; their ids are not used */
	uint32_t n_gpu_shapes;
	const struct model_gpu_occupancy *gpu_occupancies; /* by shape; NULL: none is known */
	struct model_gpu_ledger gpu_ledger;   /* sum over all processes */
	struct model_gpu_sampling gpu_sampling;
	bool has_gpu; /* the run had a GPU back end, even if it saw nothing */
	/*
	 * Sorted by rank, host, pid, exec_seq. Within a process: threads by number, then queues by
	 * device, context, ordinal and lane.
	 */
	const struct model_profile *profiles;
	uint32_t n_profiles;
	const struct model_total *totals;     /* sorted by context, then metric */
	size_t n_totals;
	struct model_ledger ledger;           /* sum over all */
	/* A sum of values exceeded 64 bits and stays at the maximum. This counts as damage. */
	bool sums_overflow;
	bool ledger_closes; /* delivered == in_tree + losses that count samples, for every thread */
	bool has_traces;
	uint64_t start_ns, end_ns;            /* over all processes, CLOCK_REALTIME */
	uint64_t elapsed_ns;                  /* without the time between runs */
	uint32_t n_runs; /* Stretches of time with measurement, at least one second apart. */
	const char *title;                    /* name of the first program, for people */
	struct model_private *private_;       /* private data of load and attribute */
};

/* Frees everything and unmaps the measurement files. NULL is allowed. */
void model_free(struct model *m);

/*
 * True for Python source of the installation, not of the user: below lib/python3.12, site-packages
 * or dist-packages, or not a file ("<frozen runpy>").
 */
bool model_is_python_library(const char *path);
/*
 * The Python line that led to a place: the innermost LINE context at or above `context` in the
 * user's own files, or if there is none, in any Python file. MODEL_NONE: the path has no Python
 * line.
 */
uint32_t model_find_python_line(const struct model *m, uint32_t context);

/* The number of profiles that are threads. */
static inline uint32_t model_count_threads(const struct model *m)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->n_profiles; i++)
		n += m->profiles[i].kind == MODEL_PROFILE_THREAD;
	return n;
}

/* The total of (context, metric); NULL if there is none. O(log n). */
const struct model_total *model_find_total(const struct model *m, uint32_t context,
	uint32_t metric);
/* The value of (profile, context, metric); NULL if there is none. O(log n). */
const struct model_value *model_find_value(const struct model *m, uint32_t profile,
	uint32_t context, uint32_t metric);

/* ---- time lines ---- */

struct model_sample {
	uint64_t time_ns; /* CLOCK_REALTIME since the epoch; never decreases within a profile */
	uint32_t context;
	uint32_t metric;
};

/*
 * Reads the time line of one profile directly from the measurement file, so memory does not grow
 * with the number of samples. Stores up to `n` samples in `out` and returns the number; 0 at the
 * end. Start with a zeroed cursor. Cursors are independent, even on the same profile and in several
 * threads.
 */
struct model_trace_cursor {
	uint64_t extent, offset, time_ns, n_unreleased; /* private */
};
size_t model_trace_read(const struct model *m, uint32_t profile, struct model_trace_cursor *c,
	struct model_sample *out, size_t n);

/* ---- GPU operations ---- */

struct model_gpu_op {
	/* CLOCK_REALTIME since the epoch; increases within a profile (lane) without overlap */
	uint64_t start_ns, end_ns;
	/* CLOCK_REALTIME of the entry into the call that asked for it; 0: unknown */
	uint64_t enter_ns;
	uint64_t queued_ns, submitted_ns; /* 0: unknown */
	uint64_t id;                   /* id of the launch, unique in its process */
	uint64_t amount;               /* bytes; kernels: node of the graph, or 0 */
	uint32_t context;              /* the kernel function, or the placeholder of its kind */
	uint32_t shape;                /* index into gpu_shapes, or MODEL_NONE */
	uint32_t launcher;             /* profile of the thread that asked for it, or MODEL_NONE */
	uint8_t kind, detail; /* enum msr_gpu_kind, and the enum of the details of this kind */
};

/*
 * Reads the operations of one QUEUE profile in order of time. The contract is that of
 * model_trace_read(). QUEUE profiles have no samples.
 */
struct model_gpu_cursor {
	uint64_t next, n_unreleased;   /* private */
};
size_t model_gpu_read(const struct model *m, uint32_t profile, struct model_gpu_cursor *c,
	struct model_gpu_op *out, size_t n);

#endif
