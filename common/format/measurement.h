/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout of the measurement file (<run>/<rank>-<host>-<pid>[.n].hpcrun), which the run time writes
 * and the analysis reads. doc/formats/measurement.md is the specification; this header must agree
 * with it. Only layout and pure functions on bytes: no I/O, no allocation. Everything here is
 * async-signal-safe. Test: tests/unit/common/test_measurement.c.
 *
 * The file is a header page followed by extents. It is a shared mapping of the measured process, so
 * the file is valid at every moment and every prefix of it can be read. A writer stores the content
 * first and then publishes it with a release store of `used`. All integers are little-endian and
 * naturally aligned.
 */
#ifndef COMMON_FORMAT_MEASUREMENT_H
#define COMMON_FORMAT_MEASUREMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MSR_MAGIC "HPCRUNL"           /* 8 bytes with the terminating NUL */
#define MSR_VERSION_MAJOR 1           /* a reader refuses any other major version, and names it */
#define MSR_VERSION_MINOR 11          /* counts additions that a reader may ignore */
#define MSR_HEADER_BYTES 4096u        /* the header page; extents start here */
#define MSR_EXTENT_MAGIC 0x54584548u  /* "HEXT" */
#define MSR_EXTENT_ALIGN 64u          /* extents start and end at multiples of this */
#define MSR_PROCESS_BYTES 16320u      /* content of an extent of the kind MSR_PROCESS */
/*
 * Since 1.7: the same for a child that recorded nothing except its life. Its header takes
 * MSR_BRIEF_HEADER_BYTES, and its extents start after that: see msr_first_extent().
 */
#define MSR_BRIEF_BYTES 1472u
#define MSR_BRIEF_HEADER_BYTES 768u
#define MSR_SUFFIX ".hpcrun"
/*
 * These suffixes replace MSR_SUFFIX in the names of copies of the files in which the process
 * describes its JIT code.
 */
#define MSR_JIT_MAP_SUFFIX ".perfmap"
#define MSR_JIT_DUMP_SUFFIX ".jitdump"

/* ---- packed address ---- */

/*
 * Module id (16 bits) | mark (1 bit) | link address (47 bits). The link address is the run-time
 * address minus the load bias of the module: the virtual address that the ELF file itself uses.
 * In all frames except the innermost it is the return address minus 1, so that readers can look up
 * every address without changing it.
 */
typedef uint64_t msr_addr;

#define MSR_MODULE_NONE 0u         /* synthetic frame: the low bits are an enum msr_synthetic */
/* no module (JIT), or table full: low bits are the run-time pc */
#define MSR_MODULE_UNKNOWN 0xFFFFu
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

/*
 * The link address part of a frame whose module is MSR_MODULE_NONE. Entries say where a path
 * starts. They are the children of the root and occur nowhere else. Waits occur only elsewhere.
 */
enum msr_synthetic {
	MSR_ENTRY_MAIN = 1,     /* complete path of the thread that ran main */
	MSR_ENTRY_THREAD = 2,   /* complete path of another thread */
	MSR_ENTRY_OMP_IDLE = 3, /* an OpenMP worker outside any parallel region */
	/* + enum msr_path_end: the path could not be followed to its root */
	MSR_ENTRY_PARTIAL = 16,
	MSR_WAIT = 64,          /* + enum msr_wait: the thread waited, and for what */
	/* + id of a WAIT_OBJECT record: what exactly it waited for */
	MSR_WAIT_ON = 1u << 16,
	/* + 1 + number of an NVTX_RANGE record of the thread: the innermost range it was in */
	MSR_NVTX = 1u << 24
};

/*
 * This frame connects work with the call path that created it. For example, PyTorch's forward pass
 * created the node of autograd's graph whose work runs inside the frame. The low bits are the
 * number of a thread and one of its context nodes.
 */
#define MSR_FORWARD (UINT64_C(1) << 46)
#define MSR_FORWARD_NODE_BITS 28u
#define MSR_FORWARD_THREAD_MAX ((1u << (46 - MSR_FORWARD_NODE_BITS)) - 1)

static inline msr_addr msr_forward_make(uint32_t thread, uint32_t node)
{
	return MSR_FORWARD | (uint64_t)thread << MSR_FORWARD_NODE_BITS | node;
}
static inline uint32_t msr_forward_thread(msr_addr a)
{
	return (uint32_t)((a & (MSR_FORWARD - 1)) >> MSR_FORWARD_NODE_BITS);
}
static inline uint32_t msr_forward_node(msr_addr a)
{
	return (uint32_t)(a & ((1u << MSR_FORWARD_NODE_BITS) - 1));
}

