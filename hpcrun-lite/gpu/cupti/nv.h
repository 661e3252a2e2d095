/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The back end for NVIDIA GPUs, shared by its parts. CUDA's driver loads the module (CUDA_INJECTION64_PATH) and calls InitializeInjection inside of cuInit. From there on CUPTI
 * tells of each call of the driver API that is asked for (nv_callback.c), in the program's thread, and hands out buffers of records of what the device did (nv_buffer.c,
 * nv_record.c), in a thread of its own. Both carry CUPTI's correlation id, which is all that joins them. Times are CLOCK_MONOTONIC throughout: CUPTI takes its time from us.
 *
 * CUPTI and the driver are found by name at run time (nv_library.c); the module links libc alone.
 * Ids: a launch and its operations have twice the correlation id, the wait inside of a blocking copy has one more, since it is an operation of the same call.
 *
 * Unless said otherwise: any thread, never from a signal handler, errno is kept. Tests: tests/unit/test_cupti.c, tests/cli/cupti_trace.sh, tests/gpu/trace.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_NV_H
#define HPCRUN_LITE_GPU_CUPTI_NV_H

#include "hpcrun-lite/gpu/cupti/nv_headers.h"
#include "hpcrun-lite/gpu/cupti/nv_map.h"
#include "hpcrun-lite/gpu/cupti/nv_options.h"
#include "hpcrun-lite/gpu/gpu.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#define NV_LEAST_CUPTI 130000u   /* cuptiGetVersion: records are laid out as in CUDA 13.0, later versions add behind */
#define NV_MAX_CALLS 1536u       /* callback ids of the driver API that are looked at */
#define NV_MAX_DEVICES 64u
#define NV_BUFFER_BYTES ((size_t)256 << 10)
#define NV_N_BUFFERS 160u        /* 40 MiB at most; beyond it CUPTI drops and counts */
#define NV_MANY_BUFFERS 120u     /* from here on records are asked for by force */
#define NV_MAX_ALLOCATIONS ((size_t)1 << 20) /* whose sizes are known when they are freed */
#define NV_MAX_NAMES ((size_t)1 << 20)
#define NV_MAX_GRAPHS 1024u /* whose launches are counted; those that were launched last */
#define NV_MAX_QUEUES ((size_t)1 << 16) /* streams, and contexts; of a program that makes more the later ones of a context are one */
#define NV_MAX_FURTHER ((size_t)1 << 10) /* of these: contexts that have so many */
#define NV_MAX_LAUNCHES ((size_t)1 << 18)  /* of kernels whose names do not tell their code, in flight */

/* ---- nv_library.c --------------------------------------------------------------------------------------------- */

#define NV_CUPTI_FUNCTIONS(F) \
	F(cuptiGetVersion) F(cuptiGetResultString) F(cuptiSubscribe_v2) F(cuptiUnsubscribe) F(cuptiEnableCallback) F(cuptiGetCallbackName) \
	F(cuptiActivityRegisterCallbacks) F(cuptiActivityRegisterTimestampCallback) F(cuptiActivityEnableLatencyTimestamps) F(cuptiActivityEnable) F(cuptiActivityDisable) F(cuptiActivityFlushAll) \
	F(cuptiActivityGetNextRecord) F(cuptiActivityGetNumDroppedRecords) F(cuptiGetContextId) F(cuptiGetDeviceId) F(cuptiGetGraphNodeId) \
	F(cuptiPCSamplingEnable) F(cuptiPCSamplingDisable) F(cuptiPCSamplingGetData) F(cuptiPCSamplingGetNumStallReasons) F(cuptiPCSamplingGetStallReasons) \
	F(cuptiPCSamplingSetConfigurationAttribute) F(cuptiPCSamplingGetConfigurationAttribute) F(cuptiRegisterComputeCrcCallback)
#define NV_DRIVER_FUNCTIONS(F) \
	F(cuDeviceGetName) F(cuDeviceGetAttribute) F(cuDeviceTotalMem_v2) F(cuDeviceGetUuid_v2) F(cuDriverGetVersion) F(cuCtxSynchronize_v2)

/* What is decided by what no event of a recording tells; append only. */
enum nv_agree {
	NV_AGREE_BURST, /* a window begins, or is over: by how many launches there were */
	NV_AGREE_GATE,  /* the gate before launches could be closed in time */
	NV_AGREE_ALONE  /* the thread that stops the measurement is the only one that uses CUDA */
};

