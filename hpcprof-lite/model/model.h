/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile: modules, scopes, contexts, metrics, values and time lines of all processes and threads that were merged.
 * load and attribute build it; attribute_run() returns it constant. Every sink is a function over a
 * `const struct model *` and may run beside other sinks in other threads. Owned by one struct model; all pointers
 * returned are borrowed and live as long as it. Tests: tests/unit/test_model.c.
 *
 * Ids are dense indices into the arrays of this struct. Contexts are in depth-first preorder with
 * siblings in a fixed order (by kind, then name, file, line, address), so that equal inputs in any order give equal
 * output; a parent's id is smaller than its children's and a context's descendants are the ids [id + 1, id + subtree_n).
 */
#ifndef HPCPROF_MODEL_MODEL_H
#define HPCPROF_MODEL_MODEL_H

#include "common/format/ends.h"
#include "common/format/measurement_gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_NONE UINT32_MAX

/* ---- things that contexts name --------------------------------------------------------------------------- */

enum model_structure { /* what is known of a module's inside */
	MODEL_STRUCTURE_NONE,    /* nothing: binary missing or unreadable */
	MODEL_STRUCTURE_CHANGED, /* the binary on disk is not the one that ran (build id); not used */
	MODEL_STRUCTURE_SYMBOLS, /* functions, no lines */
	MODEL_STRUCTURE_LINES    /* functions, inlined calls, lines */
};

/* What a module is for the paths that lead through it. */
enum model_module_role {
	MODEL_MODULE_PROGRAM,     /* none of those below */
	MODEL_MODULE_INTERPRETER, /* Python's: it runs lines of Python source */
	MODEL_MODULE_LAUNCH,      /* between the program and a GPU: run times and libraries of GPU vendors, libffi */
	MODEL_MODULE_START        /* libc: programs and threads start there */
};

struct model_module {
	const char *path;              /* as the loader named it */
	const uint8_t *build_id;
	uint32_t build_id_bytes;
	enum model_structure structure;
	bool is_gpu;                   /* a code object that ran on a GPU; path is where it is kept (or "" then named by its hash), build_id the hash of its content */
	uint8_t role;                  /* enum model_module_role */
	bool is_python;                /* a file of Python source, or "<string>" and the like; no build id */
};

struct model_file {
	const char *path;              /* as the debug information names it, made absolute where it says how */
};

struct model_function {
	const char *name;              /* demangled; "<unknown function> [libx.so]" and the like where there is none */
	uint32_t module;
	uint32_t file, line;           /* definition; file MODEL_NONE and line 0 when unknown */
	uint64_t link_addr;            /* entry, 0 when unknown */
	bool is_launch;                /* it launches work of GPUs: part of an API, or made by a compiler for a launch */
	/*
	 * Not MSR_GPU_NO_KIND: a placeholder, "<gpu kernel>", "<gpu copy>" ..., which stands between the CPU context that asked for operations of this kind and what the GPU did; module is
	 * MODEL_NONE. Kernels are ordinary functions of modules with is_gpu, called by the placeholder itself (no line between; a kernel of a
	 * graph whose node was seen being made has a further placeholder of kind KERNEL between, "<graph node of FILE:LINE, FUNCTION>"); what a kernel did as a whole counts at its
	 * FUNCTION context, PC samples at the lines, instructions and inlined calls below. Other operations count at the placeholder. A kernel whose code object is not known
	 * has module MODEL_NONE too, and gpu_kind MSR_GPU_NO_KIND.
	 */
	uint8_t gpu_kind;
	/* The placeholder of a graph's node. The call that made the node stands at this line of this function. */
	bool is_node;
	uint32_t node_function, node_file, node_line;
};

/* ---- contexts -------------------------------------------------------------------------------------------- */

enum model_context_kind {
	MODEL_CONTEXT_ROOT,        /* id 0 alone */
	MODEL_CONTEXT_ENTRY,       /* child of the root: where paths start, see enum model_entry */
	MODEL_CONTEXT_FUNCTION,    /* a function, called or inlined (see relation) */
	MODEL_CONTEXT_LOOP,
	MODEL_CONTEXT_LINE,        /* a source line; the parent of the calls made there */
	MODEL_CONTEXT_INSTRUCTION  /* stands for the line where no line is known */
};

enum model_relation { /* to the parent */
	MODEL_LEXICAL,             /* inside it in the source: loop or line in a function */
	MODEL_CALL,                /* called by it */
	MODEL_INLINED              /* called by it, and inlined by the compiler */
};