/* What a thread waited for. Part of the format: append only. */
enum msr_wait {
	MSR_WAIT_OMP_END,   /* OpenMP: at the end of a parallel region, for the others */
	MSR_WAIT_FUTEX,     /* blocked: a lock, condition variable, barrier or other futex */
	MSR_WAIT_SLEEP,     /* blocked: a span of time */
	MSR_WAIT_POLL,      /* blocked: any of several descriptors */
	MSR_WAIT_FILE,      /* blocked: file or device */
	MSR_WAIT_SOCKET,    /* blocked: socket */
	MSR_WAIT_PIPE,      /* blocked: pipe or terminal */
	MSR_WAIT_CHILD,     /* blocked: the end of a child, or its exec (vfork) */
	MSR_WAIT_SIGNAL,    /* blocked: a signal */
	MSR_WAIT_SYNC,      /* blocked: data to reach the disk (fsync and others) */
	MSR_WAIT_DEVICE,    /* blocked: ioctl */
	MSR_WAIT_OTHER,     /* blocked: another system call */
	MSR_WAIT_RUN_QUEUE, /* not blocked: ready to run, but other threads had the processors */
	MSR_WAIT_MEMORY,    /* not in a system call: page faults and the like */
	MSR_WAIT_STOPPED,   /* not in a system call: SIGSTOP, a debugger, a frozen cgroup */
	MSR_WAIT_QUEUE,     /* blocked: a message queue (System V, POSIX) */
	MSR_WAIT_SEMAPHORE, /* blocked: a semaphore of System V */
	MSR_WAIT_IO_URING,  /* blocked: completions of io_uring */
	MSR_WAIT_THREAD,    /* blocked: a futex of libc, but no lock: condition, semaphore, join */
	MSR_N_WAITS
};

/* How the walk of a stack ended. The order is part of the format. */
enum msr_path_end {
	MSR_END_ROOT,         /* complete */
	MSR_END_NO_CFI,       /* no unwind information and no plausible frame */
	MSR_END_NO_MODULE,    /* pc in no module (JIT code, or a wild jump) */
	MSR_END_UNREADABLE,   /* stack memory could not be read */
	MSR_END_BAD_CFI,      /* unwind information is damaged, or uses an unsupported feature */
	MSR_END_NO_PROGRESS,  /* the next frame is not further out than the last */
	MSR_END_TOO_DEEP,     /* more frames than the limit */
	MSR_END_THROWING,     /* the C++ run time is rewriting the stack that it will return to */
	/* The root was reached through a guessed frame. Only in path_ends, never in the tree. */
	MSR_END_GUESSED,
	MSR_N_PATH_ENDS
};

/* ---- header page ---- */

/* How the process ended, as far as it could be recorded. */
enum msr_exit_kind {
	MSR_EXIT_NONE = 0,  /* still running, or killed before it could write anything */
	MSR_EXIT_RETURN,    /* exit(), return from main; exit_code is the status */
	MSR_EXIT_QUICK,     /* _exit(), _Exit(), quick_exit(); exit_code is the status */
	MSR_EXIT_EXEC,      /* replaced by another program */
	MSR_EXIT_SIGNAL,    /* a fatal signal was about to end it; exit_code is its number */
	MSR_EXIT_WITHDRAWN, /* a seccomp filter ended the measurement before the process ended */
	MSR_EXIT_DETACHED,  /* it runs on: hpcrun-lite --attach was over */
	MSR_EXIT_GO         /* never in a file: readers use it for NONE with MSR_FLAG_GO */
};

/*
 * What the process used between its start and its end, or exec, as the kernel counts it
 * (getrusage(2), /proc/PID/io), with what the measurement used. All 0: not written.
 */
struct msr_usage {
	uint64_t system_ns;     /* CPU time in the kernel */
	uint64_t page_faults;   /* without I/O */
	uint64_t reads, writes; /* system calls that read and wrote files, pipes, sockets */
	uint64_t read_bytes, written_bytes;
};

struct msr_header {
	char magic[8];              /*   0 MSR_MAGIC */
	uint16_t version_major;     /*   8 */
	uint16_t version_minor;     /*  10 */
	uint32_t header_bytes;      /*  12 MSR_HEADER_BYTES, or MSR_BRIEF_HEADER_BYTES */
	uint32_t pid;               /*  16 */
	uint32_t parent_pid;        /*  20 */
	int32_t rank;               /*  24 rank in the MPI job; -1 when there is none */
	int32_t n_ranks;            /*  28 -1 when unknown */
	uint64_t host_id;           /*  32 hash of the host name, for node identity */
	/*  40 CLOCK_MONOTONIC at start; the clock of all times in the file */
	uint64_t start_mono_ns;
	uint64_t start_real_ns;     /*  48 CLOCK_REALTIME at the same moment */
	uint64_t end_mono_ns;       /*  56 at the end; 0 when the process was killed */
	uint64_t end_real_ns;       /*  64 */
	uint32_t exit_kind;         /*  72 enum msr_exit_kind */
	int32_t exit_code;          /*  76 */
	_Atomic uint64_t allocated; /*  80 allocated bytes of the file; all extents are below */
	/*  88 reserved for ordering execs of one pid: CLOCK_MONOTONIC of the first image */
	uint64_t process_start_ns;
	uint32_t exec_seq;          /*  96 0 for the first image of this pid, then 1, 2, ... */
	uint32_t flags;             /* 100 MSR_FLAG_* */
	/* 104 losses of the process that belong to no thread, by enum msr_loss */
	_Atomic uint64_t losses[32];
	char host[256];             /* 360 NUL-terminated */
	/*
	 * 616 Time for which measurement was off (the program stopped it, or had not started it
	 * yet), up to the last start.
	 */
	_Atomic uint64_t off_ns;
	_Atomic uint64_t off_since_ns; /* 624 when measurement went off; 0: it is on */
	_Atomic uint64_t n_starts;  /* 632 how often the program started and stopped measurement */
	_Atomic uint64_t n_stops;   /* 640 */
	/* 648 since 1.7: CPU clock of the process when measurement of its first thread began */
	uint64_t cpu_start_ns;
	uint64_t cpu_end_ns;        /* 656 ... and at the end or before exec; 0: not written */
	/*
	 * 664 since 1.7: the call of MPI_Comm_spawn that started this process's job: the host and
	 * process that made the call, and when (CLOCK_MONOTONIC). All 0: it was not spawned.
	 */
	uint64_t job_host_id;
	uint64_t job_id;            /* 672 */
	uint32_t job_pid;           /* 680 */
	uint32_t reserved;          /* 684 0 */
	/*
	 * 688 since 1.7: the CPU quota of the process's cgroup or of a cgroup around it, whichever
	 * is less: CPU time in each second, in ns. 0: no quota is known.
	 */
	uint64_t quota_ns;
	uint64_t quota_id;          /* 696 of the cgroup with that quota, on this host */
	/* 704 how long these cgroups had been throttled at the start and at the end, in ns */
	uint64_t throttled_start_ns;
	uint64_t throttled_end_ns;  /* 712; 0: not written */
	struct msr_usage usage;     /* 720 since 1.9 */
};

