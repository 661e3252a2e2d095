/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The back end for NVIDIA GPUs; declarations shared by its parts.
 *
 * The CUDA driver loads the module (CUDA_INJECTION64_PATH) and calls InitializeInjection inside
 * cuInit. From then on CUPTI calls us at each driver API call that we subscribed to, in the
 * program's thread (nv_callback.c), and delivers buffers of records of what the device did, in a
 * thread of its own (nv_buffer.c, nv_record.c). CUPTI's correlation id is the only link between the
 * two. All times are CLOCK_MONOTONIC, because CUPTI takes its time from us.
 *
 * CUPTI and the driver are found by name at run time (nv_library.c); the module links only libc. A
 * launch and its operations have the id 2 x correlation id. The wait inside a blocking copy has
 * that id plus 1, because it is an operation of the same call.
 *
 * Unless it says otherwise, a function may be called in any thread, never in a signal handler, and
 * keeps errno. Tests: tests/unit/cupti/test_cupti.c, tests/cli/gpu/cupti_trace.sh,
 * tests/gpu/trace.sh.
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

/* From cuptiGetVersion. Records have the layout of CUDA 13.0; later versions only append fields. */
#define NV_LEAST_CUPTI 130000u
#define NV_MAX_CALLS 1536u       /* callback ids of the driver API that we handle */
#define NV_MAX_DEVICES 64u
#define NV_BUFFER_BYTES ((size_t)256 << 10)
#define NV_N_BUFFERS 160u /* at most 40 MiB; after that CUPTI drops records and counts them */
#define NV_MANY_BUFFERS 120u     /* from here on we force CUPTI to deliver */
#define NV_MAX_ALLOCATIONS ((size_t)1 << 20) /* whose size we know when they are freed */
#define NV_MAX_NAMES ((size_t)1 << 20)
#define NV_MAX_GRAPHS 1024u /* most recently launched graphs whose launches we count */
/* Streams and contexts. If a program makes more, further streams of a context share one queue. */
#define NV_MAX_QUEUES ((size_t)1 << 16)
/* entries reserved for these shared queues, one for each context */
#define NV_MAX_FURTHER ((size_t)1 << 10)
/* in flight, of kernels whose name does not identify their code */
#define NV_MAX_LAUNCHES ((size_t)1 << 18)

/* ---- nv_library.c ---- */

#define NV_CUPTI_FUNCTIONS(F) \
	F(cuptiGetVersion) F(cuptiGetResultString) F(cuptiSubscribe_v2) F(cuptiUnsubscribe) \
	F(cuptiEnableCallback) F(cuptiGetCallbackName) F(cuptiActivityRegisterCallbacks) \
	F(cuptiActivityRegisterTimestampCallback) F(cuptiActivityEnableLatencyTimestamps) \
	F(cuptiActivityEnable) F(cuptiActivityDisable) F(cuptiActivityFlushAll) \
	F(cuptiActivityGetNextRecord) F(cuptiActivityGetNumDroppedRecords) F(cuptiGetContextId) \
	F(cuptiGetDeviceId) F(cuptiGetGraphNodeId) F(cuptiPCSamplingEnable) \
	F(cuptiPCSamplingDisable) F(cuptiPCSamplingGetData) F(cuptiPCSamplingGetNumStallReasons) \
	F(cuptiPCSamplingGetStallReasons) F(cuptiPCSamplingSetConfigurationAttribute) \
	F(cuptiPCSamplingGetConfigurationAttribute) F(cuptiRegisterComputeCrcCallback)
#define NV_DRIVER_FUNCTIONS(F) \
	F(cuDeviceGetName) F(cuDeviceGetAttribute) F(cuDeviceTotalMem_v2) F(cuDeviceGetUuid_v2) \
	F(cuDriverGetVersion) F(cuCtxSynchronize_v2)

/* Decisions that depend on something that no event of a recording shows. Append only. */
enum nv_agree {
	NV_AGREE_BURST, /* a window begins or ends, depending on the number of launches */
	NV_AGREE_GATE,  /* the gate in front of launches was closed in time */
	NV_AGREE_ALONE  /* the thread that stops measurement is the only one that uses CUDA */
};

