/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OpenCL back end, as its files see each other: the functions behind ours, the state of the process, and what each file offers. doc/opencl.md
 * tells how it works. Everything here runs in threads of the program inside calls of OpenCL, never in signal handlers. Must not call OpenCL while it holds a lock
 * of its own, but for plain questions (clGet...Info): callbacks of the program may run inside any other call. Tests: tests/unit/test_opencl_*.c with a made-up implementation, tests/cli/ocl_*.sh with a real one.
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

#define OCL_MAX_PENDING (UINT32_C(1) << 18) /* operations in flight that are remembered, in the process */
#define OCL_BATCH 64u                        /* of a queue, looked at in one go */

/* ---- entrances (ocl_entrance.c, ocl_layer.c, ocl_preload.c) -------------------------------------------------------------- */

enum ocl_entrance { OCL_NOT_IN, OCL_LAYER, OCL_PRELOAD, OCL_SHUT /* preloaded into a process that is not measured */ };
extern _Atomic int ocl_entrance;                  /* enum ocl_entrance */
extern cl_icd_dispatch ocl_next;                  /* the functions behind ours; constant once in; NULL: not there */
extern const cl_icd_dispatch ocl_layer_dispatch;  /* ours */
extern const struct gpu_host *ocl_host;           /* constant once in */

/* Finds the host and says how we came in. False: this process is not measured, or did not ask for OpenCL. */
bool ocl_enter_process(enum ocl_entrance how);
/* Preloaded and called for the first time: finds the functions behind ours. */
void ocl_preload_start(void);
/* True when `caller` lies in the library behind ours: it calls itself by its public names. */
bool ocl_preload_is_inner(const void *caller);

/* ---- state of the process (ocl_state.c) ------------------------------------------------------------------------------------ */

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
	atomic_bool after_exit;               /* our exit handler has run: implementations may be gone */
};

/* Depth of the calls of OpenCL that the calling thread is in. */
extern __thread unsigned ocl_depth __attribute__((tls_model("initial-exec")));

/* The slow way of ocl_enter: first call, after a fork, after the end. */
struct ocl_state *ocl_state_slow(const void *caller);
extern _Atomic(struct ocl_state *) ocl_state_now;

/*
 * First thing in every function of ours; ocl_leave last. NULL: nothing is to be recorded, and the call is just passed on. Inlined so that the return
 * address is the program's.
 */
static inline __attribute__((always_inline)) struct ocl_state *ocl_enter(void)
{
	ocl_depth++;
	/* acquire: what the state points to was made before */
	struct ocl_state *s = atomic_load_explicit(&ocl_state_now, memory_order_acquire);
	if (__builtin_expect(atomic_load_explicit(&ocl_entrance, memory_order_relaxed) == OCL_LAYER && s && s->generation == ocl_host->generation(ocl_host), 1))
		return s;
	return ocl_state_slow(__builtin_return_address(0));
}

static inline void ocl_leave(void)
{
	ocl_depth--;
}

/*
 * Has the pending operations collected when the program exits: called when queues and first operations are made, since handlers run in reverse order and ours must
 * come before those of the implementations.
 */
void ocl_state_register_exit(struct ocl_state *s);

/* ---- devices, contexts (ocl_device.c) ---------------------------------------------------------------------------------------- */

struct ocl_clock;
struct ocl_device {
	cl_device_id handle;
	cl_platform_id platform;
	uint32_t id;             /* of the definition */
	unsigned version;        /* 120, 210, 300 */
	bool binaries_are_dear;  /* asking for a program's binary makes the implementation compile it anew */
	atomic_bool tells_queued; /* commands with a time of queueing were seen */
	struct ocl_clock *clock;
};
/* Made when first seen. NULL: no memory, or the handle is bad. The caller holds s->define. */
struct ocl_device *ocl_device_get(struct ocl_state *s, cl_device_id handle);

struct ocl_context {
	uint32_t id;
	_Atomic uint32_t n_queues;
};
/* Likewise. */
struct ocl_context *ocl_context_get(struct ocl_state *s, cl_context handle, struct ocl_device *device);
/* A context was just made: what was known of its handle is old. */
void ocl_context_made(struct ocl_state *s, cl_context handle);