#define MSR_FLAG_TRACE 1u    /* the user asked for time lines */
#define MSR_FLAG_ROOT 2u     /* the launcher itself started this process */
#define MSR_FLAG_GO 4u       /* a Go program: it ends without exit() and cannot write its status */
#define MSR_FLAG_ATTACHED 8u /* it was running before: hpcrun-lite --attach */

/* ---- extents ---- */

enum msr_kind {
	MSR_END_OF_EXTENTS = 0, /* zeros: reserved space that is not used yet */
	MSR_FREE = 1,           /* skip it */
	MSR_INFO = 2,           /* struct msr_info records: command line, options, environment */
	MSR_METRIC = 3,         /* struct msr_metric records */
	MSR_MODULE = 4,         /* struct msr_module records */
	MSR_THREAD = 5,         /* one struct msr_thread */
	MSR_NODE = 6,           /* struct msr_node: context nodes of one thread */
	MSR_CELL = 7,           /* struct msr_cell: metric cells of one thread */
	MSR_TRACE = 8,          /* uint64_t trace records of one thread */
	MSR_CLOCK = 9,          /* struct msr_clock */
	/* struct msr_python_code and its variable part: functions of Python programs */
	MSR_PYTHON_CODE = 10,
	/* a forked child without a file of its own: header page and extents, as in a file */
	MSR_PROCESS = 11,
	MSR_OMP_REGION = 12,    /* struct msr_omp_region: parallel regions, summed up by a thread */
	MSR_WAIT_OBJECT = 13,   /* what threads waited for: descriptors, locks */
	/* Extents of GPUs: see measurement_gpu.h. */
	MSR_CHILD = 14,         /* struct msr_child: children that the process waited for */
	MSR_UNMEASURED = 15,    /* struct msr_unmeasured and a path: programs not measured */
	/* struct msr_gpu_definition and its variable part: devices, queues, names ... */
	MSR_GPU_DEFINITION = 16,
	MSR_GPU_SHAPE = 17,      /* struct msr_gpu_shape: launch characteristics */
	/* struct msr_gpu_clock: readings of a device's clock and ours, in pairs */
	MSR_GPU_CLOCK = 18,
	/* struct msr_gpu_launch of one thread (~0: of all unmeasured threads) */
	MSR_GPU_LAUNCH = 19,
	MSR_GPU_OP = 20,         /* struct msr_gpu_op */
	MSR_GPU_AGGREGATE = 21,  /* struct msr_gpu_aggregate */
	MSR_GPU_PC = 22,         /* struct msr_gpu_pc: PC samples */
	MSR_GPU_PC_RANGE = 23,   /* struct msr_gpu_pc_range: what PC sampling delivered and lost */
	MSR_GPU_VALUE = 24,      /* struct msr_gpu_value: counters of operations */
	MSR_GPU_TALLY = 25,      /* struct msr_gpu_tally: the ledger of a back end */
	/* struct msr_gpu_graph_node: where the program created nodes of graphs */
	MSR_GPU_GRAPH_NODE = 26,
	MSR_MPI_COMM = 27,       /* communicators of MPI */
	MSR_MPI_CALL = 28,       /* calls of MPI, summed up */
	MSR_MPI_COLLECTIVE = 29, /* single collective calls of MPI */
	MSR_PHASE = 30,          /* struct msr_phase: phases that the program marked */
	MSR_GPU_ENERGY = 31,     /* struct msr_gpu_energy: readings of meters of energy */
	MSR_SPAWN = 32,          /* struct msr_spawn and a path: jobs that the process started */
	/* Extents of NVTX: see measurement_nvtx.h. */
	MSR_NVTX_NAME = 34,      /* names of ranges, domains, categories and threads */
	MSR_NVTX_RANGE = 35,     /* ranges and marks, summed up */
	MSR_NVTX_EVENT = 36,     /* single ranges and marks */
	/* struct msr_torch_module and its variable part: modules of PyTorch on call paths */
	MSR_TORCH_MODULE = 37,
	MSR_MPI_OPEN = 38,       /* struct msr_mpi_open: the call of MPI that a thread is in */
	MSR_MEMORY = 39          /* struct msr_memory: sampled allocations of a thread */
};

