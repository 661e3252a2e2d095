/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OpenCL back end; declarations shared by its files: the functions behind ours, the state of
 * the process, and the functions of each file. doc/opencl.md explains how it works. Everything runs
 * in threads of the program inside calls of OpenCL, never in signal handlers.
 *
 * Do not call OpenCL while holding one of our locks, except for simple queries (clGet...Info):
 * callbacks of the program may run inside any other call. Tests: tests/unit/opencl/test_opencl_*.c
 * with a fake implementation, tests/cli/opencl/ocl_*.sh with a real one.
 */
#ifndef HPCRUN_LITE_GPU_OPENCL_OCL_H
#define HPCRUN_LITE_GPU_OPENCL_OCL_H

#include "common/safe/clock.h"
#include "hpcrun-lite/gpu/gpu.h"
#include "hpcrun-lite/gpu/opencl/ocl_headers.h"
#include "hpcrun-lite/gpu/opencl/ocl_map.h"
#include "hpcrun-lite/gpu/opencl/ocl_memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Operations in flight that a process remembers. */
#define OCL_MAX_PENDING (UINT32_C(1) << 18)
#define OCL_BATCH 64u /* number of operations of a queue that are examined at a time */

/* ---- entrances (ocl_entrance.c, ocl_layer.c, ocl_preload.c) ---- */

enum ocl_entrance {
	OCL_NOT_IN,
	OCL_LAYER,
	OCL_PRELOAD,
	OCL_SHUT /* preloaded into a process that is not measured */
};
extern _Atomic int ocl_entrance;                  /* enum ocl_entrance */
extern cl_icd_dispatch ocl_next; /* functions behind ours; constant once set; NULL: missing */
extern const cl_icd_dispatch ocl_layer_dispatch;  /* ours */
extern const struct gpu_host *ocl_host;           /* constant once set */

/*
 * Finds the host and reports how we entered the process. Returns false if this process is not
 * measured, or the user did not ask for OpenCL.
 */
bool ocl_enter_process(enum ocl_entrance how);
/* At the first call if we are preloaded: finds the functions behind ours. */
void ocl_preload_start(void);
/*
 * Returns true if `caller` is in the library behind ours, which calls itself by its public names.
 */
bool ocl_preload_is_inner(const void *caller);

/* ---- state of the process (ocl_state.c) ---- */

struct ocl_state {
	uint32_t generation;
	int pid;
	struct ocl_memory memory;
	pthread_mutex_t define;               /* held while definitions are made */
	struct ocl_map devices, contexts, queues, programs, kernels, buffers, mapped;
	_Atomic(struct ocl_queue *) all_queues; /* linked by `next_made` */
	_Atomic uint32_t n_pending;           /* operations in all queues */
	_Atomic uint32_t n_contexts;
	struct ocl_svm *svm;
	_Atomic uint32_t exits_registered;    /* see ocl_state_register_exit */
	atomic_bool after_exit; /* our exit handler has run, so implementations may be gone */
};

/* Number of nested OpenCL calls of the calling thread. */
extern __thread unsigned ocl_depth __attribute__((tls_model("initial-exec")));

/* The slow path of ocl_enter: for the first call, and for calls after a fork or after the end. */
struct ocl_state *ocl_state_slow(const void *caller);
extern _Atomic(struct ocl_state *) ocl_state_now;

/*
 * Call this first in each of our functions, and ocl_leave last. NULL: only pass the call on and
 * record nothing. Inlined, so that the return address is in the program.
 */
static inline __attribute__((always_inline)) struct ocl_state *ocl_enter(void)
{
	ocl_depth++;
	/* Acquire: everything that the state points to is complete. */
	struct ocl_state *s = atomic_load_explicit(&ocl_state_now, memory_order_acquire);
	if (__builtin_expect(atomic_load_explicit(&ocl_entrance, memory_order_relaxed) ==
					     OCL_LAYER &&
				     s && s->generation == ocl_host->generation(ocl_host),
			     1))
		return s;
	return ocl_state_slow(__builtin_return_address(0));
}

static inline void ocl_leave(void)
{
	ocl_depth--;
}

/*
 * Registers an exit handler that collects the pending operations with `fn`. `fn` waits up to
 * may_wait_ns for running operations, delivers them, and gives up the rest. Call this for new
 * queues and first operations: handlers run in reverse order, and ours must run before the
 * implementations' handlers.
 */
enum ocl_end_call { OCL_MAY_NOT_CALL, OCL_MAY_ASK, OCL_MAY_RELEASE };
typedef void ocl_finish_fn(struct ocl_state *s, uint64_t may_wait_ns, enum ocl_end_call end);
void ocl_state_register_exit(struct ocl_state *s, ocl_finish_fn *fn);