/* ---- clocks (ocl_clock.c) ------------------------------------------------------------------------------------------------------ */

/* What is known of one operation of a device, for the relation of its clock to ours. */
struct ocl_moment {
	uint64_t enter_ns, return_ns, seen_ns; /* ours: the call was entered, returned (0: unknown); the end was seen */
	uint64_t queued, start, end;           /* the device's */
};
struct ocl_clock *ocl_clock_new(struct ocl_state *s);
uint32_t ocl_clock_id(const struct ocl_clock *c);
/* True when the operation that begins now shall be used for a pair. A load and a comparison, mostly. */
bool ocl_clock_wants(struct ocl_clock *c, uint64_t now_ns);
/* Asks the device's own timer beside; after ocl_clock_wants said yes. */
void ocl_clock_ask_timer(struct ocl_clock *c, const struct ocl_device *d);
void ocl_clock_add(struct ocl_clock *c, const struct ocl_moment *m);
/* Delivers what was gathered. */
void ocl_clock_flush(struct ocl_clock *c);

/* The bounds that a moment sets to `ours - the device's`; false when it is not consistent. For the test. */
bool ocl_clock_bounds(const struct ocl_moment *m, int64_t *low, int64_t *high);

/* ---- queues and what they have in flight (ocl_queue.c) ------------------------------------------------------------------------ */

struct ocl_pending {
	struct ocl_pending *next;
	cl_event event;          /* one reference is ours */
	struct gpu_ticket ticket;
	uint64_t amount, enter_ns, return_ns; /* return_ns: of an operation that is used for a pair of clocks */
	uint32_t shape;
	uint8_t detail;
	bool for_clock;
};

struct ocl_queue {
	cl_command_queue handle;
	struct ocl_device *device;
	uint32_t id;             /* of the definition */
	atomic_bool defined;
	bool forced;             /* profiling is on although the program did not ask */
	bool timed;              /* profiling is on */
	bool out_of_order;
	cl_queue_properties *list; /* as the program gave it, 0-terminated; NULL: none */
	size_t list_bytes;
	pthread_mutex_t lock;    /* of the rest */
	struct ocl_pending *first, *last, *spare;
	_Atomic uint32_t n_pending; /* may be read without the lock: 0 is nothing to look at */
	_Atomic bool is_given_up;   /* its lock could not be had at the end */
	uint32_t look_at;        /* as many pending operations make it worth to look for ends */
	uint32_t interval;       /* more operations than at the last look */
	bool dear;               /* questions about events cost much while the device works */
	struct ocl_queue *next_made; /* constant */
};

/* A queue was just made by the program. `list`: NULL or as the program gave it. */
void ocl_queue_made(struct ocl_state *s, cl_command_queue handle, bool forced, const cl_queue_properties *list);
/* clCreateCommandQueueWithProperties, or the function of an extension with its signature: with profiling, or as the program asked where that is refused. */
cl_command_queue ocl_create_queue(struct ocl_state *s, OCL_TYPE(clCreateCommandQueueWithProperties) create, cl_context context, cl_device_id device,
                                  const cl_queue_properties *list, cl_int *error);
/* NULL when it was not made through us and has not been used. */
struct ocl_queue *ocl_queue_find(struct ocl_state *s, cl_command_queue handle);
/* Known to be a good handle: finds it, and defines it where that was not done. NULL: no memory. */
struct ocl_queue *ocl_queue_get(struct ocl_state *s, cl_command_queue handle);

/* Remembers an operation. Takes over the reference to p->event. */
void ocl_queue_add(struct ocl_state *s, struct ocl_queue *q, const struct ocl_pending *p);
/* Looks at everything in flight and delivers what has ended: where the program has just waited, or lets go of something. */
void ocl_queue_collect(struct ocl_state *s, struct ocl_queue *q);
void ocl_queue_collect_all(struct ocl_state *s);
/* Number of references that we hold to an event of the queue: 0 or 1. */
unsigned ocl_queue_holds(struct ocl_queue *q, cl_event event);
/* At the end: waits up to `may_wait_ns` for what is running, delivers, and gives up the rest. */
enum ocl_end_call { OCL_MAY_NOT_CALL, OCL_MAY_ASK, OCL_MAY_RELEASE };
void ocl_queue_finish_all(struct ocl_state *s, uint64_t may_wait_ns, enum ocl_end_call end);