enum model_entry {
	MODEL_ENTRY_MAIN,          /* main thread, complete paths */
	MODEL_ENTRY_THREAD,        /* other threads, complete paths */
	MODEL_ENTRY_PARTIAL,       /* paths that could not be followed to their root; `end` says why */
	MODEL_ENTRY_GPU_NO_PATH,   /* GPU operations launched by threads that are not measured, or without a call path */
	MODEL_ENTRY_GPU_NO_LAUNCH  /* GPU operations and samples whose launch is not known: its record was lost, or there is none */
};

struct model_context {
	uint32_t parent;           /* MODEL_NONE for the root */
	uint32_t subtree_n;        /* contexts in the subtree, itself included */
	uint8_t kind;              /* enum model_context_kind */
	uint8_t relation;          /* enum model_relation */
	uint8_t entry;             /* ENTRY: enum model_entry */
	uint8_t end;               /* ENTRY partial: enum msr_path_end */
	/*
	 * A heuristic found this frame. Holds for all contexts of the frame: its FUNCTION, inlined
	 * calls, LOOPs and its LINE or INSTRUCTION. They are apart from those of the same function
	 * found by the rules. Frames further out (parents) rest on the guess as far as values came
	 * by it; frames further in (children) are certain, their place below it is not.
	 */
	bool marked;
	uint32_t function;         /* FUNCTION: the function. LINE, LOOP, INSTRUCTION: the enclosing one */
	uint32_t module;           /* MODEL_NONE for root and entries */
	uint32_t file, line;       /* LINE, LOOP: the source line; FUNCTION: of its definition; else MODEL_NONE, 0 */
	uint64_t link_addr;        /* INSTRUCTION: its address; FUNCTION: entry; LOOP without a line: its first instruction; else 0 */
};

/* Ends the name of a function that stands for guessed frames: such a function is apart from the one
 * that was found by the rules. */
#define MODEL_GUESSED_SUFFIX " [guessed]"

/* ---- metrics --------------------------------------------------------------------------------------------- */

enum model_metric_kind {
	MODEL_METRIC_SAMPLED,   /* events sampled on CPUs: has samples and time lines */
	MODEL_METRIC_GPU_TIME,  /* "GPUOP (sec)", "GKER (sec)" ...: sums of durations of operations
				 */
	MODEL_METRIC_GPU_COUNT, /* "GKER:COUNT", "GXCOPY:H2D (B)" ...: sums */
	MODEL_METRIC_GPU_MEAN, /* launch characteristics: the values are sums over launches (readers
				  add); what people read is value / value of `divisor` */
	MODEL_METRIC_GPU_SAMPLES, /* PC samples and stall reasons: "GINS", "GINS:STL_*", "GSAMP:*"
				   */
	MODEL_METRIC_GUESSED /* "CPUTIME:GUESSED (sec)": what of its parent is on call paths with a
				guessed frame; only where there are any */
};

/* What a metric of GPUs counts, so that a report finds it without its name. */
enum model_metric_role {
	MODEL_ROLE_NONE,        /* of CPUs, and all that no report asks for */
	MODEL_ROLE_GPU_TIME,    /* kernels, copies and sets */
	MODEL_ROLE_KERNEL_TIME,
	MODEL_ROLE_COPY_TIME,
	MODEL_ROLE_SET_TIME,
	MODEL_ROLE_SYNC_TIME,   /* of the CPU, while it waited for GPUs */
	MODEL_ROLE_KERNELS,     /* launches */
	MODEL_ROLE_COPIES,
	MODEL_ROLE_COPY_BYTES,  /* one metric for each direction */
	MODEL_ROLE_SETS,
	MODEL_ROLE_SET_BYTES,   /* one metric for each kind of memory */
	MODEL_ROLE_SYNCS,
	MODEL_ROLE_SAMPLES,     /* PC samples */
	MODEL_ROLE_APPORTIONED, /* PC samples that were shared out */
	MODEL_ROLE_MEASURED,    /* PC samples of whole kernels */
	MODEL_ROLE_EXPECTED,    /* the same, had all SMs been busy */
	MODEL_ROLE_ISSUED,      /* PC samples of warps that issued an instruction */
	MODEL_ROLE_STALL,       /* PC samples of warps that waited: one metric for each reason */
	MODEL_ROLE_STALL_IDLE   /* the part of a STALL while the scheduler issued nothing; in no sum */
};