struct msr_extent {
	uint32_t magic;         /*  0 MSR_EXTENT_MAGIC */
	uint16_t kind;          /*  4 enum msr_kind */
	uint16_t record_bytes;  /*  6 size of a record; 0: records carry their own length */
	uint32_t thread;        /*  8 thread number within the process, from 0; ~0 when none */
	uint32_t sequence;      /* 12 n-th extent of this kind and thread, from 0 */
	/*
	 * 16 index of the first record (NODE, CELL), ns of the first record (TRACE), high part of
	 * the ids (GPU_LAUNCH)
	 */
	uint64_t first;
	/* 24 bytes of the extent with this header; may shrink, see the specification */
	_Atomic uint64_t length;
	_Atomic uint64_t used;  /* 32 bytes of content after the header; published last */
	uint64_t reserved;      /* 40 0 */
	uint64_t reserved2;     /* 48 0 */
	uint32_t reserved3;     /* 56 0 */
	uint32_t check;         /* 60 msr_extent_check() of the fields that never change */
};

/* Check value (FNV-1a, 32 bits) of magic, kind, record_bytes, thread, sequence and first. */
uint32_t msr_extent_check(const struct msr_extent *e);

/* ---- records ---- */

/*
 * Records of variable length: `bytes` is the length of the whole record, a multiple of 8. Strings
 * follow the fixed part.
 */
struct msr_info {
	uint32_t bytes;
	uint32_t key_bytes;   /* key with NUL, then the value with NUL, then padding */
	uint32_t value_bytes;
	uint32_t reserved;
	/* char key[key_bytes], value[value_bytes] */
};
/*
 * Keys of INFO records: "command" (arguments joined by NUL), "executable", "event" (as the user
 * gave it; repeated), "source" (the source of each event), "job", "cwd", "processors" (that it may
 * use), "version", "note" (a message for the user; repeated).
 */
enum msr_unit {
	MSR_UNIT_COUNT = 0,
	MSR_UNIT_NS = 1,
	MSR_UNIT_BYTES = 2,
	MSR_UNIT_UJ = 3       /* microjoules */
};

struct msr_metric {
	uint32_t id;          /* 0 to 14 for sampled events: fits the trace record's tag */
	uint32_t unit;        /* enum msr_unit of `sum` in the cells */
	uint64_t period;      /* the requested period, in units; 0: the event has none */
	uint32_t source;      /* enum msr_source */
	uint32_t flags;       /* 0 */
	char name[64];        /* "CPUTIME", "PAPI_TOT_CYC", "perf::PAGE-FAULTS"; NUL-terminated */
	char description[168];/* one line */
};

enum msr_source {
	MSR_SOURCE_PERF = 1,      /* perf_event_open */
	MSR_SOURCE_TIMER_CPU = 2, /* timer_create on the thread's CPU clock */
	MSR_SOURCE_TIMER_REAL = 3,/* timer_create on CLOCK_MONOTONIC */
	MSR_SOURCE_PAPI = 4,
	MSR_SOURCE_TEST = 5,      /* synthetic */
	MSR_SOURCE_CALLS = 6      /* calls of the program (MEMORY) */
};

/* Names of metrics that have a meaning to readers. */
#define MSR_METRIC_CPUTIME "CPUTIME"
#define MSR_METRIC_REALTIME "REALTIME" /* elapsed time */
#define MSR_METRIC_OFFCPU "OFFCPU" /* time in which the thread did not run */
#define MSR_METRIC_MEMORY "MEMORY" /* bytes allocated */
#define MSR_METRIC_BLAME "BLAME"   /* time that others waited for locks held here */

#define MSR_BUILD_ID_MAX 32
struct msr_module {
	uint32_t bytes;       /* whole record, a multiple of 8 */
	uint16_t id;          /* 1 .. 0xFFFE */
	uint16_t flags;       /* MSR_MODULE_MAIN, MSR_MODULE_VDSO */
	uint64_t bias;        /* run-time address minus link address, when first seen */
	uint64_t map_start;   /* run-time address range when first seen */
	uint64_t map_end;
	uint32_t build_id_bytes; /* 0 .. MSR_BUILD_ID_MAX */
	uint32_t path_bytes;  /* with NUL */
	/*
	 * Size and modification time of the file, 0 if unknown. They identify a binary without
	 * build id.
	 */
	uint64_t file_bytes;
	uint64_t file_mtime_ns;
	uint8_t build_id[MSR_BUILD_ID_MAX];
	/*
	 * char path[path_bytes], and without a build id, since 1.7, at the next multiple of 8:
	 * _Atomic uint64_t content, 0 until it is known: msr_module_content()
	 */
};
#define MSR_MODULE_MAIN 1u
#define MSR_MODULE_VDSO 2u   /* the run directory has its image in vdso/<build id>.so */
#define MSR_MODULE_PYTHON 4u /* not a binary: its link addresses are places in Python code */
/* The file was gone or likely to disappear, and ... */
#define MSR_MODULE_KEPT 8u       /* MSR_KEPT_DIRECTORY has a copy */
#define MSR_MODULE_TOO_LARGE 16u /* it has none: the process had reached its limit */
#define MSR_MODULE_NOT_KEPT 32u  /* it has none: the file could not be opened or copied */