#define NV_FIELD(name) __typeof__(&name) name;
struct nv_library {
	NV_CUPTI_FUNCTIONS(NV_FIELD)
	NV_DRIVER_FUNCTIONS(NV_FIELD)
	/*
	 * What the back end asks of its own process where time or order may come into it: part of the table so that a recording holds their answers and a replay gives them again.
	 * CLOCK_MONOTONIC now.
	 */
	uint64_t (*now_ns)(void);
	/* Waits for *wake, at most until then; for threads of our own. */
	void (*wait)(sem_t *wake, uint64_t until_ns);
	/* A lock that is held while CUPTI is called; given back by pthread_mutex_unlock. until_ns 0: without bound, and never false. */
	bool (*lock)(pthread_mutex_t *m, uint64_t until_ns);
	/* Between two things that other threads see apart: keeps their order in a recording, and does nothing by itself. */
	void (*point)(void);
	/* Gives `mine`; in a replay what that was when it was recorded. For decisions by what no event of a recording tells, such as how many launches other threads have made. */
	bool (*agree)(enum nv_agree what, bool mine);
	/* Starts a detached thread of our own, run(arg). False: it could not be. */
	bool (*spawn)(void *(*run)(void *arg), void *arg);
	/* The end: exit() was called; the host's at_end. */
	void (*at_exit)(void (*fn)(void));
	void (*at_end)(void (*fn)(uint64_t may_wait_ns));
	/* The host's. */
	void (*on_switch)(void (*fn)(bool on));
	/* See nv_pc_lock. */
	int (*lock_gpu)(const CUuuid *uuid, char *path, size_t path_bytes);
	unsigned version;      /* CUPTI's */
	const char *path;      /* of CUPTI, for people; valid for ever */
	const void *cupti_text, *driver_text; /* addresses in the two libraries */
};
#undef NV_FIELD

/*
 * Finds CUPTI: one that the process has already, the loader's, then those of the usual places and of the toolkit that this was built with. `preferred`: a path to take instead, or "".
 * False: it cannot be had, and `why` says what was missing. The driver's functions are those of the process; for the launcher, `load_driver` loads them.
 */
bool nv_library_open(struct nv_library *l, const char *preferred, bool load_driver, char *why, size_t why_bytes);
/* What nv_library_open gives instead, where it is set: in a replay. Never in a measured process. */
extern const struct nv_library *nv_library_stand_in;
/* Sets what is asked of the process itself: the real clock, locks and threads. nv_library_open does it too. */
void nv_library_own(struct nv_library *l);
/* The option "cupti=PATH" in what stood behind gpu=nvidia; "" where it is not there. `path` is cut to `bytes`. */
void nv_library_preferred(const char *options, char *path, size_t bytes);

/* ---- nv_calls.c ----------------------------------------------------------------------------------------------- */

/* How a call's arguments say how much, or what. */
enum nv_form {
	NV_FORM_NONE,
	NV_FORM_ALLOC,     /* where to put the address, bytes */
	NV_FORM_PITCH,     /* where to put the address, where to put the pitch, width, height */
	NV_FORM_ARRAY,     /* where to put the handle, a descriptor in two dimensions */
	NV_FORM_ARRAY3,    /* ... in three */
	NV_FORM_REGISTER,  /* address, bytes */
	NV_FORM_FREE,      /* address or handle */
	NV_FORM_AMOUNT_2, NV_FORM_AMOUNT_3, NV_FORM_AMOUNT_4, /* a size_t that is the argument of that number, from 0 */
	NV_FORM_COPY_2D, NV_FORM_COPY_3D, /* a descriptor */
	NV_FORM_SET_2D,
	NV_FORM_LAUNCH, NV_FORM_LAUNCH_EX, /* the function is the first argument, or the second */
	/* no operation: */
	NV_FORM_CAPTURE_BEGIN, NV_FORM_CAPTURE_END,
	NV_FORM_LOAD,      /* where to put the module or library */
	NV_FORM_GET        /* where to put what is in it, the module, library or kernel that it is of */
};

struct nv_call {
	uint8_t kind;      /* enum msr_gpu_kind; 0 with a form: of capturing; 0 without: not asked for */
	uint8_t detail;    /* SYNC, ALLOC, FREE */
	uint8_t form;      /* enum nv_form */
	bool waits;        /* a copy during which the CPU waits */
	bool is_new;       /* a form of a call that this was not written for */
};
/* What a function of the driver API is, by its name as CUPTI has it ("cuMemcpyHtoD_v2_ptds"). All zero: nothing for us. */
struct nv_call nv_call_of(const char *name);
/* False: the call asks for nothing (0 bytes), and CUPTI will have no record of it. */
bool nv_call_has_amount(enum nv_form form, const void *params);
/* The function or kernel that a call launches; NULL: it does not say. */
const void *nv_call_function(enum nv_form form, const void *params);
/* What was allocated, after the call has succeeded: its address and bytes. Or what is freed: address alone. */
void nv_call_allocation(enum nv_form form, const void *params, uint64_t *address, uint64_t *bytes);

/* ---- state ---------------------------------------------------------------------------------------------------- */