/* ---- devices, contexts (ocl_device.c) ---- */

struct ocl_clock;
struct ocl_device {
	cl_device_id handle;
	cl_platform_id platform;
	uint32_t id;             /* of the definition */
	unsigned version;        /* 120, 210, 300 */
	/*
	 * A query for a program's binary makes the implementation compile the program again, so
	 * avoid it.
	 */
	bool binaries_are_dear;
	atomic_bool tells_queued; /* commands had a queueing time */
	struct ocl_clock *clock;
};
/* Made when first seen. NULL: no memory, or a bad handle. The caller holds s->define. */
struct ocl_device *ocl_device_get(struct ocl_state *s, cl_device_id handle);

struct ocl_context {
	uint32_t id;
	_Atomic uint32_t n_queues;
};
/* As ocl_device_get, for a context. */
struct ocl_context *ocl_context_get(struct ocl_state *s, cl_context handle,
				    struct ocl_device *device);
/* A context was just made: forget what we know about its handle. */
void ocl_context_made(struct ocl_state *s, cl_context handle);

/* ---- clocks (ocl_clock.c) ---- */

/* What is known about one operation of a device, to relate its clock to ours. */
struct ocl_moment {
	/*
	 * By our clock: when the call was entered, when it returned (0: unknown), and when we saw
	 * that the operation had ended.
	 */
	uint64_t enter_ns, return_ns, seen_ns;
	uint64_t queued, start, end;           /* by the device's clock */
};
struct ocl_clock *ocl_clock_new(struct ocl_state *s);
uint32_t ocl_clock_id(const struct ocl_clock *c);
/*
 * Returns true if the operation that begins now should be used for a clock pair. Usually a load and
 * a comparison.
 */
bool ocl_clock_wants(struct ocl_clock *c, uint64_t now_ns);
/* Also reads the device's own timer. Call after ocl_clock_wants returned true. */
void ocl_clock_ask_timer(struct ocl_clock *c, const struct ocl_device *d);
void ocl_clock_add(struct ocl_clock *c, const struct ocl_moment *m);
/* Delivers the collected pairs. */
void ocl_clock_flush(struct ocl_clock *c);

/*
 * The bounds that a moment gives for `our clock - the device's`. Returns false if it is
 * inconsistent. For the test.
 */
bool ocl_clock_bounds(const struct ocl_moment *m, int64_t *low, int64_t *high);

/* ---- queues and what they have in flight (ocl_queue.c) ---- */

struct ocl_pending {
	struct ocl_pending *next;
	cl_event event;          /* we own one reference */
	struct gpu_ticket ticket;
	/* return_ns: only for an operation that is used for a clock pair */
	uint64_t amount, enter_ns, return_ns;
	uint32_t shape;
	uint8_t detail;
	bool for_clock;
};

struct ocl_queue {
	cl_command_queue handle;
	struct ocl_device *device;
	uint32_t id;             /* of the definition */
	atomic_bool defined;
	bool forced;             /* profiling is on although the program did not ask for it */
	bool timed;              /* profiling is on */
	bool out_of_order;
	cl_queue_properties *list; /* from the program, 0-terminated; NULL: none */
	size_t list_bytes;
	pthread_mutex_t lock;    /* protects the fields below */
	struct ocl_pending *first, *last, *spare;
	_Atomic uint32_t n_pending; /* may be read without the lock; 0: nothing to examine */
	_Atomic bool is_given_up;   /* its lock could not be taken at the end */
	uint32_t look_at;        /* examine the queue when it has this many pending operations */
	uint32_t interval;       /* number of further operations until the next examination */
	bool dear;               /* queries about events are slow while the device works */
	struct ocl_queue *next_made; /* constant */
};

/* The program just made a queue. `list`: NULL, or as the program gave it. */
void ocl_queue_made(struct ocl_state *s, cl_command_queue handle, bool forced,
		    const cl_queue_properties *list);
/*
 * clCreateCommandQueueWithProperties, or an extension's function with the same signature. Enables
 * profiling; if that is refused, makes the queue as the program asked.
 */
cl_command_queue ocl_create_queue(struct ocl_state *s,
				  OCL_TYPE(clCreateCommandQueueWithProperties) create,
				  cl_context context, cl_device_id device,
				  const cl_queue_properties *list, cl_int *error);
/* NULL if the queue was not made through us and has not been used. */
struct ocl_queue *ocl_queue_find(struct ocl_state *s, cl_command_queue handle);
/* For a handle known to be valid: finds the queue and defines it if necessary. NULL: no memory. */
struct ocl_queue *ocl_queue_get(struct ocl_state *s, cl_command_queue handle);