struct model_metric {
	uint8_t kind;              /* enum model_metric_kind */
	uint8_t role;              /* enum model_metric_role */
	uint32_t idle;             /* STALL: its STALL_IDLE metric, MODEL_NONE; else undefined */
	const char *reason;        /* ISSUED, STALL, STALL_IDLE: the short name, "GMEM"; else NULL */
	uint32_t parent;           /* metric of which this is a part ("GKER (sec)" of "GPUOP (sec)"), MODEL_NONE */
	uint32_t divisor;          /* GPU_MEAN: the metric that counts launches; else MODEL_NONE */
	const char *name;          /* as readers of HPCToolkit know it: "CPUTIME (sec)", "PAPI_TOT_CYC" */
	const char *event;         /* as it was asked for: "CPUTIME" */
	const char *unit;          /* "sec", "count", "B" */
	const char *description;
	uint64_t period;           /* in the unit of the measurement (ns, count); where processes were asked for several the least */
	uint64_t period_most;      /* ... and the most */
	enum msr_source source;    /* of the first process that has it */
	bool sources_differ;       /* others had another: a timer where there are no perf events */
	const char *meaning, *hint; /* of stall reasons that are known: what it is, and what to look at, one line for people each; else NULL */
	bool apportioned;          /* GPU_SAMPLES: some of it was shared out over the contexts that launched the kernel, in proportion to its time there; the description says so too */
};

/* Over which part of the tree a value is summed. The names are HPCToolkit's. */
enum model_scope {
	MODEL_POINT,               /* the context itself */
	MODEL_FUNCTION,            /* itself and what is lexically inside: all descendants reached through MODEL_LEXICAL alone (an inlined call is a call: readers sum this over functions) */
	MODEL_LEX_AWARE,           /* LOOP contexts: as MODEL_FUNCTION without what is in loops nested in it; others: as MODEL_FUNCTION */
	MODEL_EXECUTION,           /* inclusive: all descendants */
	MODEL_N_SCOPES
};

/* Value of one (profile, context, metric), in the metric's unit; only such where MODEL_EXECUTION is not 0. */
struct model_value {
	uint32_t context;
	uint32_t metric;
	double at[MODEL_N_SCOPES];
};

/* The same over all profiles: those without the context count as 0 in mean and deviation, and are not in min. */
struct model_total {
	uint32_t context;
	uint32_t metric;
	uint32_t n_profiles;       /* profiles with a value */
	uint64_t n_samples;        /* at this very context (MODEL_POINT) */
	double sum[MODEL_N_SCOPES], sum_of_squares[MODEL_N_SCOPES], min[MODEL_N_SCOPES], max[MODEL_N_SCOPES];
};

/* ---- profiles (threads) and the ledger ------------------------------------------------------------------- */

struct model_ledger {
	bool is_live;              /* still written: of the moment when it was read */
	uint64_t delivered;        /* samples delivered to the run time */
	uint64_t recorded;         /* samples it says it put in its tree */
	uint64_t in_tree;          /* samples found in the tree by counting */
	uint64_t losses[MSR_LOSS_ROOM];
	uint64_t path_ends[MSR_N_PATH_ENDS];
	uint64_t n_marked; /* walks with a guessed frame, as the run time counted */
	/* The samples in the tree by their call path, as the reader counts them; together they are
	 * in_tree. */
	uint64_t n_complete;             /* reached the root of the thread, no frame was guessed */
	uint64_t n_guessed;              /* reached the root, with a guessed frame */
	uint64_t n_cut[MSR_N_PATH_ENDS]; /* did not, by cause; [MSR_END_ROOT]: of unknown cause */
	uint64_t n_trace_records;
	uint64_t bytes_damaged;    /* of the file, skipped */
	uint64_t bytes_file;
	uint64_t handler_ns;
	uint64_t n_frames;
};

/*
 * What became of the GPU operations of one back end, counted by the reader. Closes when for each kind launched == joined + aggregated + lost, where lost is by cause and
 * unexplained is 0.
 */