/* One of the parts of a sum, alone on its cache line: threads that launch at the same time write to different ones. */
struct nv_part {
	_Alignas(64) _Atomic int64_t n;
};
#define NV_N_PARTS 16u

/* What the program has made of the measurement, as far as we have followed. */
enum nv_off {
	NV_ON,
	NV_DROPPING, /* off, but CUPTI goes on: launches are passed over, their records and all samples dropped */
	NV_OFF       /* CUPTI neither tells nor records nor samples; what was launched before is still told */
};

/* The last launch of a graph that a record came of. */
struct nv_graph {
	uint64_t id;                         /* of the launch; 0: none */
	uint32_t graph;
	uint32_t n;                          /* records of it */
	uint32_t least;                      /* the fewest that a launch before it had; 0: there was none */
};

struct nv_state {
	const struct gpu_host *host;
	uint32_t generation;
	int pid;
	struct nv_part open[NV_N_PARTS];     /* launches, but of graphs, without a record yet: see nv_open_add */
	struct nv_library lib;
	struct nv_options options;
	CUpti_SubscriberHandle subscriber;
	struct nv_call calls[NV_MAX_CALLS];
	_Atomic uint64_t ids;                /* for widen */
	struct nv_map graphs;                /* nv_graph.c: launches of graphs without a record yet, by id */
	pthread_mutex_t graph_lock;
	struct nv_graph last_launches[NV_MAX_GRAPHS]; /* under graph_lock */
	_Atomic uint64_t kernel_ns[NV_MAX_DEVICES]; /* sum of the kernels that were recorded, where instructions are sampled */
	_Atomic uint32_t n_capturing;        /* streams that are captured now, at least */
	/* nv_buffer.c */
	_Atomic(uint8_t *) buffer[NV_N_BUFFERS];
	_Atomic uint64_t taken[(NV_N_BUFFERS + 63) / 64];
	_Atomic uint32_t n_outstanding;      /* buffers that CUPTI has */
	_Atomic uint64_t n_unfinished;       /* records that came without times: what they are of may still run */
	_Atomic int unfinished;              /* enum msr_gpu_loss of records that come without times */
	/* nv_flush.c */
	pthread_mutex_t flush_lock;          /* around flushes, which wait for CUPTI's thread */
	sem_t wake;
	bool end_was_in_vain;                /* the end comes in steps, and the time that it may wait is over */
	_Atomic uint64_t rests_until_ns;     /* the process may be ending */
	_Atomic bool is_over;                /* exit() was called: CUPTI is not touched any more */
	/* nv_switch.c */
	_Atomic bool wants_off;              /* what was asked for last */
	_Atomic bool has_no_records;         /* what is launched now has none */
	_Atomic bool has_no_calls;           /* callbacks of calls are off: one that is told to begin may not be told to end */
	_Atomic uint32_t n_callers;          /* measured threads that were told of a call */
	enum nv_off off;                     /* under the guard */
	bool has_begun;                      /* it was on, with a context; likewise */
	/* nv_device.c */
	pthread_mutex_t define_lock;
	uint32_t device[NV_MAX_DEVICES];     /* id of the host's, 0: not defined; under define_lock */
	struct nv_map contexts, queues;
	/* nv_code.c; what is called a code object below is the first of equal content, on whichever device */
	struct nv_map contents;              /* half of the content's hash -> the first code object with it */
	struct nv_map on_devices;            /* such a one, device -> the code object of this content on this device */
	_Atomic bool has_twins;              /* there is content on several devices */
	/* nv_kernel.c */
	struct nv_map names;                 /* hash of a kernel's name -> code object that has it, or the last two */
	struct nv_map handles;               /* module, library, kernel, function -> code object, or handle of what it is in */
	struct nv_map launches;              /* id -> code object, where the name does not tell */
	struct nv_map kernels;               /* address of a kernel's name, which CUPTI keeps for each kernel -> code object and part of the hash; likewise */
	_Atomic uint32_t n_ambiguous;        /* names that more than one code object has */
	/* nv_callback.c */
	struct nv_map allocations;           /* address -> bytes */
};
/* Set once, when all of it is ready. */
extern struct nv_state nv;

/* A note for the user, behind "gpu=nvidia: ". */
void nv_note(const char *a, const char *b, const char *c);
/* CUPTI's name of a result. */
const char *nv_result_name(CUptiResult r);

/* Whether this process is still the one that came in. False in the child of a fork, for good. */
bool nv_is_here(void);

/* ---- nv_callback.c -------------------------------------------------------------------------------------------- */

void CUPTIAPI nv_callback(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data);

/* ---- nv_buffer.c: what CUPTI asks for --------------------------------------------------------------------------- */

void CUPTIAPI nv_buffer_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void CUPTIAPI nv_buffer_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

/* ---- nv_record.c ---------------------------------------------------------------------------------------------- */