#define MSR_KEPT_DIRECTORY "binaries" /* in the directory of the measurement */
#define MSR_KEPT_NAME_BYTES 80
/*
 * Makes the name of a copy: the build id, or else the content (msr_module_content()). Returns false
 * if neither is known. Signal-safe.
 */
bool msr_kept_name(char name[MSR_KEPT_NAME_BYTES], const uint8_t *build_id, size_t build_id_bytes,
		   uint64_t content);

/* Bytes of the record before `content`. */
static inline uint64_t msr_module_plain_bytes(uint32_t path_bytes)
{
	return (sizeof(struct msr_module) + (uint64_t)path_bytes + 7) & ~UINT64_C(7);
}

/*
 * A hash of the file (common/safe/content_hash.h), which identifies a binary without build id. 0:
 * unknown. The caller must have checked `bytes` and `path_bytes`.
 */
static inline uint64_t msr_module_content(const struct msr_module *m)
{
	const uint64_t at = msr_module_plain_bytes(m->path_bytes);
	return m->build_id_bytes || at + sizeof(uint64_t) > m->bytes
		       ? 0
		       : *(const uint64_t *)(const void *)((const char *)m + at);
}

/*
 * Code objects of CPython (a function, class body, module ...). A link address in Python's logical
 * module holds the id of the code object and the index of a code unit (2 bytes) in its bytecode. In
 * every frame this is the unit of the instruction that is running or calling. Id 0 means a code
 * object that could not be recorded.
 */
#define MSR_PYTHON_UNIT_BITS 20u
/* from this unit on the line is unknown */
#define MSR_PYTHON_UNIT_NONE ((1u << MSR_PYTHON_UNIT_BITS) - 1)
#define MSR_PYTHON_CODE_MAX ((1u << 27) - 1)
#define MSR_PYTHON_LINES_MAX 60000u

enum msr_python_lines {
	MSR_PYTHON_LINES_PAIRS = 1,    /* co_linetable of CPython 3.10: PEP 626 */
	/* co_linetable since CPython 3.11: the location table of PEP 657 */
	MSR_PYTHON_LINES_LOCATIONS = 2
};

struct msr_python_code {
	uint32_t bytes;
	uint32_t id;            /* from 1; unique */
	uint32_t first_line;    /* co_firstlineno */
	uint16_t lines;         /* enum msr_python_lines */
	uint16_t file_bytes;    /* co_filename as UTF-8, with NUL */
	uint16_t name_bytes;    /* co_qualname, or co_name if there is none, with NUL */
	uint16_t reserved;      /* 0 */
	uint32_t line_bytes;    /* of the line table, cut to MSR_PYTHON_LINES_MAX */
	/* char file[file_bytes]; char name[name_bytes]; uint8_t lines[line_bytes] */
};

/*
 * A module of PyTorch (a layer) that a frame calls. A link address in Python's logical module with
 * the id of the layer represents the call. It comes directly outside the frame's own address.
 */
struct msr_torch_module {
	uint32_t bytes;
	uint32_t id;            /* from 1; unique, also among code objects */
	uint32_t parent;        /* id of the module that contains it, smaller than `id`; 0: none */
	uint16_t name_bytes;    /* name in its parent, "layer3" or "layers.5", with NUL; "": none */
	uint16_t class_bytes;   /* name of its class, "Conv2d", with NUL */
	/* char name[name_bytes]; char class[class_bytes] */
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
 * A child that the process waited for. There is no record if the process did not see the end of the
 * child through libc.
 */
struct msr_child {
	uint32_t pid;         /* 0: at the end, CPU time of all children without a record */
	int32_t status;       /* as from wait(2) */
	uint64_t end_ns;      /* CLOCK_MONOTONIC, right after the wait */
	uint64_t cpu_ns;      /* user and system time, including the children it waited for */
	uint64_t reserved;    /* 0 */
};

/*
 * How the program shared the iterations of a region's loop among threads. This is known only if the
 * program asks the OpenMP run time for iterations. It computes static schedules without asking.
 */
enum msr_omp_schedule {
	MSR_OMP_UNKNOWN,
	MSR_OMP_STATIC,
	MSR_OMP_DYNAMIC,
	MSR_OMP_GUIDED,
	MSR_OMP_RUNTIME,  /* OMP_SCHEDULE decides */
	MSR_OMP_SECTIONS, /* not a loop, but parts; one thread executes each */
	MSR_OMP_SEVERAL,  /* it has loops with different schedules */
	MSR_N_OMP_SCHEDULES
};
/* The chunk is in the 24 bits above this; 0: not given, several or too large. */
enum { MSR_OMP_CHUNK_SHIFT = 8 };

static inline uint32_t msr_omp_schedule(enum msr_omp_schedule kind, long chunk)
{
	const long most = (1L << (32 - MSR_OMP_CHUNK_SHIFT)) - 1;
	const uint32_t known = chunk > 0 && chunk <= most ? (uint32_t)chunk : 0;
	return (uint32_t)kind | known << MSR_OMP_CHUNK_SHIFT;
}
/* Joins the schedules of two loops or instances of a region: keeps what they agree on. */
static inline uint32_t msr_omp_schedule_of_both(uint32_t a, uint32_t b)
{
	const uint32_t mask = (1u << MSR_OMP_CHUNK_SHIFT) - 1;
	return a == b || !b ? a : !a ? b : (a & mask) == (b & mask) ? a & mask : MSR_OMP_SEVERAL;
}

/*
 * The sums of the parallel regions that one thread forked at one place with teams of one size. They
 * include only regions that have ended and were measured from fork to join. n_timed, busy_ns,
 * max_ns and min_ns describe the time that each thread of the team spent in the region's function.
 * members beyond the first 1024 are not timed.
 */
struct msr_omp_region {
	msr_addr call;          /* where the program forked; 0: not known (tail call) */
	msr_addr function;      /* the outlined function; 0: not known. Both 0: other regions */
	uint32_t n_threads;     /* size of the team */
	_Atomic uint32_t schedule; /* enum msr_omp_schedule, and the chunk; 0: not known */
	_Atomic uint64_t instances;
	_Atomic uint64_t elapsed_ns; /* sum over instances of the time from fork to join */
	_Atomic uint64_t n_timed;    /* sum over instances of the number of timed threads */
	_Atomic uint64_t busy_ns;    /* sum over instances and threads */
	_Atomic uint64_t max_ns;     /* sum over instances of the longest time of a thread */
	_Atomic uint64_t min_ns;     /* ... and of the shortest */
};

/* Why the run-time library cannot be loaded into a program. Part of the format: append only. */
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
	MSR_UNMEASURED_REACH, /* it cannot reach library or directory: other root, user */
	MSR_UNMEASURED_SPAWNED, /* set by readers: no measurement, cause unknown */
	MSR_N_UNMEASURED
};
/* Name for people, such as "static executable". Accepts any number. */
const char *msr_unmeasured_name(uint32_t reason);