#define NV_FIELD(name) __typeof__(&name) name;
struct nv_library {
	NV_CUPTI_FUNCTIONS(NV_FIELD)
	NV_DRIVER_FUNCTIONS(NV_FIELD)
	/*
	 * What the back end asks its own process where time or order matter. It is in this table so
	 * that a recording keeps the answers and a replay repeats them. now_ns: CLOCK_MONOTONIC
	 * now.
	 */
	uint64_t (*now_ns)(void);
	/* Waits for *wake, at most until `until_ns`; for our own threads. */
	void (*wait)(sem_t *wake, uint64_t until_ns);
	/*
	 * Locks a mutex that is held while CUPTI is called; pthread_mutex_unlock releases it.
	 * until_ns 0: no time limit, and never false.
	 */
	bool (*lock)(pthread_mutex_t *m, uint64_t until_ns);
	/*
	 * Keeps the order of two actions that other threads see separately in a recording. Does
	 * nothing else.
	 */
	void (*point)(void);
	/*
	 * Returns `mine`, or in a replay the recorded value. For decisions that depend on something
	 * that no event of a recording shows, such as the number of launches of other threads.
	 */
	bool (*agree)(enum nv_agree what, bool mine);
	/* Starts a detached thread of our own, run(arg). Returns false on failure. */
	bool (*spawn)(void *(*run)(void *arg), void *arg);
	/* exit() was called; and at_end of the host. */
	void (*at_exit)(void (*fn)(void));
	void (*at_end)(void (*fn)(uint64_t may_wait_ns));
	/* on_switch of the host. */
	void (*on_switch)(void (*fn)(bool on));
	/* See nv_pc_lock. */
	int (*lock_gpu)(const CUuuid *uuid, char *path, size_t path_bytes);
	unsigned version;      /* CUPTI's */
	const char *path;      /* path of CUPTI, for people; valid until the process ends */
	const void *cupti_text, *driver_text; /* addresses in the two libraries */
};
#undef NV_FIELD

/*
 * Finds CUPTI: `preferred` if it is not "", otherwise one that is already loaded, the loader's, the
 * usual places, and the toolkit of the build. Uses the driver that the process has loaded; with
 * `load_driver`, for the launcher, it loads the driver. Returns false and sets `why` on failure.
 */
bool nv_library_open(struct nv_library *l, const char *preferred, bool load_driver, char *why,
		     size_t why_bytes);
/* If set, nv_library_open returns this instead. Only in a replay, never in a measured process. */
extern const struct nv_library *nv_library_stand_in;
/*
 * Sets the functions that ask the process itself: the real clock, locks and threads.
 * nv_library_open calls this too.
 */
void nv_library_own(struct nv_library *l);
/*
 * Gets the value of the option "cupti=PATH" of gpu=nvidia; "" if it is not given. `path` is cut to
 * `bytes`.
 */
void nv_library_preferred(const char *options, char *path, size_t bytes);

/* ---- nv_calls.c ---- */

/* How to find the amount, or another value, in the arguments of a call. */
enum nv_form {
	NV_FORM_NONE,
	NV_FORM_ALLOC,     /* where to store the address, bytes */
	NV_FORM_PITCH,     /* where to store the address, where to store the pitch, width, height */
	NV_FORM_ARRAY,     /* where to store the handle, a two-dimensional descriptor */
	NV_FORM_ARRAY3,    /* ... a three-dimensional descriptor */
	NV_FORM_REGISTER,  /* address, bytes */
	NV_FORM_FREE,      /* address or handle */
	/* a size_t that is the argument of that number, from 0 */
	NV_FORM_AMOUNT_2, NV_FORM_AMOUNT_3, NV_FORM_AMOUNT_4,
	NV_FORM_COPY_2D, NV_FORM_COPY_3D, /* a descriptor */
	NV_FORM_SET_2D,
	NV_FORM_LAUNCH, NV_FORM_LAUNCH_EX, /* the function is the first or the second argument */
	/* no operation: */
	NV_FORM_CAPTURE_BEGIN, NV_FORM_CAPTURE_END,
	NV_FORM_LOAD,      /* where to store the module or library */
	/* Where to store the module, library or kernel; the object that it belongs to. */
	NV_FORM_GET
};

struct nv_call {
	/*
	 * enum msr_gpu_kind. 0 with a form: a call of stream capture. 0 without: a call that we
	 * ignore.
	 */
	uint8_t kind;
	uint8_t detail;    /* SYNC, ALLOC, FREE */
	uint8_t form;      /* enum nv_form */
	bool waits;        /* a copy for which the CPU waits */
	bool is_new;       /* an unknown variant of a known call */
};
/*
 * Classifies a driver API function by the name that CUPTI gives it ("cuMemcpyHtoD_v2_ptds"). All
 * zero: we ignore it.
 */
struct nv_call nv_call_of(const char *name);
/* Returns false if the call requests 0 bytes; CUPTI then writes no record. */
bool nv_call_has_amount(enum nv_form form, const void *params);
/* The function or kernel that a call launches; NULL: unknown. */
const void *nv_call_function(enum nv_form form, const void *params);
/*
 * After a successful call: the address and size of an allocation, or the address of what was freed.
 */
void nv_call_allocation(enum nv_form form, const void *params, uint64_t *address, uint64_t *bytes);

/* ---- state ---- */

/*
 * One part of a sum, on a cache line of its own, so that threads that launch at the same time write
 * to different lines.
 */
