/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement file (<run>/<rank>-<host>-<pid>[.n].hpcrun): layout of what the run time writes and the
 * analysis reads. doc/formats/measurement.md is the specification; this header must say the same. Pure
 * layout and pure functions on bytes: no I/O, no allocation; everything here is async-signal-safe.
 * Tests: tests/unit/test_measurement.c.
 *
 * The file is a header page followed by extents. It is the memory of the measured process (mapped shared), so
 * every prefix and every moment of it is readable: a writer stores the content first and then publishes it
 * by a release store of `used`. All integers are little-endian and naturally aligned.
 */
#ifndef COMMON_FORMAT_MEASUREMENT_H
#define COMMON_FORMAT_MEASUREMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MSR_MAGIC "HPCRUNL"           /* 8 bytes with the terminating NUL */
#define MSR_VERSION_MAJOR 1           /* a reader refuses another major version by name and number */
#define MSR_VERSION_MINOR 4           /* additions a reader may ignore */
#define MSR_HEADER_BYTES 4096u        /* the header page; extents start here */
#define MSR_EXTENT_MAGIC 0x54584548u  /* "HEXT" */
#define MSR_EXTENT_ALIGN 64u          /* extents start and end at multiples of this */
#define MSR_PROCESS_BYTES 16320u      /* content of an extent of the kind MSR_PROCESS */
#define MSR_SUFFIX ".hpcrun"
/* Beside a measurement file, in place of its suffix: what the process wrote of the code that it made (JIT). */
#define MSR_JIT_MAP_SUFFIX ".perfmap"
#define MSR_JIT_DUMP_SUFFIX ".jitdump"

/* ---- packed address ---------------------------------------------------------------------------------- */

/*
 * module id (16 bits) | mark (1 bit) | link address (47 bits). The link address is the run-time address less
 * the module's load bias, that is the virtual address the ELF file itself uses. A frame other than the
 * innermost carries its return address less one, so that every address may be looked up as it is.
 */
typedef uint64_t msr_addr;

#define MSR_MODULE_NONE 0u         /* synthetic frame: the low bits are an enum msr_synthetic */
#define MSR_MODULE_UNKNOWN 0xFFFFu /* module table full, or code in no module (JIT): low bits are the run-time pc */
#define MSR_ADDR_MARK (UINT64_C(1) << 47) /* a heuristic found this frame */
#define MSR_ADDR_MASK (MSR_ADDR_MARK - 1)

static inline msr_addr msr_addr_make(uint16_t module, uint64_t link_addr, bool marked)
{
	return (uint64_t)module << 48 | (marked ? MSR_ADDR_MARK : 0) | (link_addr & MSR_ADDR_MASK);
}
static inline uint16_t msr_addr_module(msr_addr a)
{
	return (uint16_t)(a >> 48);
}
static inline uint64_t msr_addr_link(msr_addr a)
{
	return a & MSR_ADDR_MASK;
}
static inline bool msr_addr_marked(msr_addr a)
{
	return (a & MSR_ADDR_MARK) != 0;
}

/* Link address part of a frame whose module is MSR_MODULE_NONE: where a path starts. */
enum msr_synthetic {
	MSR_ENTRY_MAIN = 1,    /* complete path of the thread that ran main */
	MSR_ENTRY_THREAD = 2,  /* complete path of another thread */
	MSR_ENTRY_PARTIAL = 16 /* + enum msr_path_end: the path could not be followed to its root */
};

/* How the walk of a stack ended. Order is part of the format. */
enum msr_path_end {
	MSR_END_ROOT,         /* complete */
	MSR_END_NO_CFI,       /* no unwind information and no plausible frame */
	MSR_END_NO_MODULE,    /* pc outside every module (JIT code, or a wild jump) */
	MSR_END_UNREADABLE,   /* stack memory could not be read */
	MSR_END_BAD_CFI,      /* unwind information is damaged or uses what we do not support */
	MSR_END_NO_PROGRESS,  /* the next frame is not outside the last */
	MSR_END_TOO_DEEP,     /* more frames than the bound */
	MSR_END_THROWING,     /* the C++ run time is just rewriting the stack that it is about to return to */
	/* The root was reached, but by way of a guessed frame: in path_ends alone, not in the tree. */
	MSR_END_GUESSED,
	MSR_N_PATH_ENDS
};