/* What a thread waited for, by name. A context refers to it with the frame MSR_WAIT_ON + id. */
enum msr_wait_object_kind {
	MSR_WAIT_OBJECT_DESCRIPTOR = 1, /* the text is "file /data/x", "socket 10.0.0.2:80" ... */
	MSR_WAIT_OBJECT_LOCK = 2        /* a lock in static data, at `addr`; no text */
};

struct msr_wait_object {
	uint32_t bytes;       /* whole record, a multiple of 8 */
	uint32_t id;          /* from 1; unique in the process */
	uint32_t kind;        /* enum msr_wait_object_kind */
	uint32_t text_bytes;  /* with NUL */
	msr_addr addr;        /* 0: none */
	/* char text[text_bytes] */
};

/* A phase lasts from a call of hpctoolkit_sampling_start() to the next stop or start. */
struct msr_phase {
	uint64_t enter_ns;    /* CLOCK_MONOTONIC */
	_Atomic uint64_t leave_ns; /* 0: it lasted to the end of the process */
	uint32_t thread;      /* the thread that called; UINT32_MAX: not measured */
	uint32_t node;        /* its context node at the call; 0: unknown */
	/*
	 * Measured time that this thread spent in MPI calls during the phase; set before leave_ns.
	 * UINT64_MAX: unknown, because another thread ended the phase.
	 */
	_Atomic uint64_t mpi_ns;
};

/* A program that cannot be measured was started, as a child of this process or in its place. */
struct msr_unmeasured {
	uint32_t bytes;       /* whole record, a multiple of 8 */
	uint32_t pid;         /* the process that runs it */
	_Atomic uint32_t reason; /* enum msr_unmeasured_reason */
	uint32_t path_bytes;  /* with NUL */
	uint64_t start_ns;    /* CLOCK_MONOTONIC */
	/* CPU time used before, by the process and by the children that it waited for */
	uint64_t cpu_before_ns;
	/* char path[path_bytes] */
};

/* MPI_Comm_spawn has started processes of one program. The processes of one call are one job. */
struct msr_spawn {
	uint32_t bytes;       /* whole record, a multiple of 8 */
	uint32_t path_bytes;  /* with NUL */
	uint64_t id;          /* the job_id in the headers of these processes */
	uint32_t n_processes;
	uint32_t reason;      /* enum msr_unmeasured_reason; VOID: nothing prevents measurement */
	/* char path[path_bytes] */
};

