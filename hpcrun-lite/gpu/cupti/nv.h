/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The back end for NVIDIA GPUs: declarations that all its parts share. trace/nv_trace.h declares
 * the tracing of calls and records, pc/nv_pc.h PC sampling, energy/nv_energy.h the meters of
 * energy, tape/nv_tape.h the recorder.
 *
 * The CUDA driver loads the module (CUDA_INJECTION64_PATH) and calls InitializeInjection inside
 * cuInit. From then on CUPTI calls us at each driver API call that we subscribed to, in the
 * program's thread (nv_callback.c). It delivers buffers with records of what the device did in a
 * thread of its own (nv_buffer.c, nv_record.c). CUPTI's correlation id is the only link between
 * calls and records. All times are CLOCK_MONOTONIC, because CUPTI takes its time from us.
 *
 * The module finds CUPTI and the driver by name at run time (nv_library.c), and links only libc. A
 * launch and its operations have the id 2 x correlation id. The wait inside a blocking copy has
 * that id plus 1, because it is an operation of the same call.
 *
 * Unless it says otherwise, a function may be called in any thread, never in a signal handler, and
 * keeps errno. Tests: tests/unit/cupti/test_cupti.c, tests/cli/gpu/cupti_trace.sh,
 * tests/gpu/trace.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_NV_H
#define HPCRUN_LITE_GPU_CUPTI_NV_H

#include "hpcrun-lite/gpu/cupti/front/nv_headers.h"
#include "hpcrun-lite/gpu/cupti/nv_map.h"
#include "hpcrun-lite/gpu/cupti/nv_options.h"
#include "hpcrun-lite/gpu/cupti/nv_version.h"
#include "hpcrun-lite/gpu/gpu.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#define NV_MAX_DEVICES 64u
#define NV_MAX_NAMES ((size_t)1 << 20)
/* Streams and contexts. If a program makes more, further streams of a context share one queue. */
#define NV_MAX_QUEUES ((size_t)1 << 16)
/* entries reserved for these shared queues, one for each context */
#define NV_MAX_FURTHER ((size_t)1 << 10)

/* ---- nv_library.c ---- */

#define NV_CUPTI_FUNCTIONS(F) \
	F(cuptiGetVersion) F(cuptiGetResultString) F(cuptiUnsubscribe) F(cuptiEnableCallback) \
	F(cuptiGetCallbackName) F(cuptiActivityRegisterCallbacks) \
	F(cuptiActivityRegisterTimestampCallback) F(cuptiActivityEnableLatencyTimestamps) \
	F(cuptiActivityEnable) F(cuptiActivityDisable) F(cuptiActivityFlushAll) \
	F(cuptiActivityGetNextRecord) F(cuptiActivityGetNumDroppedRecords) F(cuptiGetContextId) \
	F(cuptiGetDeviceId) F(cuptiGetGraphNodeId) F(cuptiPCSamplingEnable) \
	F(cuptiPCSamplingDisable) F(cuptiPCSamplingGetData) F(cuptiPCSamplingGetNumStallReasons) \
	F(cuptiPCSamplingGetStallReasons) F(cuptiPCSamplingSetConfigurationAttribute) \
	F(cuptiPCSamplingGetConfigurationAttribute) F(cuptiRegisterComputeCrcCallback)
#define NV_DRIVER_FUNCTIONS(F) \
	F(cuDeviceGetName) F(cuDeviceGetAttribute) F(cuDeviceTotalMem_v2) F(cuDeviceGetUuid_v2) \
	F(cuDriverGetVersion)

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
	/* New in CUDA 13: see nv_version_set_new. */
	NV_FIELD(cuptiSubscribe_v2)
	CUresult (*cuCtxSynchronize_v2)(CUcontext);
	/*
	 * Functions of the process itself whose results depend on time or order. They are in this
	 * table so that a recording keeps the answers and a replay repeats them. now_ns:
	 * CLOCK_MONOTONIC now.
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
	 * In a recording, keeps the order of two actions that other threads see separately. Does
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
	/* at_exit: calls `fn` at exit(). at_end: at_end of the host. */
	void (*at_exit)(void (*fn)(void));
	void (*at_end)(void (*fn)(uint64_t may_wait_ns));
	/* on_switch of the host. */
	void (*on_switch)(void (*fn)(bool on));
	/* See nv_gpu_lock. */
	int (*lock_gpu)(const CUuuid *uuid, char *path, size_t path_bytes);
	unsigned version;      /* CUPTI's; see nv_version.h */
	const char *path;      /* path of CUPTI, for people; valid until the process ends */
	const void *cupti_text, *driver_text; /* addresses in the two libraries */
};
#undef NV_FIELD

/*
 * Finds CUPTI: one that is already loaded, `preferred` if it is not "", otherwise the loader's, the
 * usual places, and the toolkit of the build: first that of the driver's version of CUDA, then the
 * other one. Uses the driver that the process has loaded; with `load_driver`, for the launcher, it
 * loads the driver. Returns false and sets `why` on failure.
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
#define NV_VERSION_BYTES 40u
/* Writes a version for people, such as 13.0.1, and returns `text`. */
const char *nv_library_version_text(unsigned version, char text[NV_VERSION_BYTES]);
/* dlsym, but it never finds the functions that we put in front of CUPTI's (front/front.h). */
void *nv_library_symbol(void *library, const char *name);
/*
 * Gets the value of the option "cupti=PATH" of gpu=nvidia; "" if it is not given. `path` is cut to
 * `bytes`.
 */