/* ---- header page --------------------------------------------------------------------------------------- */

/* How the process ended, as far as it could be written down. */
enum msr_exit_kind {
	MSR_EXIT_NONE = 0,  /* still running, or killed: nothing could be written */
	MSR_EXIT_RETURN,    /* exit(), return from main; exit_code is the status */
	MSR_EXIT_QUICK,     /* _exit(), _Exit(), quick_exit(); exit_code is the status */
	MSR_EXIT_EXEC,      /* replaced by another program */
	MSR_EXIT_SIGNAL,    /* a fatal signal was seen coming; exit_code is its number */
	MSR_EXIT_WITHDRAWN, /* measurement ended before the process did: a seccomp filter */
	MSR_EXIT_GO         /* in no file: what readers make of NONE with MSR_FLAG_GO */
};

struct msr_header {
	char magic[8];              /*   0 MSR_MAGIC */
	uint16_t version_major;     /*   8 */
	uint16_t version_minor;     /*  10 */
	uint32_t header_bytes;      /*  12 MSR_HEADER_BYTES */
	uint32_t pid;               /*  16 */
	uint32_t parent_pid;        /*  20 */
	int32_t rank;               /*  24 rank in the MPI job; -1 when there is none */
	int32_t n_ranks;            /*  28 -1 when unknown */
	uint64_t host_id;           /*  32 hash of the host name, for node identity */
	uint64_t start_mono_ns;     /*  40 CLOCK_MONOTONIC at start; all times in the file are of this clock */
	uint64_t start_real_ns;     /*  48 CLOCK_REALTIME at the same moment */
	uint64_t end_mono_ns;       /*  56 at the end; 0 when the process was killed */
	uint64_t end_real_ns;       /*  64 */
	uint32_t exit_kind;         /*  72 enum msr_exit_kind */
	int32_t exit_code;          /*  76 */
	_Atomic uint64_t allocated; /*  80 bytes of the file that are allocated, extents lie below */
	uint64_t process_start_ns;  /*  88 reserved for ordering execs of one pid: CLOCK_MONOTONIC of the first image */
	uint32_t exec_seq;          /*  96 0 for the first image of this pid, then 1, 2, ... */
	uint32_t flags;             /* 100 MSR_FLAG_* */
	_Atomic uint64_t losses[32];/* 104 process-wide losses that belong to no thread, by enum msr_loss */
	char host[256];             /* 360 NUL-terminated */
	_Atomic uint64_t off_ns;    /* 616 time in which measurement was off (stopped by the program, or not started yet), up to when it was last started */
	_Atomic uint64_t off_since_ns; /* 624 ... and since when it is off; 0: it is on */
	_Atomic uint64_t n_starts;  /* 632 how often the program started and stopped it */
	_Atomic uint64_t n_stops;   /* 640 */
};

#define MSR_FLAG_TRACE 1u    /* time lines were asked for */
#define MSR_FLAG_ROOT 2u     /* this process was started by the launcher itself */
#define MSR_FLAG_GO 4u       /* a Go program: it ends past exit(), and cannot write its status */

/* ---- extents ------------------------------------------------------------------------------------------- */