struct nv_part {
	_Alignas(64) _Atomic int64_t n;
};
#define NV_N_PARTS 16u

/* How far the back end has followed a stop of the measurement. */
enum nv_off {
	NV_ON,
	/* off, but CUPTI still works: launches, their records and samples are dropped */
	NV_DROPPING,
	/* CUPTI neither calls us nor records nor samples. Earlier launches are still delivered. */
	NV_OFF
};

/* The last launch of a graph for which a record arrived. */
struct nv_graph {
	uint64_t id;                         /* of the launch; 0: none */
	uint32_t graph;
	uint32_t n;     /* number of its records */
	uint32_t least; /* smallest number of an earlier launch; 0: there was none */
};

struct nv_state {
	const struct gpu_host *host;
	uint32_t generation;
	int pid;
	/* launches without a record so far, except of graphs: see nv_open_add */
	struct nv_part open[NV_N_PARTS];
	struct nv_library lib;
	struct nv_options options;
	CUpti_SubscriberHandle subscriber;
	struct nv_call calls[NV_MAX_CALLS];
	_Atomic uint64_t ids; /* for widen */
	struct nv_map graphs; /* nv_graph.c: launches of graphs without a record so far, by id */
	pthread_mutex_t graph_lock;
	struct nv_graph last_launches[NV_MAX_GRAPHS]; /* under graph_lock */
	/* Total duration of recorded kernels; only kept if PC sampling is on. */
	_Atomic uint64_t kernel_ns[NV_MAX_DEVICES];
	_Atomic uint32_t n_capturing;        /* at least this many streams are being captured */
	/* nv_buffer.c */
	_Atomic(uint8_t *) buffer[NV_N_BUFFERS];
	_Atomic uint64_t taken[(NV_N_BUFFERS + 63) / 64];
	_Atomic uint32_t n_outstanding;      /* buffers that CUPTI holds */
	/* Records without times; their operations may still run. */
	_Atomic uint64_t n_unfinished;
	_Atomic int unfinished;              /* enum msr_gpu_loss for records without times */
	/* nv_flush.c */
	pthread_mutex_t flush_lock; /* held during flushes, which wait for CUPTI's thread */
	sem_t wake;
	bool end_was_in_vain; /* the end is in several steps; its waiting time is used up */
	_Atomic uint64_t rests_until_ns;     /* the process may be ending */
	_Atomic bool is_over;                /* exit() was called: do not touch CUPTI any more */
	/* nv_switch.c */
	_Atomic bool wants_off;              /* the last request */
	_Atomic bool has_no_records;         /* launches get no records now */
	/* Callbacks of calls are off. A call whose begin we saw may have no end. */
	_Atomic bool has_no_calls;
	_Atomic uint32_t n_callers;          /* measured threads that made a call */
	enum nv_off off;                     /* under the guard */
	bool has_begun; /* measurement was on while there was a context; under the guard */
	/* nv_device.c */
	pthread_mutex_t define_lock;
	uint32_t device[NV_MAX_DEVICES];     /* the host's id; 0: not defined; under define_lock */
	struct nv_map contexts, queues;
	/*
	 * nv_code.c. Below, "code object" means the first one with this content, on any device.
	 * `contents` maps half of the content's hash to it.
	 */
	struct nv_map contents;
	/* (code object, device) -> code object with this content on this device */
	struct nv_map on_devices;
	_Atomic bool has_twins;              /* some content is on several devices */
	/* nv_kernel.c */
	struct nv_map names; /* hash of a kernel's name -> its code object, or the last two */
	/* Module, library, kernel or function -> code object, or handle of what it belongs to. */
	struct nv_map handles;
	struct nv_map launches;              /* id -> code object, if the name is not enough */
	/*
	 * Address of a kernel's name, which CUPTI keeps per kernel -> code object(s) and part of
	 * the hash.
	 */
	struct nv_map kernels;
	_Atomic uint32_t n_ambiguous;        /* names that several code objects have */
	/* nv_callback.c */
	struct nv_map allocations;           /* address -> bytes */
};
/* Set once, when everything in it is ready. */
extern struct nv_state nv;

/* A note for the user that starts with "gpu=nvidia: ". */
void nv_note(const char *a, const char *b, const char *c);
/* CUPTI's name of a result code. */
const char *nv_result_name(CUptiResult r);

/* Returns true if this is still the process that the back end entered; false in a forked child. */
bool nv_is_here(void);

/* ---- nv_callback.c ---- */

void CUPTIAPI nv_callback(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			  const void *data);

/* ---- nv_buffer.c: what CUPTI asks for ---- */

void CUPTIAPI nv_buffer_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void CUPTIAPI nv_buffer_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
				 size_t valid_bytes);

/* ---- nv_record.c ---- */

void nv_record(const CUpti_Activity *record);

/* ---- nv_device.c ---- */