struct model_gpu_ledger {
	const char *backend;       /* "opencl"; "" in sums over back ends */
	const char *entrance;      /* how it came in */
	uint64_t launched[16];     /* by enum msr_gpu_kind, as the run time counted: calls that asked for operations; [0]: a kill came before their count */
	uint64_t joined[16];       /* ... that have at least one operation, found under a CPU path (NO_PATH: under an entry of its own) */
	uint64_t aggregated[16];   /* ... that were summed up in the run and are done */
	uint64_t losses[MSR_GPU_LOSS_ROOM]; /* ... that were lost, by cause: each launch once */
	uint64_t graph_losses[MSR_GPU_LOSS_ROOM]; /* operations of graphs that were lost, by cause, at least: a graph's launch has several, and is joined when one is there; in none of the sums above */
	uint64_t unexplained;      /* launches that are none of these, and operations beyond what was launched */
	uint64_t n_ops;            /* operations in the tree, aggregated ones included; a graph has several for a launch */
	uint64_t n_orphans;        /* operation records without a launch (its record was lost): in the tree under an entry of their own */
	uint64_t n_no_path;        /* launched by threads that are not measured */
	uint64_t n_bad_order;      /* operations whose times are not enqueue <= start <= end within the clocks' error: in the tree, marked here */
	uint64_t n_unknown_calls;
	uint64_t n_lost_definitions; /* names, queues, shapes that could not be written: what refers to them is there without */
	uint64_t n_lost_contents;  /* code objects whose content could not be kept */
	uint64_t n_lost_values;    /* values of counters, ranges of PC sampling and clock pairs that could not be written */
	uint64_t n_clipped;        /* operations that overlap more others of their queue than there are lanes: shortened on the time line alone */
	uint64_t handler_ns;
	bool closes;
};

/*
 * What apportioning is worth, for one kernel that several contexts launched, in serialized windows, whose samples know their launch: the share of them that would stand in a wrong place if they had
 * been apportioned by GPU time (total variation distance), and what of it chance makes at this number of samples. Negative: not measured. doc/outputs.md has the definition.
 */
struct model_gpu_yardstick {
	uint32_t context;          /* one of the kernel's */
	uint32_t n_contexts;       /* that launched it in the windows; of one, wrong_context compares its samples for its time with those of all */
	uint64_t n_samples;        /* with a known launch */
	uint64_t n_apportioned;    /* of the kernel, outside the windows */
	double wrong_context, chance_context; /* 0 .. 1 */
	double wrong_place, chance_place; /* by (context, instruction) */
};

/*
 * What PC sampling of GPUs delivered. Closes when total == recorded + dropped + outside for each range, and recorded == in_tree_exact + in_tree_apportioned + in_tree_unattributed + not_written +
 * cut_off.
 */
struct model_gpu_sampling {
	uint64_t n_ranges;         /* with samples; 0: there was none */
	uint64_t n_open_ranges;    /* whose own identity does not hold */
	uint64_t total, recorded, dropped, outside; /* as the vendor says: samples; outside: not attributed to any code, such as the vendor's own work */
	uint64_t in_tree_exact;    /* ... found in the records, under the launch that they belong to */
	uint64_t in_tree_apportioned; /* ... shared out over the contexts that launched the kernel, or over the calls that lead to a device function */
	uint64_t apportioned_by_calls; /* part of that: only the way inside the kernel to a device function is not certain, its launch is */
	uint64_t apportioned_by_launches; /* part of that: by the number of launches, as the times of these kernels are not known */
	uint64_t in_tree_unattributed; /* ... of functions that nothing launched: under MODEL_ENTRY_GPU_NO_LAUNCH */
	uint64_t not_written;      /* the run time could not write them */
	uint64_t cut_off;          /* of a process that was killed, or could not write: what is missing in its last range, or beyond it */
	uint64_t in_tree_not_issued; /* samples counted a second time by reasons that only count where nothing was issued: in no sum */
	uint64_t sampled_ns, serialized_ns; /* ranges with sampling; serialized_ns is part of sampled_ns */
	uint64_t gap_ns, longest_gap_ns, n_gaps; /* between: nothing was sampled */
	uint64_t n_cut;            /* ... at the end of a context, of which the vendor kept samples: how many is in no count */
	uint64_t n_buffer_full, n_serialized;
	uint64_t period_least, period_most; /* cycles */
	uint32_t samplers, clock_mhz; /* of the first range that says so; 0: not known */
	double expected;           /* samples, had all samplers been busy whenever a kernel ran */
	double promised;           /* ... had as many as the kernels have blocks; 0: not known */
	const struct model_gpu_yardstick *yardsticks; /* n_yardsticks, by falling n_apportioned, then n_samples; of a process, none in sums over processes */
	uint32_t n_yardsticks;
	struct {
		uint64_t n_kernels, n_samples;
		double weight;         /* samples that were apportioned of these kernels (where there are none: n_samples) ... */
		double wrong_context, chance_context; /* ... and how many of them stand in a wrong place; to be divided by `weight` */
		double place_weight, wrong_place, chance_place;
	} yardstick;
	bool closes;
};