enum msr_kind {
	MSR_END_OF_EXTENTS = 0, /* zeros: reserved space that is not in use yet */
	MSR_FREE = 1,           /* to be skipped */
	MSR_INFO = 2,           /* struct msr_info records: command line, options, environment */
	MSR_METRIC = 3,         /* struct msr_metric records */
	MSR_MODULE = 4,         /* struct msr_module records */
	MSR_THREAD = 5,         /* one struct msr_thread */
	MSR_NODE = 6,           /* struct msr_node: context nodes of one thread */
	MSR_CELL = 7,           /* struct msr_cell: metric cells of one thread */
	MSR_TRACE = 8,          /* uint64_t trace records of one thread */
	MSR_CLOCK = 9,          /* struct msr_clock */
	MSR_PYTHON_CODE = 10,   /* struct msr_python_code and what follows it: functions of Python programs */
	MSR_PROCESS = 11,       /* a child of fork that needed no file: header page and extents, as in a file */
	/* 12 and 13 are free; what GPUs do is laid out in measurement_gpu.h */
	MSR_CHILD = 14,         /* struct msr_child: children that the process waited for */
	MSR_UNMEASURED = 15,    /* struct msr_unmeasured and a path: programs not measured */
	MSR_GPU_DEFINITION = 16, /* struct msr_gpu_definition and what follows it: devices, contexts, queues, code objects, functions, names */
	MSR_GPU_SHAPE = 17,      /* struct msr_gpu_shape: launch characteristics */
	MSR_GPU_CLOCK = 18,      /* struct msr_gpu_clock: pairs of a device's clock and ours */
	MSR_GPU_LAUNCH = 19,     /* struct msr_gpu_launch of one thread (~0: of threads that are not measured) */
	MSR_GPU_OP = 20,         /* struct msr_gpu_op */
	MSR_GPU_AGGREGATE = 21,  /* struct msr_gpu_aggregate */
	MSR_GPU_PC = 22,         /* struct msr_gpu_pc: PC samples */
	MSR_GPU_PC_RANGE = 23,   /* struct msr_gpu_pc_range: what PC sampling delivered and lost */
	MSR_GPU_VALUE = 24,      /* struct msr_gpu_value: counters of operations */
	MSR_GPU_TALLY = 25,      /* struct msr_gpu_tally: the ledger of a back end */
	MSR_GPU_GRAPH_NODE = 26  /* struct msr_gpu_graph_node: where nodes of graphs were made */
};

struct msr_extent {
	uint32_t magic;         /*  0 MSR_EXTENT_MAGIC */
	uint16_t kind;          /*  4 enum msr_kind */
	uint16_t record_bytes;  /*  6 size of a record; 0: records carry their own length */
	uint32_t thread;        /*  8 thread number within the process, from 0; ~0 when none */
	uint32_t sequence;      /* 12 n-th extent of this kind and thread, from 0 */
	uint64_t first;         /* 16 index of the first record (NODE, CELL); ns of the first record (TRACE); high part of ids (GPU_LAUNCH) */
	_Atomic uint64_t length;/* 24 bytes of the extent, this header included; may shrink, see the specification */
	_Atomic uint64_t used;  /* 32 bytes of content behind the header; published last */
	uint64_t reserved;      /* 40 0 */
	uint64_t reserved2;     /* 48 0 */
	uint32_t reserved3;     /* 56 0 */
	uint32_t check;         /* 60 msr_extent_check() of the fields that never change */
};

/* Check value over magic, kind, record_bytes, thread, sequence and first (FNV-1a, 32 bit). */
uint32_t msr_extent_check(const struct msr_extent *e);

/* ---- records ------------------------------------------------------------------------------------------- */

/* Variable-length records: `bytes` is the whole record, a multiple of 8; strings follow the fixed part. */
struct msr_info {
	uint32_t bytes;
	uint32_t key_bytes;   /* key with NUL, then the value with NUL, then padding */
	uint32_t value_bytes;
	uint32_t reserved;
	/* char key[key_bytes], value[value_bytes] */
};
/* Keys in use: "command" (arguments joined by NUL), "executable", "event" (repeated, as given), "source" (what
 * was taken for each event), "job", "cwd", "version", "note" (repeated: a message for the user). */

enum msr_unit {
	MSR_UNIT_COUNT = 0,
	MSR_UNIT_NS = 1,
	MSR_UNIT_BYTES = 2
};

struct msr_metric {
	uint32_t id;          /* 0 to 14 for sampled events: fits the trace record's tag */
	uint32_t unit;        /* enum msr_unit of `sum` in the cells */
	uint64_t period;      /* asked for, in units; 0 when the event has none */
	uint32_t source;      /* enum msr_source: what delivered it */
	uint32_t flags;       /* 0 */
	char name[64];        /* "CPUTIME", "PAPI_TOT_CYC", "perf::PAGE-FAULTS"; NUL-terminated */
	char description[168];/* one line */
};

enum msr_source {
	MSR_SOURCE_PERF = 1,      /* perf_event_open */
	MSR_SOURCE_TIMER_CPU = 2, /* timer_create on the thread's CPU clock */
	MSR_SOURCE_TIMER_REAL = 3,/* timer_create on CLOCK_MONOTONIC */
	MSR_SOURCE_PAPI = 4,
	MSR_SOURCE_TEST = 5       /* synthetic */
};