/* The host's id of a stream; 0: none. */
uint32_t nv_queue(uint32_t device, uint32_t context, uint32_t stream);
/* A context was made. */
void nv_context_made(CUcontext handle);
/* The host's id of a device by its CUDA number; defines it when it is new. 0: none. */
uint32_t nv_device(uint32_t ordinal);
/* The host's id of a context by CUPTI's number; defines it when it is new. 0: none. */
uint32_t nv_context(uint32_t device, uint32_t context);
/* An attribute of a device; 0: unknown. */
uint32_t nv_device_attribute(CUdevice device, CUdevice_attribute what);

/* ---- nv_code.c ---- */

/*
 * A module was loaded; call this in the loading thread. The image is valid only during the call.
 * Returns the host's id of the first code object with this content on any device; 0: none.
 */
uint32_t nv_code_loaded(CUcontext context, const void *image, size_t bytes);
/*
 * The host's id of the same content on a device. It separates the kernels and samples of several
 * GPUs. 0 if `code` is 0.
 */
uint32_t nv_code_on(uint32_t code, uint32_t device);
/* Calls `each` with the name of every kernel in a cubin. `image` may contain anything. */
void nv_code_names(const void *image, size_t bytes, void (*each)(void *arg, const char *name),
		   void *arg);

/* ---- nv_kernel.c: which code object a kernel is of ---- */

/* A code object contains a kernel with this name. The caller holds nv.define_lock. */
void nv_kernel_named(const char *name, uint32_t code);
/* begin: the thread enters a call. loaded: a module was loaded in this thread since then. */
void nv_kernel_begin(void);
void nv_kernel_loaded(uint32_t code);
/* A call of form LOAD or GET succeeded. */
void nv_kernel_handle(enum nv_form form, const void *params);
/* Returns true if nv_kernel_launched has something to do. */
bool nv_kernel_is_followed(void);
/* A kernel was launched with this function or kernel handle, as operation `id`. */
void nv_kernel_launched(uint64_t id, const void *function, const char *name);
/* The code object of the kernel in a record; 0: unknown. */
uint32_t nv_kernel_code(uint64_t id, const char *name);

/* ---- nv_flush.c ---- */

/*
 * Starts the thread that asks for records every 100 ms, and registers the end. Returns false if
 * there is no thread. The caller has suspended its samples and blocked its signals.
 */
bool nv_flush_start(void);
/*
 * The number of launches without a record so far, except of graphs. add changes the calling
 * thread's part. count returns the sum, which is exact only while nobody adds. take returns the sum
 * and sets all parts to 0. Signal-safe.
 */
void nv_open_add(int64_t n);
int64_t nv_open_count(void);
int64_t nv_open_take(void);
/* No more records will come: counts launches without a record as never done. */
void nv_flush_count_missing(void);
/* Called in a request callback when CUPTI holds many buffers. Never waits. */
void nv_flush_soon(void);
/*
 * Takes the guard around CUPTI calls that may wait (flushes, PC sampling). Returns false if that
 * takes longer than until_ns.
 */
bool nv_guard_take(uint64_t until_ns);
void nv_guard_give(void);
/*
 * Under the guard: asks for records until CUPTI holds no buffer, so that no traced kernel runs on
 * any device. Returns false if that takes longer than until_ns.
 */
bool nv_flush_until_idle(uint64_t until_ns);

/* ---- nv_graph.c ---- */

/* A launch of a graph will have records; or it will have none after all. */
void nv_graph_launched(uint64_t id);
void nv_graph_taken_back(uint64_t id);
/*
 * A record, with times or without, arrived for this launch of this graph (CUPTI's number). Any
 * thread.
 */
void nv_graph_record(uint32_t graph, uint64_t id);
/*
 * No more records will come. Launches without any record are lost, and so are nodes of a graph's
 * last launch for which its earlier launches had records. Each is reported once.
 */
void nv_graph_count_missing(void);

/* ---- nv_switch.c ---- */

/*
 * The back end is ready: from here on it follows the program's starts and stops, and an earlier
 * stop at once.
 */
void nv_switch_start(void);
/* Called in a thread that makes a driver call. */
void nv_switch_count_caller(void);
/* A measured thread ends. */
void nv_switch_thread_ends(void);
/* Called every 100 ms under the guard: does what was not possible at once. */
void nv_switch_work(void);

/* ---- nv_inject.c ---- */

/*
 * Switch the callbacks of calls that make operations, and the kinds of records. nv_records_switch
 * returns the first error.
 */
void nv_calls_switch(bool on);
CUptiResult nv_records_switch(bool on);

/* Starts to measure for this host. Once per process. */
void nv_come_in(const struct gpu_host *host);
/* The function that the driver calls. Always returns 1, so that the driver continues. */
int InitializeInjection(void);

#endif