struct model_process {
	const struct model_gpu_ledger *gpu; /* n_gpu, by back end */
	uint32_t n_gpu;
	struct model_gpu_sampling gpu_sampling;
	const char *path;          /* the measurement file */
	uint32_t owner;            /* ... and the user id of its owner */
	const char *host;
	uint64_t host_id;
	uint32_t pid;
	int32_t rank;              /* -1: none */
	uint32_t exec_seq;
	const char *executable;
	const char *command;       /* arguments joined by blanks */
	bool is_live;              /* it was still running when its file was read */
	bool is_blank;             /* it ended before it wrote what it measures */
	uint32_t exit_kind;        /* enum msr_exit_kind */
	int32_t exit_code;
	uint64_t start_ns, end_ns; /* CLOCK_REALTIME since the epoch; end is that of the last record when killed */
	uint64_t off_ns;           /* of the time between, while measurement was off */
	uint64_t n_starts, n_stops;/* how often the program started and stopped it */
	struct model_ledger ledger;/* of the process: losses outside threads, damage */
	const char *const *notes;  /* what the run time had to say to the user */
	uint32_t n_notes;
	const char *const *events; /* what the user asked for: "CPUTIME@f1000", "gpu=opencl" */
	uint32_t n_events;
};

/* Processes that ran one program which could not be measured. */
struct model_unmeasured {
	const char *path;          /* of the program */
	const char *why;           /* "static executable" */
	bool is_starter;           /* `path` is not the program but the one that started it */
	uint64_t n;                /* processes; is_starter: 0, not known */
	uint64_t n_unknown;        /* ... whose CPU time is in no sum */
	uint64_t cpu_ns;           /* of the others, with the children that they waited for */
};

enum model_profile_kind {
	MODEL_PROFILE_THREAD,      /* a thread of a CPU */
	MODEL_PROFILE_QUEUE        /* a queue (stream) of a GPU: a time line without values; what it did counts in the threads that asked for it (in the process's first thread where none is known) */
};

struct model_gpu_device {
	const char *name, *driver;
	const struct msr_gpu_def_device *definition; /* of the first process that has it */
	const struct msr_gpu_def_device_limits *limits; /* likewise; NULL: not known */
	uint32_t process;          /* MODEL_NONE when several have it (equal uuid on one host) */
	uint32_t first_process;    /* the first that has it */
	uint32_t ordinal;
};
struct model_gpu_context {
	uint32_t process, device, ordinal;
};
/* How many warps of a launch fit on an SM at once. */
struct model_gpu_occupancy {
	uint32_t warps, warps_most; /* 0: not known */
	const char *limit;         /* what allows no more: "registers", "shared memory", "blocks", "threads" */
};
struct model_gpu_queue {
	const char *name;          /* for people: "GPU 0 context 0 queue 1", as short as is unique in the process */
	uint32_t context, device, ordinal;
	uint32_t flags;            /* MSR_GPU_QUEUE_* */
	uint32_t n_lanes;          /* profiles it has; 0: nothing with times ran on it */
	uint64_t busy_ns;          /* time with at least one operation; markers do not count and are on no time line */
};

/* What sampled the CPU time of a thread; struct msr_source_use says what the numbers are. All 0 where it is not known. */
struct model_source_use {
	uint64_t event_ns, event_samples, event_switches, timer_ns, timer_samples, n_changes;
};

struct model_profile {
	uint8_t kind;              /* enum model_profile_kind */
	uint32_t queue;            /* QUEUE: into queues; else MODEL_NONE */
	uint32_t lane;             /* QUEUE: operations that overlap (out-of-order queues) lie in further lanes, each a profile of its own */
	uint32_t process;
	uint32_t thread;           /* number in its process, 0 ran main; QUEUE: MODEL_NONE */
	uint32_t tid;
	const char *name;          /* may be "" */
	uint64_t start_ns, end_ns; /* CLOCK_REALTIME */
	uint64_t cpu_ns;           /* by the thread's own CPU clock, while measurement was on; 0 when unknown */
	struct model_source_use source_use;
	struct model_ledger ledger;
	const struct model_value *values; /* sorted by context, then metric */
	size_t n_values;
	uint64_t n_trace_records;  /* QUEUE: operations of the lane */
};