#define MSR_BUILD_ID_MAX 32
struct msr_module {
	uint32_t bytes;       /* whole record, a multiple of 8 */
	uint16_t id;          /* 1 .. 0xFFFE */
	uint16_t flags;       /* MSR_MODULE_MAIN, MSR_MODULE_VDSO */
	uint64_t bias;        /* run-time address less link address, when first seen */
	uint64_t map_start;   /* run-time range when first seen */
	uint64_t map_end;
	uint32_t build_id_bytes; /* 0 .. MSR_BUILD_ID_MAX */
	uint32_t path_bytes;  /* with NUL */
	uint64_t file_bytes;  /* size and modification time of the file when it is known, else 0: tells a */
	uint64_t file_mtime_ns; /* changed binary without build id */
	uint8_t build_id[MSR_BUILD_ID_MAX];
	/* char path[path_bytes] */
};
#define MSR_MODULE_MAIN 1u
#define MSR_MODULE_VDSO 2u   /* its image is kept beside the measurement files as vdso/<build id>.so */
#define MSR_MODULE_PYTHON 4u /* no binary: its link addresses are places in Python code, below */

/*
 * A code object of CPython (a function, class body, module ...): a link address in the logical module of Python is its id and the number of a code unit (2 bytes) in its bytecode. For all
 * frames that is the unit of the instruction that runs or calls. Id 0 stands for such as could not be recorded.
 */
#define MSR_PYTHON_UNIT_BITS 20u
#define MSR_PYTHON_UNIT_NONE ((1u << MSR_PYTHON_UNIT_BITS) - 1) /* this unit and higher ones: the line is not known */
#define MSR_PYTHON_CODE_MAX ((1u << 27) - 1)
#define MSR_PYTHON_LINES_MAX 60000u

enum msr_python_lines {
	MSR_PYTHON_LINES_PAIRS = 1,    /* co_linetable of CPython 3.10: PEP 626 */
	MSR_PYTHON_LINES_LOCATIONS = 2 /* co_linetable of CPython 3.11 on: the location table of PEP 657 */
};

struct msr_python_code {
	uint32_t bytes;
	uint32_t id;            /* from 1; each once */
	uint32_t first_line;    /* co_firstlineno */
	uint16_t lines;         /* enum msr_python_lines */
	uint16_t file_bytes;    /* co_filename as UTF-8, with NUL */
	uint16_t name_bytes;    /* co_qualname, or co_name where there is none, with NUL */
	uint16_t reserved;      /* 0 */
	uint32_t line_bytes;    /* of the line table; cut at MSR_PYTHON_LINES_MAX */
	/* char file[file_bytes]; char name[name_bytes]; uint8_t lines[line_bytes] */
};

static inline uint32_t msr_python_code_of(uint64_t link_addr)
{
	return (uint32_t)(link_addr >> MSR_PYTHON_UNIT_BITS);
}

static inline uint32_t msr_python_unit_of(uint64_t link_addr)
{
	return (uint32_t)link_addr & MSR_PYTHON_UNIT_NONE;
}

/*
 * A child that ended and was waited for. Nothing is said of a child whose end the process has not
 * seen through libc.
 */
struct msr_child {
	uint32_t pid;         /* 0: CPU time of children that no other record has, at the end */
	int32_t status;       /* as wait(2) gives it */
	uint64_t end_ns;      /* CLOCK_MONOTONIC, directly after the wait */
	uint64_t cpu_ns;      /* user and system time, with the children that it waited for */
	uint64_t reserved;    /* 0 */
};

/* Why the run-time library does not get into a program. Part of the format: append only. */
enum msr_unmeasured_reason {
	MSR_UNMEASURED_VOID = 0, /* the program was not started after all */
	MSR_UNMEASURED_STATIC,
	MSR_UNMEASURED_SET_UID,
	MSR_UNMEASURED_SET_GID,
	MSR_UNMEASURED_CAPABLE,
	MSR_UNMEASURED_MACHINE,
	MSR_UNMEASURED_ABI,
	MSR_UNMEASURED_LIBC,
	MSR_UNMEASURED_SANITIZED,
	MSR_N_UNMEASURED
};
/* For people: "static executable". Any number. */
const char *msr_unmeasured_name(uint32_t reason);

