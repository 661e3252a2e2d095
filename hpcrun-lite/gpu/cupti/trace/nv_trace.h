/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tracing: the program's calls (nv_callback.c), the records of what the device did (nv_buffer.c,
 * nv_record.c), and their state. Unless it says otherwise, a function may be called in any thread,
 * never in a signal handler. Tests: tests/unit/cupti/test_cupti.c,
 * tests/unit/cupti/test_cupti_record.c, tests/unit/cupti/test_cupti_switch.c.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_TRACE_NV_TRACE_H
#define HPCRUN_LITE_GPU_CUPTI_TRACE_NV_TRACE_H

#include "hpcrun-lite/gpu/cupti/nv_shared.h"

#include <signal.h>

struct cupti_table; /* front/front.h */

#define NV_MAX_CALLS 1536u       /* callback ids of the driver API that we handle */
#define NV_BUFFER_BYTES ((size_t)256 << 10)
#define NV_N_BUFFERS 160u /* at most 40 MiB; after that CUPTI drops records and counts them */
#define NV_MOST_BUFFERS 1024u    /* ... or crashes: see nv_version_needs_buffers */
#define NV_MANY_BUFFERS 120u     /* from here on we force CUPTI to deliver */
/* number of allocations whose size we remember until they are freed */
#define NV_MAX_ALLOCATIONS ((size_t)1 << 20)
/* we count the launches of this many graphs, the most recently launched */
#define NV_MAX_GRAPHS 1024u
/* launches in flight of kernels whose name does not identify their code */
#define NV_MAX_LAUNCHES ((size_t)1 << 18)

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
	/* a size_t; the number is that of the argument, from 0 */
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
	 * enum msr_gpu_kind. 0 with a form: the call makes no operation, but we follow it. 0
	 * without a form: we ignore the call.
	 */
	uint8_t kind;
	uint8_t detail;    /* SYNC, ALLOC, FREE */
	uint8_t form;      /* enum nv_form */
	bool waits;        /* a copy for which the CPU waits */
	bool is_new;       /* an unknown variant of a call that we know */
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
/* The bytes that a call of form ALLOC, PITCH, ARRAY or REGISTER asks for; 0: unknown. */
uint64_t nv_call_asked(enum nv_form form, const void *params);
/* The driver's result of a call that ends. */
static inline uint32_t nv_call_error(const CUpti_CallbackData *d)
{
	return d->functionReturnValue ? (uint32_t) * (const CUresult *)d->functionReturnValue : 0;
}
/* The class of a callback id of the driver API. NULL: we did not ask CUPTI for this call. */
const struct nv_call *nv_call_at(CUpti_CallbackId id);

/* ---- state: nv_trace.c ---- */

/*
 * One part of a sum, on a cache line of its own, so that threads that launch at the same time write
 * to different lines.
 */
struct nv_part {
	_Alignas(64) _Atomic int64_t n;
};
#define NV_N_PARTS 16u

/* The last launch of a graph for which a record arrived. */
struct nv_graph {
	uint64_t id;                         /* of the launch; 0: none */
	uint32_t graph;
	uint32_t n;     /* number of its records */
	uint32_t least; /* smallest number of an earlier launch; 0: there was none */
};

/*
 * What nv_kernel.c found for a launched handle. `mixed` is the handle xor `value`, so that a torn
 * read is a miss.
 */
struct nv_found {
	_Atomic uint64_t mixed, value;
};
#define NV_N_FOUND 1024u