/* ---- the whole ------------------------------------------------------------------------------------------- */

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
	const struct msr_gpu_shape *gpu_shapes; /* launch characteristics; ids in them are not used */
	uint32_t n_gpu_shapes;
	const struct model_gpu_occupancy *gpu_occupancies; /* by shape; NULL: none is known */
	struct model_gpu_ledger gpu_ledger;   /* summed over all */
	struct model_gpu_sampling gpu_sampling;
	bool has_gpu;                         /* there was a back end, whatever it saw */
	const struct model_profile *profiles; /* sorted by rank, host, pid, exec_seq, then threads by number, then queues by device, context, ordinal, lane */
	uint32_t n_profiles;
	const struct model_total *totals;     /* sorted by context, then metric */
	size_t n_totals;
	struct model_ledger ledger;           /* summed over all */
	bool sums_overflow;                   /* a sum of values passed 64 bits and stays at the bound: damage */
	bool ledger_closes;                   /* delivered == in_tree + losses that take a sample, for every thread */
	bool has_traces;
	uint64_t start_ns, end_ns;            /* over all processes, CLOCK_REALTIME */
	uint64_t elapsed_ns;                  /* ... without the time between runs */
	uint32_t n_runs; /* stretches in which a process was measured, a second or more apart */
	const char *title;                    /* for people: name of the first program */
	struct model_private *private_;       /* what load and attribute keep */
};

/* Frees everything, the mapped measurement files included. NULL is allowed. */
void model_free(struct model *m);

/* Python source of the installation and not of the user: below lib/python3.12, site-packages or dist-packages, or no file at all ("<frozen runpy>"). */
bool model_is_python_library(const char *path);
/*
 * The Python line from which a place was reached: the innermost LINE context at or above `context` in a file of the user's own; where there is none, the innermost of any Python file;
 * MODEL_NONE: the path has no Python line.
 */
uint32_t model_find_python_line(const struct model *m, uint32_t context);

/* Profiles of threads. */
static inline uint32_t model_count_threads(const struct model *m)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->n_profiles; i++)
		n += m->profiles[i].kind == MODEL_PROFILE_THREAD;
	return n;
}

/* The total of (context, metric), or NULL when it has none. O(log n). */
const struct model_total *model_find_total(const struct model *m, uint32_t context, uint32_t metric);
/* Value of (profile, context, metric), or NULL. O(log n). */
const struct model_value *model_find_value(const struct model *m, uint32_t profile, uint32_t context, uint32_t metric);

/* ---- time lines ------------------------------------------------------------------------------------------ */

struct model_sample {
	uint64_t time_ns;          /* CLOCK_REALTIME since the epoch; never decreases within a profile */
	uint32_t context;
	uint32_t metric;
};

/*
 * Reads the time line of one profile straight from the measurement file, so that memory does not grow with samples. Fills up to `n` samples
 * into `out` and returns how many; 0 at the end. Start with a zeroed cursor. Several cursors, also on one profile and in several threads, are independent.
 */
struct model_trace_cursor {
	uint64_t extent, offset, time_ns, n_unreleased; /* private */
};
size_t model_trace_read(const struct model *m, uint32_t profile, struct model_trace_cursor *c, struct model_sample *out, size_t n);

/* ---- operations of GPUs ---------------------------------------------------------------------------------- */

struct model_gpu_op {
	uint64_t start_ns, end_ns;     /* CLOCK_REALTIME since the epoch; within a profile (lane) rising and without overlap */
	uint64_t enter_ns;             /* CLOCK_REALTIME: the call that asked for it was entered; 0: unknown */
	uint64_t queued_ns, submitted_ns; /* 0: unknown */
	uint64_t id;                   /* unique in its process: that of the launch */
	uint64_t amount;               /* bytes; kernels: node of the graph or 0 */
	uint32_t context;              /* kernel function, or the placeholder of its kind */
	uint32_t shape;                /* into gpu_shapes; MODEL_NONE */
	uint32_t launcher;             /* profile of the thread that asked for it; MODEL_NONE */
	uint8_t kind, detail;          /* enum msr_gpu_kind, and the enum of its details */
};

/* Operations of one profile of kind QUEUE in order of time: as model_trace_read(). Such a profile has no samples. */
struct model_gpu_cursor {
	uint64_t next, n_unreleased;   /* private */
};
size_t model_gpu_read(const struct model *m, uint32_t profile, struct model_gpu_cursor *c, struct model_gpu_op *out, size_t n);

#endif