/* Remembers an operation. Takes over the reference to p->event. */
void ocl_queue_add(struct ocl_state *s, struct ocl_queue *q, const struct ocl_pending *p);
/*
 * Examines all operations in flight and delivers those that have ended. Call when the program has
 * just waited, or releases something.
 */
void ocl_queue_collect(struct ocl_state *s, struct ocl_queue *q);
void ocl_queue_collect_all(struct ocl_state *s);
/* Number of references that we hold to an event of the queue: 0 or 1. */
unsigned ocl_queue_holds(struct ocl_queue *q, cl_event event);

/* ---- an enqueue (ocl_enqueue.c) ---- */

struct ocl_enqueue {
	struct ocl_state *s;     /* NULL: the call is only passed on */
	uint64_t enter_ns;
	cl_event own, *at;       /* at: give this to OpenCL in place of the program's pointer */
	bool theirs;             /* the program wants the event */
};
struct ocl_what {
	enum msr_gpu_kind kind;
	unsigned detail;
	uint64_t amount;
	uint32_t shape;
	bool blocking;           /* the call waited for the end of the operation */
};
void ocl_enqueue_begin(struct ocl_enqueue *e, struct ocl_state *s, cl_event *theirs);
/* Call directly after the call. Records only if the status is CL_SUCCESS. Keeps errno. */
void ocl_enqueue_end(struct ocl_enqueue *e, cl_int status, cl_command_queue queue,
		     const struct ocl_what *what);
/* The thread waited from `enter_ns` to now. */
void ocl_waited(struct ocl_state *s, uint64_t enter_ns, enum msr_gpu_sync how);
/* Records ALLOC or FREE, done on the CPU since `enter_ns`. */
void ocl_done_here(struct ocl_state *s, enum msr_gpu_kind kind, unsigned detail, uint64_t amount,
		   uint64_t enter_ns);

/* ---- kernels and programs (ocl_kernel.c, ocl_program.c) ---- */

enum ocl_origin {
	OCL_FROM_SOURCE /* or intermediate code, or linked, or not known */,
	OCL_FROM_BINARY,
	OCL_BUILT_IN,
	OCL_SAME_ORIGIN
};

/*
 * The handle was just returned, or its program was built again: forget what we know about it. Does
 * nothing if `s` or the handle is NULL.
 */
void ocl_kernel_made(struct ocl_state *s, cl_kernel handle);
void ocl_program_made(struct ocl_state *s, cl_program handle, enum ocl_origin origin);
/*
 * Id of the code object of a program on a device; 0 if there is none. The caller holds s->define.
 */
uint32_t ocl_program_code(struct ocl_state *s, cl_program handle, const struct ocl_device *d);
/* Id of the shape of a launch; 0: no memory. `global` and `local` may be NULL. */
uint32_t ocl_kernel_shape(struct ocl_state *s, cl_kernel handle, const struct ocl_device *d,
			  cl_uint n_dims, const size_t *global, const size_t *local);
/* The shape of something with a name but without a code object. */
uint32_t ocl_kernel_plain_shape(const char *name);

/* ---- memory objects (ocl_buffer.c) ---- */

void ocl_buffer_made(struct ocl_state *s, cl_mem handle, unsigned detail, uint64_t enter_ns);
/* Size of the object in bytes; queries it if it is unknown. */
uint64_t ocl_buffer_bytes(struct ocl_state *s, cl_mem handle);
/* Bytes of a region of an image. */
uint64_t ocl_image_bytes(cl_mem image, const size_t *region);
void ocl_map_remember(struct ocl_state *s, cl_mem handle, const void *pointer, uint64_t bytes);
uint64_t ocl_map_forget(struct ocl_state *s, cl_mem handle, const void *pointer);

/* ---- shared virtual memory: which pointers belong to it (ocl_svm.c) ---- */

struct ocl_svm *ocl_svm_new(struct ocl_memory *m);
void ocl_svm_add(struct ocl_state *s, const void *start, uint64_t bytes);
/* Returns its size in bytes; 0: unknown. */
uint64_t ocl_svm_remove(struct ocl_state *s, const void *start);
bool ocl_svm_has(struct ocl_state *s, const void *p);

/* ---- calls with an unknown signature (ocl_slot.c) ---- */

/*
 * Returns a function that counts the call and jumps to `function`. Returns `function` itself if no
 * slot is left.
 */
void *ocl_slot_for(struct ocl_state *s, void *function);
/* Delivers the number of calls that slots have counted. */
void ocl_slot_count(void);

#endif