/* A program was started that cannot be measured, by this process or in its place. */
struct msr_unmeasured {
	uint32_t bytes;       /* whole record, a multiple of 8 */
	uint32_t pid;         /* the process that runs it */
	_Atomic uint32_t reason; /* enum msr_unmeasured_reason */
	uint32_t path_bytes;  /* with NUL */
	uint64_t start_ns;    /* CLOCK_MONOTONIC */
	uint64_t cpu_before_ns; /* CPU time used before, by the process and children it waited for */
	/* char path[path_bytes] */
};

/* Causes of loss; a name for each is in msr_loss_name(). Order is part of the format: append only. */
enum msr_loss {
	MSR_LOSS_BUSY = 0,      /* delivered while the thread was inside the tool itself */
	MSR_LOSS_NO_SPACE,      /* the file could not grow: disk full or quota */
	MSR_LOSS_FILE_LIMIT,    /* RLIMIT_FSIZE */
	MSR_LOSS_NO_MEMORY,     /* memory for an index could not be had */
	MSR_LOSS_NODE_LIMIT,    /* bound on context nodes reached */
	MSR_LOSS_NO_THREAD,     /* delivered to a thread that is not set up (not created through pthread_create) */
	MSR_LOSS_TRACE,         /* sample counted in the tree, but its trace record could not be written */
	MSR_LOSS_COALESCED,     /* expiries the kernel merged into one signal; their weight is in the sample */
	MSR_LOSS_SOURCE_LOST,   /* a source was found dead (descriptor closed) and time passed before it was mended */
	MSR_LOSS_IN_FLIGHT,     /* computed by the reader: killed between delivery and record */
	MSR_LOSS_FORK,          /* process-wide: children that could not be measured */
	MSR_LOSS_MODULE_TABLE,  /* frames recorded without their module: table full or busy */
	MSR_LOSS_THREAD_SETUP,  /* process-wide: threads that could not be set up */
	MSR_LOSS_PYTHON,        /* paths in which native frames of the interpreter stand for Python frames that could not be read */
	MSR_N_LOSSES,
	MSR_LOSS_ROOM = 32      /* slots in the structures */
};
/* True when such a loss takes a sample out of the tree (false for TRACE, COALESCED, MODULE_TABLE ...). */
bool msr_loss_takes_sample(enum msr_loss l);
const char *msr_loss_name(enum msr_loss l);        /* stable, lower case, for ledgers: "busy", "no-space" ... */
const char *msr_loss_description(enum msr_loss l); /* one line for people */
const char *msr_path_end_name(enum msr_path_end e);

/*
 * What sampled the CPU time of a thread (CPUTIME): the kernel's event, or a timer on the thread's CPU clock. The weights
 * of all samples of CPUTIME are event_ns + timer_ns.
 */
struct msr_source_use {
	_Atomic uint64_t event_ns;       /* weights of samples of the event */
	_Atomic uint64_t event_samples;
	_Atomic uint64_t event_switches; /* context switches of the thread while it had the event */
	_Atomic uint64_t timer_ns;       /* weights of samples of the timer */
	_Atomic uint64_t timer_samples;
	_Atomic uint64_t n_changes;      /* from one to the other, after the beginning of the thread */
};

/*
 * What the kernel's task-clock event costs at one context switch, at most, by its period: the shorter the period, the
 * sooner its timer is due, and the more often the kernel programs the hardware. Measured in a virtual machine, where
 * this is dear (doc/sampling.md).
 */
static inline uint64_t msr_switch_cost_ns(uint64_t period_ns)
{
	return period_ns < 3000000 ? 12000 : period_ns < 8000000 ? 5000 : 3000;
}

/*
 * One per thread, updated in place by its thread alone. Identity to check for each thread:
 * delivered == recorded + sum of losses that take a sample + in flight (at most one a metric, in a thread that was killed or stopped by exit);
 * recorded == sum of `count` over the thread's cells.
 * Weights of CPUTIME and cpu_unsampled_ns add up to cpu_end_ns - cpu_start_ns - cpu_off_ns.
 */