/* Causes of loss; msr_loss_name() names them. The order is part of the format: append only. */
enum msr_loss {
	MSR_LOSS_BUSY = 0,      /* arrived while the thread was inside the tool */
	MSR_LOSS_NO_SPACE,      /* the file could not grow: disk full or quota */
	MSR_LOSS_FILE_LIMIT,    /* RLIMIT_FSIZE */
	MSR_LOSS_NO_MEMORY,     /* no memory for an index */
	MSR_LOSS_NODE_LIMIT,    /* limit on context nodes reached */
	/* arrived in a thread that is not set up (not created by pthread_create) */
	MSR_LOSS_NO_THREAD,
	MSR_LOSS_TRACE, /* the sample is in the tree, but its trace record could not be written */
	/* expiries that the kernel merged into one signal; the sample has their weight */
	MSR_LOSS_COALESCED,
	/* time that passed until a dead source (closed descriptor) was found and replaced */
	MSR_LOSS_SOURCE_LOST,
	/* computed by the reader: the process was killed before the sample was recorded */
	MSR_LOSS_IN_FLIGHT,
	MSR_LOSS_FORK,         /* of the process: children that could not be measured */
	MSR_LOSS_MODULE_TABLE, /* frames recorded without their module: the table is full or busy */
	MSR_LOSS_THREAD_SETUP, /* of the process: threads that could not be set up */
	/* paths with native frames in place of Python frames that could not be read */
	MSR_LOSS_PYTHON,
	MSR_LOSS_MPI,          /* of the process: calls of MPI that could not be recorded */
	MSR_LOSS_OMP_SUMS,     /* instances of parallel regions that are in no OMP_REGION record */
	/*
	 * paths within parallel regions that could not be joined with the path of the fork, and
	 * paths within nodes of autograd without their MSR_FORWARD
	 */
	MSR_LOSS_OMP_PATHS,
	MSR_LOSS_WAIT_OBJECT,  /* of the process: waits whose object has no name */
	MSR_LOSS_BLAME,        /* threads that held a lock and ended before a sample showed where */
	MSR_LOSS_NVTX,         /* of the process: ranges and marks that could not be recorded */
	MSR_LOSS_NVTX_DETAIL,  /* of the process: their names, paths or single times */
	MSR_LOSS_PHASE,        /* of the process: phases that could not be recorded */
	MSR_LOSS_FORWARD,      /* runs of autograd's nodes without the path of the forward pass */
	MSR_LOSS_WAIT,         /* of the process: system calls that a sample ended with EINTR */
	MSR_LOSS_BINARIES,     /* of the process: binaries that are gone and not kept */
	MSR_LOSS_MEMORY,       /* of the process: sampled allocations without a record */
	MSR_N_LOSSES,
	MSR_LOSS_ROOM = 32      /* slots in the structures */
};
/*
 * Returns true if the loss removes a sample from the tree (not TRACE, COALESCED, MODULE_TABLE ...).
 */
bool msr_loss_takes_sample(enum msr_loss l);
/* stable, lower case, for ledgers: "busy", "no-space" ... */
const char *msr_loss_name(enum msr_loss l);
const char *msr_loss_description(enum msr_loss l); /* one line for people */
const char *msr_path_end_name(enum msr_path_end e);

/*
 * What sampled the CPU time of a thread (CPUTIME): the kernel's event, or a timer on the CPU clock
 * of the thread. The weights of all CPUTIME samples add up to event_ns + timer_ns.
 */
struct msr_source_use {
	_Atomic uint64_t event_ns;       /* weights of samples of the event */
	_Atomic uint64_t event_samples;
	/* context switches of the thread while it used the event */
	_Atomic uint64_t event_switches;
	_Atomic uint64_t timer_ns;       /* weights of samples of the timer */
	_Atomic uint64_t timer_samples;
	_Atomic uint64_t n_changes;      /* changes from one to the other, after the thread began */
};

/*
 * Upper bound of the cost of the kernel's task-clock event at a context switch. With a shorter
 * period its timer is due sooner, and the kernel programs the hardware more often. Measured in a
 * virtual machine, where this is expensive (doc/sampling.md).
 */
static inline uint64_t msr_switch_cost_ns(uint64_t period_ns)
{
	return period_ns < 3000000 ? 12000 : period_ns < 8000000 ? 5000 : 3000;
}

/*
 * One per thread; only that thread updates it, in place. These identities hold for each thread:
 * - delivered == recorded + losses that take a sample + samples in flight. At most one sample per
 *   metric is in flight, in a thread that was killed or that exit() stopped.
 * - recorded == sum of `count` over the cells of the thread.
 * - the weights of CPUTIME + cpu_unseen_ns + cpu_unsampled_ns
 *   == cpu_end_ns - cpu_start_ns - cpu_off_ns.
 * - the weights of OFFCPU + offcpu_unsampled_ns + the CPU time of the line above
 *   == end_ns - start_ns - wall_off_ns.
 */
struct msr_thread {
	uint32_t number;            /* from 0; thread 0 ran main */
	uint32_t tid;
	uint64_t start_ns;          /* CLOCK_MONOTONIC */
	uint64_t end_ns;            /* 0: still running when the file ended */
	uint64_t cpu_start_ns;      /* the thread's CPU clock when its measurement began */
	uint64_t cpu_end_ns;        /* ... and when it ended; 0: not written */
	_Atomic uint64_t delivered; /* signals accepted as samples */
	_Atomic uint64_t recorded;  /* samples in the tree */
	_Atomic uint64_t handler_ns;/* CPU time of our handlers, estimated from every 16th sample */
	_Atomic uint64_t n_frames;  /* frames walked, to compute the mean depth */
	_Atomic uint64_t losses[MSR_LOSS_ROOM];
	_Atomic uint64_t path_ends[16]; /* by enum msr_path_end */
	_Atomic uint64_t n_marked;      /* paths with a guessed frame */
	/* CPU time after the last sample; set at the end of the thread */
	_Atomic uint64_t cpu_unsampled_ns;
	char name[32];              /* as given to pthread_setname_np, at the end; may be "" */
	/*
	 * CPU time of the thread while measurement was off. Set when measurement starts again, or
	 * at the end of the thread.
	 */
	_Atomic uint64_t cpu_off_ns;
	struct msr_source_use use;
	/* The rest is since version 1.5. */
	/* like cpu_off_ns, on CLOCK_MONOTONIC */
	_Atomic uint64_t wall_off_ns;
	/*
	 * Time in which the thread did not run and that no sample of OFFCPU contains. Usually it is
	 * the time after the last sample. Set at the end of the thread. It belongs to offcpu_node,
	 * or to no node if that is 0.
	 */
	_Atomic uint64_t offcpu_unsampled_ns;
	_Atomic uint32_t offcpu_node;
	/* The rest is since version 1.7. */
	uint32_t flags;             /* MSR_THREAD_FOUND */
	/*
	 * CPU time that passed without samples although they were due, because the program had
	 * blocked the signal or disabled the event. No sample contains it.
	 */
	_Atomic uint64_t cpu_unseen_ns;
};