void nv_record(const CUpti_Activity *record);

/* ---- nv_device.c ---------------------------------------------------------------------------------------------- */

/* The host's id of a stream; 0: none. */
uint32_t nv_queue(uint32_t device, uint32_t context, uint32_t stream);
/* A context was made. */
void nv_context_made(CUcontext handle);
/* The host's id of a device by its number in CUDA, defined when it is new; 0: none. */
uint32_t nv_device(uint32_t ordinal);
/* The host's id of a context by CUPTI's number, defined when it is new; 0: none. */
uint32_t nv_context(uint32_t device, uint32_t context);
/* An attribute of a device; 0: unknown. */
uint32_t nv_device_attribute(CUdevice device, CUdevice_attribute what);

/* ---- nv_code.c ------------------------------------------------------------------------------------------------ */

/* A module was loaded, in the thread that loads it; its image is good during the call alone. Returns the host's id of the first code object with this content, on whichever device; 0: none. */
uint32_t nv_code_loaded(CUcontext context, const void *image, size_t bytes);
/* The host's id of the same content on a device: kernels of several GPUs are told apart by it, and so are their samples. 0: code is 0. */
uint32_t nv_code_on(uint32_t code, uint32_t device);
/* Calls `each` with the names of all kernels in a cubin. `image` may be anything. */
void nv_code_names(const void *image, size_t bytes, void (*each)(void *arg, const char *name), void *arg);

/* ---- nv_kernel.c: which code object a kernel is of --------------------------------------------------------------- */

/* A code object has a kernel of this name. Under nv.define_lock. */
void nv_kernel_named(const char *name, uint32_t code);
/* A call is entered, and a module was loaded since then, in this thread. */
void nv_kernel_begin(void);
void nv_kernel_loaded(uint32_t code);
/* A call of form LOAD or GET has succeeded. */
void nv_kernel_handle(enum nv_form form, const void *params);
/* Whether nv_kernel_launched would do anything. */
bool nv_kernel_is_followed(void);
/* A kernel was launched, with this function or kernel, as the operation `id`. */
void nv_kernel_launched(uint64_t id, const void *function, const char *name);
/* The code object of the kernel in a record; 0: not known. */
uint32_t nv_kernel_code(uint64_t id, const char *name);

/* ---- nv_flush.c ----------------------------------------------------------------------------------------------- */

/* Starts the thread that asks for records every 100 ms, and registers the end. False: no thread. Samples of the caller are suspended, its signals blocked. */
bool nv_flush_start(void);
/*
 * Launches, but of graphs, without a record yet: more or fewer, in the calling thread's part of the sum; the sum of all parts, right only when nobody adds; and the same with all set to 0.
 * Signal-safe.
 */
void nv_open_add(int64_t n);
int64_t nv_open_count(void);
int64_t nv_open_take(void);
/* Counts what was launched and has no record yet as never done: no more records come. */
void nv_flush_count_missing(void);
/* From a request callback: there are many buffers out. Never waits. */
void nv_flush_soon(void);
/* Takes the one guard around CUPTI calls that may wait (flushes, PC sampling). False: not until then. */
bool nv_guard_take(uint64_t until_ns);
void nv_guard_give(void);
/* Under the guard: asks for records until CUPTI has no buffer any more, so that nothing runs on any device whose kernels are traced. False: not until then. */
bool nv_flush_until_idle(uint64_t until_ns);

/* ---- nv_graph.c ------------------------------------------------------------------------------------------------ */

/* A graph's launch will have records, or will have none after all. */
void nv_graph_launched(uint64_t id);
void nv_graph_taken_back(uint64_t id);
/* A record came, with times or without, of this launch of this graph (CUPTI's number). Any thread. */
void nv_graph_record(uint32_t graph, uint64_t id);
/* No more records come: launches without any are lost, and so are nodes of a graph's last launch that its launches before had records of. Each is told once. */
void nv_graph_count_missing(void);

/* ---- nv_switch.c ---------------------------------------------------------------------------------------------- */

/* Coming in has gone well: from here on the program's starts and stops are followed, one that came before at once. */
void nv_switch_start(void);
/* In the thread that makes a call. */
void nv_switch_count_caller(void);
/* A measured thread ends. */
void nv_switch_thread_ends(void);
/* Every 100 ms, under the guard: follows what was not possible at once. */
void nv_switch_work(void);

/* ---- nv_inject.c ---------------------------------------------------------------------------------------------- */

/* Switches the callbacks of calls that make operations; and the kinds of records of what the device did, giving the first error. */
void nv_calls_switch(bool on);
CUptiResult nv_records_switch(bool on);

/* Begins to measure for this host; once in a process. */
void nv_come_in(const struct gpu_host *host);
/* The function that the driver calls. Always 1: the driver goes on. */
int InitializeInjection(void);

#endif