struct msr_thread {
	uint32_t number;            /* from 0; 0 ran main */
	uint32_t tid;
	uint64_t start_ns;          /* CLOCK_MONOTONIC */
	uint64_t end_ns;            /* 0: still running when the file ended */
	uint64_t cpu_start_ns;      /* the thread's own CPU clock when measurement of it began */
	uint64_t cpu_end_ns;        /* ... and when it ended; 0 when not written */
	_Atomic uint64_t delivered; /* signals taken for a sample */
	_Atomic uint64_t recorded;  /* samples in the tree */
	_Atomic uint64_t handler_ns;/* CPU time of our handlers, estimated from every 16th sample */
	_Atomic uint64_t n_frames;  /* frames walked, for the mean depth */
	_Atomic uint64_t losses[MSR_LOSS_ROOM];
	_Atomic uint64_t path_ends[16]; /* by enum msr_path_end */
	_Atomic uint64_t n_marked;  /* paths that hold a guessed frame */
	_Atomic uint64_t cpu_unsampled_ns; /* CPU time after the last sample, known at the end of the thread */
	char name[32];              /* as given to pthread_setname_np, at the end; may be empty */
	_Atomic uint64_t cpu_off_ns; /* of its CPU time, what passed while measurement was off; known when it is started again, or at the end */
	struct msr_source_use use;
};

/* Context node. Node 0 is the root and is not stored with an address; children of the root are entry points
 * (module MSR_MODULE_NONE). A parent's id is smaller than its child's. */
struct msr_node {
	msr_addr addr;
	uint32_t parent;
	_Atomic uint32_t first_cell; /* cell id + 1; 0: no metrics */
};

struct msr_cell {
	uint32_t node;
	uint16_t metric;
	uint16_t flags;              /* 0 */
	uint32_t next;               /* cell id + 1 of the next cell of this node; 0 ends */
	uint32_t reserved;
	_Atomic uint64_t count;      /* samples */
	_Atomic uint64_t sum;        /* in the metric's unit */
};

/*
 * Trace record: bits 63..32 nanoseconds since the record before it, bits 31..28 metric id, bits 27..0 node id. The first
 * record of an extent counts from the extent's `first`. Tag 15 is an escape: node part MSR_TRACE_ABSOLUTE says that
 * the next 8 bytes are an absolute time in ns which replaces the running time. Node 0, the root: nothing is known of the thread from here to the next record, for
 * measurement was stopped; the metric id says nothing then.
 */
#define MSR_TRACE_TAG_ESCAPE 15u
#define MSR_TRACE_ABSOLUTE 1u
#define MSR_TRACE_NODE_MAX ((1u << 28) - 1)
#define MSR_MAX_METRICS 15u

static inline uint64_t msr_trace_make(uint32_t dt_ns, uint32_t metric, uint32_t node)
{
	return (uint64_t)dt_ns << 32 | (uint64_t)metric << 28 | node;
}

struct msr_clock {
	uint64_t mono_ns;
	uint64_t real_ns;
};

/* ---- reading ------------------------------------------------------------------------------------------- */

/* One sound extent found by msr_next_extent(). */
struct msr_view {
	const struct msr_extent *extent;
	const uint8_t *content;
	uint64_t n_bytes;      /* of content: `used`, clamped to what is in the extent and in the file */
	bool clamped;          /* `used` said more than there is */
};

enum msr_scan {
	MSR_SCAN_EXTENT,  /* *view is set */
	MSR_SCAN_DAMAGED, /* *pos moved over `*skipped` bytes that are not a sound extent */
	MSR_SCAN_END      /* nothing more */
};

/*
 * Finds the next extent at or after *pos in `bytes` of `n_bytes`, where *pos starts at MSR_HEADER_BYTES. Never reads outside
 * the buffer, always terminates. After damage it resumes at the next offset that holds a sound extent header.
 */
enum msr_scan msr_next_extent(const uint8_t *bytes, uint64_t n_bytes, uint64_t *pos, struct msr_view *view, uint64_t *skipped);

/* The extent holds a child of fork, to be read like a file of its content. */
static inline bool msr_is_process(const struct msr_view *v)
{
	return v->extent->kind == MSR_PROCESS && v->n_bytes >= MSR_HEADER_BYTES;
}

enum msr_header_state {
	MSR_HEADER_SOUND,
	MSR_HEADER_SHORT,        /* not even a header page */
	MSR_HEADER_UNWRITTEN,    /* zeros where the magic should be, which is written last: the process was killed, or its node went down, before */
	MSR_HEADER_NOT_OURS,     /* wrong magic */
	MSR_HEADER_OTHER_VERSION /* *major is the version found */
};
enum msr_header_state msr_check_header(const uint8_t *bytes, uint64_t n_bytes, unsigned *major);

#endif