/* We did not see the thread start. It was measured from the moment when we found it. */
#define MSR_THREAD_FOUND 1u

/* CPU time in ns of this thread within its process, from its first instruction on. */
uint64_t msr_thread_cpu_ns(const struct msr_thread *t);
/*
 * CPU time in ns of this thread for which samples were due but did not come. `period_ns` is the
 * period of CPUTIME. Includes the time after the last sample if that is longer than usual.
 */
uint64_t msr_unseen_cpu_ns(const struct msr_thread *t, uint64_t period_ns);
/*
 * CPU time in ns of threads that we never saw: the clock of the process minus the clocks of its n
 * threads. Returns 0 if the difference is at most 5 ms plus 0.1 ms per thread. Threads use some
 * time before and after they are measured: tens of microseconds, and more if processors are scarce.
 */
uint64_t msr_strange_cpu_ns(uint64_t clock_ns, uint64_t threads_ns, uint64_t n_threads);

/*
 * A context node. Node 0 is the root and has no address. The children of the root are entry points
 * (module MSR_MODULE_NONE). The id of a parent is smaller than the ids of its children.
 */
struct msr_node {
	msr_addr addr;
	uint32_t parent;
	_Atomic uint32_t first_cell; /* cell id + 1; 0: no metrics */
};

struct msr_cell {
	uint32_t node;
	uint16_t metric;
	uint16_t flags;              /* 0 */
	uint32_t next;               /* cell id + 1 of the next cell of this node; 0: the last */
	uint32_t reserved;
	_Atomic uint64_t count;      /* samples */
	_Atomic uint64_t sum;        /* in the metric's unit */
};

/*
 * A trace record: bits 63..32 ns since the previous record, bits 31..28 metric id, bits 27..0 node
 * id. The first record of an extent counts from the extent's `first`. Tag 15 is an escape: with
 * node part MSR_TRACE_ABSOLUTE, the next 8 bytes are an absolute time in ns, which replaces the
 * running time.
 *
 * Node 0, the root, means that measurement was stopped: nothing is known about the thread from here
 * to the next record. The metric id has no meaning then.
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

/* ---- reading ---- */

/* A valid extent that msr_next_extent() found. */
struct msr_view {
	const struct msr_extent *extent;
	const uint8_t *content;
	uint64_t n_bytes; /* of content: `used`, limited to the extent and the file */
	bool clamped;     /* `used` was larger than that */
};

enum msr_scan {
	MSR_SCAN_EXTENT,  /* *view is set */
	MSR_SCAN_DAMAGED, /* *pos skipped `*skipped` bytes that are not a valid extent */
	MSR_SCAN_END      /* no more extents */
};

/*
 * Finds the next extent at or after *pos. Start with *pos = MSR_HEADER_BYTES, or, in an extent of
 * the kind MSR_PROCESS, with msr_first_extent(). Never reads outside the buffer and always
 * terminates. After damage it continues at the next valid extent header.
 */
enum msr_scan msr_next_extent(const uint8_t *bytes, uint64_t n_bytes, uint64_t *pos,
			      struct msr_view *view, uint64_t *skipped);

/* Returns true if the extent holds a forked child. Read its content like a file. */
static inline bool msr_is_process(const struct msr_view *v)
{
	return v->extent->kind == MSR_PROCESS && v->n_bytes >= MSR_BRIEF_BYTES;
}

/* Returns true if this child has no METRIC, MODULE and INFO of its own and uses the file's. */
static inline bool msr_is_brief(const struct msr_header *h)
{
	return h->header_bytes == MSR_BRIEF_HEADER_BYTES;
}

/* Returns the bytes of the extent that holds the process, without the extent's own header. */
static inline uint64_t msr_process_bytes(const struct msr_header *h)
{
	return msr_is_brief(h) ? MSR_BRIEF_BYTES : MSR_PROCESS_BYTES;
}

/* Returns where the extents of a process start, counted from its header. */
static inline uint64_t msr_first_extent(const struct msr_header *h)
{
	return msr_is_brief(h) ? MSR_BRIEF_HEADER_BYTES : MSR_HEADER_BYTES;
}

enum msr_header_state {
	MSR_HEADER_SOUND,
	MSR_HEADER_SHORT,        /* shorter than a header page */
	/*
	 * Zeros in place of the magic, which is written last: the process was killed, or its node
	 * went down, before it was written.
	 */
	MSR_HEADER_UNWRITTEN,
	MSR_HEADER_NOT_OURS,     /* wrong magic */
	MSR_HEADER_OTHER_VERSION /* *major is the version of the file */
};
enum msr_header_state msr_check_header(const uint8_t *bytes, uint64_t n_bytes, unsigned *major);

#endif