struct nv_trace {
	/* number of launches, except of graphs, that have no record yet: see nv_open_add */
	struct nv_part open[NV_N_PARTS];
	struct nv_call calls[NV_MAX_CALLS]; /* constant once enabled */
	/* nv_graph.c */
	struct nv_map graphs; /* launches of graphs that have no record yet, by id */
	pthread_mutex_t graph_lock;
	struct nv_graph last_launches[NV_MAX_GRAPHS]; /* under graph_lock */
	_Atomic int unfinished;              /* enum msr_gpu_loss for records without times */
	/* nv_buffer.c */
	_Atomic(uint8_t *) buffer[NV_MOST_BUFFERS];
	_Atomic uint64_t taken[(NV_MOST_BUFFERS + 63) / 64];
	/* nv_flush.c */
	/* the end has several steps, and the time that it may wait is used up */
	bool end_was_in_vain;
	/* our thread pauses until then, because the process may be ending */
	_Atomic uint64_t rests_until_ns;
	/* nv_switch.c */
	_Atomic bool wants_off;              /* the last request */
	_Atomic bool has_no_records;         /* launches get no records at present */
	_Atomic uint32_t n_callers;          /* measured threads that made a call */
	/* nv_yield.c, nv_client.c */
	_Atomic bool is_away;                /* records go to a profiler of the program */
	_Atomic bool has_client;             /* the program called CUPTI at some time */
	/* nv_kernel.c */
	struct nv_map names; /* hash of a kernel's name -> its code object, or the two latest */
	/*
	 * Module, library, kernel or function -> its code object, or the handle that it belongs to.
	 */
	struct nv_map handles;
	struct nv_map launches; /* id -> code object, for kernels with an ambiguous name */
	/*
	 * Address of a kernel's name, which CUPTI keeps per kernel -> code object(s) and part of
	 * the hash.
	 */
	struct nv_map kernels;
	_Atomic uint32_t n_ambiguous;        /* number of names that several code objects have */
	_Atomic uint32_t n_kernel_changes;   /* number of changes of `names` and `handles` */
	struct nv_found found[NV_N_FOUND];
	/* nv_memory.c */
	struct nv_map allocations;           /* address -> bytes */
	struct nv_map owners;                /* address -> low bits of the id of its ALLOC */
};
/* Only for the files of this folder. */
extern struct nv_trace nv_trace;

/* Sets up nv_trace. Call after nv_state_prepare. */
void nv_trace_prepare(void);

/* ---- nv_callback.c ---- */

void CUPTIAPI nv_callback(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			  const void *data);

/* ---- nv_memory.c: calls that allocate and free ---- */

/* A call of kind ALLOC or FREE is entered, or ends. */
void nv_memory_enter(const struct nv_call *c, const CUpti_CallbackData *d);
void nv_memory_leave(const struct nv_call *c, const CUpti_CallbackData *d, uint64_t enter_ns,
		     bool good);
/* What is freed from now on is not seen. */
void nv_memory_forget(void);

/* ---- nv_buffer.c: what CUPTI asks for ---- */

void CUPTIAPI nv_buffer_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void CUPTIAPI nv_buffer_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
				 size_t valid_bytes);

/* ---- nv_record.c ---- */

void nv_record(const CUpti_Activity *record);

/* ---- nv_kernel.c: which code object a kernel is of ---- */

/* For nv_code_loaded. */
nv_code_named_fn nv_kernel_named;
/* begin: the thread enters a call. loaded: the thread has loaded a module in that call. */
void nv_kernel_begin(void);
void nv_kernel_loaded(uint32_t code);
/* Call after a call of form LOAD or GET that succeeded. */
void nv_kernel_handle(enum nv_form form, const void *params);
/* Returns true if nv_kernel_launched must be called for launches. */
bool nv_kernel_is_followed(void);
/* Operation `id` launched a kernel with this function or kernel handle. */
void nv_kernel_launched(uint64_t id, const void *function, const char *name);
/* The code object of the kernel in a record; 0: unknown. */
uint32_t nv_kernel_code(uint64_t id, const char *name);

/* ---- nv_flush.c ---- */

/*
 * Starts the thread that asks for records every 100 ms, and registers the functions for the end.
 * Returns false if there is no thread. The caller has suspended its samples and blocked its
 * signals.
 */
bool nv_flush_start(void);
/* Takes all records from CUPTI. Records of operations in flight are lost, with this cause. */
void nv_flush_force(enum msr_gpu_loss cause);

/* ---- nv_open.c: launches without a record so far ---- */

/*
 * The number of launches, except of graphs, that have no record yet. add changes the calling
 * thread's part. count returns the sum, which is exact only while no thread adds. take returns the
 * sum and sets all parts to 0. Signal-safe.
 */