void nv_library_preferred(const char *options, char *path, size_t bytes);

/* ---- nv_state.c ---- */

/*
 * The state that the parts share. nv_inject.c sets the fields before `ids` when the back end
 * starts. After that they are constant and all parts read them. nv_device.c and nv_code.c own the
 * rest.
 */
struct nv_state {
	const struct gpu_host *host;
	uint32_t generation;
	int pid;
	struct nv_library lib;
	struct nv_options options;
	CUpti_SubscriberHandle subscriber;
	_Atomic uint64_t ids; /* nv_operation_id */
	/* nv_device.c */
	pthread_mutex_t define_lock;
	uint32_t device[NV_MAX_DEVICES];     /* the host's id; 0: not defined; under define_lock */
	CUuuid uuid[NV_MAX_DEVICES];         /* of defined devices; under define_lock */
	struct nv_map contexts, queues;
	/*
	 * nv_code.c. Below, "code object" means the first one with this content, on any device.
	 * `contents` maps half of the content's hash to it.
	 */
	struct nv_map contents;
	/* (code object, device) -> code object with this content on this device */
	struct nv_map on_devices;
	_Atomic bool has_twins; /* some content is on several devices */
};
extern struct nv_state nv;

/* Sets up `nv` for this host. Call this before anything else. */
void nv_state_prepare(const struct gpu_host *host);

/* A note for the user that starts with "gpu=nvidia: ". */
void nv_note(const char *a, const char *b, const char *c);
/* CUPTI's name of a result code. */
const char *nv_result_name(CUptiResult r);

/* Returns true if this is still the process that the back end entered; false in a forked child. */
bool nv_is_here(void);
/* The id of a launch and its operations, from CUPTI's 32-bit correlation id. */
uint64_t nv_operation_id(uint32_t correlation);

/* ---- nv_device.c ---- */

/* The host's id of a stream; 0: none. */
uint32_t nv_queue(uint32_t device, uint32_t context, uint32_t stream);
/* The program made a context. */
void nv_context_made(CUcontext handle);
/* The host's id of a device by its CUDA number; defines it when it is new. 0: none. */
uint32_t nv_device(uint32_t ordinal);
/* The host's id of a context by CUPTI's number; defines it when it is new. 0: none. */
uint32_t nv_context(uint32_t device, uint32_t context);
/* Returns the host's id of a device and sets its UUID. 0: the device is not defined. */
uint32_t nv_device_known(uint32_t ordinal, CUuuid *uuid);
/* An attribute of a device; 0: unknown. */
uint32_t nv_device_attribute(CUdevice device, CUdevice_attribute what);

/* ---- nv_code.c ---- */

/*
 * Called for each kernel name that a code object contains. The caller holds the lock of nv_code.c.
 */
typedef void nv_code_named_fn(const char *name, uint32_t code);
/*
 * A module was loaded; call this in the loading thread. The image is valid only during the call.
 * Calls `named` for each kernel. Returns the host's id of the first code object with this content
 * on any device; 0: none.
 */
uint32_t nv_code_loaded(CUcontext context, const void *image, size_t bytes,
			nv_code_named_fn *named);
/*
 * Returns the host's id of the same content on a device, so that the kernels and samples of several
 * GPUs stay separate. 0 if `code` is 0.
 */
uint32_t nv_code_on(uint32_t code, uint32_t device);
/* Returns true if some content is on several devices. Otherwise nv_code_on ignores the device. */
bool nv_code_has_twins(void);
/* Calls `each` with the name of every kernel in a cubin. `image` may contain anything. */
void nv_code_names(const void *image, size_t bytes, void (*each)(void *arg, const char *name),
		   void *arg);

/* ---- nv_part.c ---- */

/*
 * Remembers an image that was loaded on a device (the host's id), to save single kernels of it
 * later. Returns a number to pass to nv_part_of, and sets `hash`. 0: save the image whole, because
 * it is small, has lines, or cannot be cut.
 */
uint32_t nv_part_hold(const void *image, size_t bytes, uint32_t device, uint64_t hash[2]);
/*
 * Returns the host's id of a code object with this kernel, saved now: the kernel alone, or the
 * whole image if it has no kernel of that name. Returns `code` unchanged if it is not from
 * nv_part_hold. For struct gpu_function.
 */
uint32_t nv_part_of(uint32_t code, const char *name);

/* ---- nv_gpu_lock.c ---- */

#define NV_GPU_LOCK_BYTES 128u /* of the path */
/*
 * Takes the lock of a GPU for this process. Returns a descriptor; -1: another process has it; -2:
 * failure, see errno.
 */
int nv_gpu_lock(const CUuuid *uuid, char *path, size_t path_bytes);
void nv_gpu_unlock(int lock, const CUuuid *uuid);

/* ---- enter/nv_inject.c ---- */

/* Starts to measure for this host. Once per process. */
void nv_come_in(const struct gpu_host *host);
/* Ends the recording (tape/nv_tape.h), if there is one. */
void nv_end_recording(const char *why);
/* The function that the driver calls. Always returns 1, so that the driver continues. */
int InitializeInjection(void);

#endif