/* ---- an enqueue (ocl_enqueue.c) --------------------------------------------------------------------------------------------------- */

struct ocl_enqueue {
	struct ocl_state *s;     /* NULL: only passed on */
	uint64_t enter_ns;
	cl_event own, *at;       /* at: to be given to OpenCL in place of the program's */
	bool theirs;             /* the program wants the event */
};
struct ocl_what {
	enum msr_gpu_kind kind;
	unsigned detail;
	uint64_t amount;
	uint32_t shape;
	bool blocking;           /* the call has waited for the end */
};
void ocl_enqueue_begin(struct ocl_enqueue *e, struct ocl_state *s, cl_event *theirs);
/* Directly after the call; for status CL_SUCCESS only does it record. Keeps errno. */
void ocl_enqueue_end(struct ocl_enqueue *e, cl_int status, cl_command_queue queue, const struct ocl_what *what);
/* The thread waited from `enter_ns` to now. */
void ocl_waited(struct ocl_state *s, uint64_t enter_ns, enum msr_gpu_sync how);
/* ALLOC and FREE: done on the CPU since `enter_ns`. */
void ocl_done_here(struct ocl_state *s, enum msr_gpu_kind kind, unsigned detail, uint64_t amount, uint64_t enter_ns);

/* ---- kernels and programs (ocl_kernel.c, ocl_program.c) ----------------------------------------------------------------------- */

enum ocl_origin { OCL_FROM_SOURCE /* or intermediate code, or linked, or not known */, OCL_FROM_BINARY, OCL_BUILT_IN, OCL_SAME_ORIGIN };

/* The handle was just given out, or its program built anew: what was known of it is old. `s` or the handle may be NULL: nothing is done. */
void ocl_kernel_made(struct ocl_state *s, cl_kernel handle);
void ocl_program_made(struct ocl_state *s, cl_program handle, enum ocl_origin origin);
/* Id of the code object of a program on a device; 0 when none can be had. The caller holds s->define. */
uint32_t ocl_program_code(struct ocl_state *s, cl_program handle, const struct ocl_device *d);
/* Id of the shape of a launch; 0: no memory. `global` and `local` may be NULL. */
uint32_t ocl_kernel_shape(struct ocl_state *s, cl_kernel handle, const struct ocl_device *d, cl_uint n_dims, const size_t *global, const size_t *local);
/* The shape of what has a name but no code object. */
uint32_t ocl_kernel_plain_shape(const char *name);

/* ---- memory objects (ocl_buffer.c) ----------------------------------------------------------------------------------------------- */

void ocl_buffer_made(struct ocl_state *s, cl_mem handle, unsigned detail, uint64_t enter_ns);
/* Bytes of the object, by asking where it is not known. */
uint64_t ocl_buffer_bytes(struct ocl_state *s, cl_mem handle);
/* Bytes of a region of an image. */
uint64_t ocl_image_bytes(cl_mem image, const size_t *region);
void ocl_map_remember(struct ocl_state *s, cl_mem handle, const void *pointer, uint64_t bytes);
uint64_t ocl_map_forget(struct ocl_state *s, cl_mem handle, const void *pointer);

/* Shared virtual memory: what pointers belong to it. */
struct ocl_svm *ocl_svm_new(struct ocl_memory *m);
void ocl_svm_add(struct ocl_state *s, const void *start, uint64_t bytes);
uint64_t ocl_svm_remove(struct ocl_state *s, const void *start); /* its bytes; 0: not known */
bool ocl_svm_has(struct ocl_state *s, const void *p);

/* ---- functions of extensions (ocl_extension.c) -------------------------------------------------------------------------------------- */

/* Delivers the number of calls that we do not know. */
void ocl_extension_count(void);

#endif