void nv_open_add(int64_t n);
int64_t nv_open_count(void);
int64_t nv_open_take(void);
/* No more records will come: counts launches without a record as lost (never done). */
void nv_open_count_missing(void);

/* ---- nv_graph.c ---- */

/* launched: this launch of a graph will have records. taken_back: it will have none after all. */
void nv_graph_launched(uint64_t id);
void nv_graph_taken_back(uint64_t id);
/*
 * A record arrived, with or without times, for this launch of this graph (CUPTI's number). Any
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
 * The back end is ready: from now on it follows the program's starts and stops. If measurement is
 * stopped already, it follows that at once.
 */
void nv_switch_start(void);
/* Counts the calling thread as one that makes driver calls. */
void nv_switch_count_caller(void);
/* A measured thread ends. */
void nv_switch_thread_ends(void);
/* Returns true if CUPTI has reported calls of no thread except the caller. */
bool nv_switch_is_only_caller(void);
/* Called every 100 ms under the guard: finishes a switch that was not possible at once. */
void nv_switch_work(void);

/*
 * Under the guard, with launches held: gives up the device's records until nv_switch_back. Records
 * of earlier launches still arrive.
 */
void nv_switch_away(void);
void nv_switch_back(void);

/* ---- nv_client.c: a profiler of the program uses CUPTI ---- */

/* Everything is enabled: from now on we get the program's calls of CUPTI. */
void nv_client_start(void);
static inline bool nv_yield_has_client(void)
{
	return __builtin_expect(
		atomic_load_explicit(&nv_trace.has_client, memory_order_relaxed), 0);
}
/*
 * A callback of CUPTI: calls ours(), and the program's callback if the program asked for this one.
 */
void nv_client_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data,
			void (*ours)(CUpti_CallbackDomain, CUpti_CallbackId, const void *));
/*
 * Call before a call by which the program may use CUPTI for itself. The first time, it ends PC
 * sampling, counters and the recording. Returns false if the call must be passed on to CUPTI
 * unchanged: this is another process, or we no longer use CUPTI.
 */
bool nv_client_comes(void);
/* Returns false if the program already uses another copy of CUPTI; then we must not use ours. */
bool nv_client_is_first(void);
/* CUPTI's own functions. */
extern const struct cupti_table *const nv_client_behind;

/* ---- nv_yield.c: records for a profiler of the program ---- */

/*
 * Call around calls of CUPTI for the program. begin blocks signals, suspends samples and takes the
 * guard, for which it waits at most a second. Returns true if it has the guard. nv_yield_end must
 * follow in any case.
 */
bool nv_yield_begin(sigset_t *old);
void nv_yield_end(bool is_guarded, const sigset_t *old);
/* Puts the functions for the program's records into its table. */
void nv_yield_fill(struct cupti_table *t);
/* The program ends its use of records: cuptiFinalize. */
void nv_yield_finalize(void);
/* CUPTI asks for a buffer. Returns false if the records are ours. */
bool nv_yield_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
/* CUPTI returns a buffer that is not ours. */
void nv_yield_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
		       size_t valid_bytes);
/* Called every 100 ms under the guard. */
void nv_yield_work(void);
/* Under the guard, at the end: writes a note that says how long records went to the program. */
void nv_yield_say(void);
static inline bool nv_yield_is_away(void)
{
	return atomic_load_explicit(&nv_trace.is_away, memory_order_acquire);
}

/* ---- nv_enable.c: what CUPTI is asked for ---- */

/* Enables the kinds of records that the options want. Returns the first error. */
CUptiResult nv_records_enable(void);
/* Disables all kinds of records, when the back end gives up. */
void nv_records_disable(void);
/* Makes records use our clock. */
CUptiResult nv_records_set_clock(void);
/* Switches records with times on or off. Returns the first error. */
CUptiResult nv_records_switch(bool on);
/* Enables the callbacks. Call before anything is launched. Returns the first error. */
CUptiResult nv_calls_enable(void);
/* Switches the callbacks of calls that make operations on or off. */
void nv_calls_switch(bool on);

#endif
