/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording: everything that passed between a GPU back end and the vendor's libraries in one
 * process, unprocessed and in order, so that the same back end can be replayed without a GPU.
 * doc/formats/recording.md is the specification; this header must agree with it. Only layout and
 * pure functions on bytes: no I/O, no allocation. Tests: tests/unit/cupti/test_recording.c,
 * tests/fuzz/fuzz_recording.c.
 *
 * The file is a header page followed by chunks. Each chunk belongs to one stream, which is a
 * thread. The file is a shared mapping of the measured process, so it can be read at any moment.
 * All integers are little-endian and naturally aligned. Pointers are numbers of the recorded
 * process; they serve as names and are never followed.
 */
#ifndef COMMON_FORMAT_RECORDING_H
#define COMMON_FORMAT_RECORDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDING_MAGIC "HPCTAPE" /* 8 bytes with the NUL */
#define RECORDING_VERSION_MAJOR 1u
/* 1: AGREE, which was a LOCK before; 2: AGREE also for the gate */
#define RECORDING_VERSION_MINOR 2u
#define RECORDING_HEADER_BYTES 4096u
#define RECORDING_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */
#define RECORDING_CHUNK_ALIGN 64u
#define RECORDING_SUFFIX ".hpctape" /* in place of the measurement file's ".hpcrun" */

struct recording_header {
	char magic[8];              /*   0 written last */
	uint16_t version_major;     /*   8 */
	uint16_t version_minor;     /*  10 */
	uint32_t header_bytes;      /*  12 RECORDING_HEADER_BYTES */
	uint32_t pid;               /*  16 */
	uint32_t backend_number; /*  20 the two highest bits of its ids in the measurement file */
	uint64_t start_mono_ns;     /*  24 CLOCK_MONOTONIC */
	uint64_t start_real_ns;     /*  32 CLOCK_REALTIME at the same moment */
	uint32_t library_version;   /*  40 of the vendor's tool library, such as CUPTI's 130001 */
	uint32_t flags;             /*  44 0 */
	uint64_t max_record_bytes;  /*  48 the limit on records of GPU operations in that run */
	_Atomic uint64_t allocated; /*  56 all chunks are below */
	/*  64 events that could not be written; after the first, all are missing */
	_Atomic uint64_t n_lost;
	_Atomic uint64_t lost_ns;   /*  72 CLOCK_MONOTONIC of the first lost event; 0: none */
	char backend[16];           /*  80 "nvidia" */
	char options[128];          /*  96 as given to the back end */
	char measurement[512];      /* 224 file name of the measurement, without directories */
};

struct recording_chunk {
	uint32_t magic;             /*  0 RECORDING_CHUNK_MAGIC, written last */
	uint32_t stream;            /*  4 from 0 */
	uint32_t sequence;          /*  8 n-th chunk of the stream, from 0 */
	uint32_t reserved;
	uint64_t length;            /* 16 with this head, a multiple of RECORDING_CHUNK_ALIGN */
	_Atomic uint64_t used;      /* 24 bytes of events after the head; published last */
};

enum recording_type {
	RECORDING_STREAM = 1, /* the first event of a stream */
	RECORDING_STRING = 2, /* a text and its address, before the first event that refers to it */
	RECORDING_ENTER = 3,  /* the back end is called */
	RECORDING_LEAVE = 4,  /* ... and returns */
	RECORDING_CALL = 5,   /* the back end called a function; written when that returned */
	/* the back end asked for the time outside any ENTER that has a LEAVE */
	RECORDING_NOW = 6
};

/*
 * `bytes` is the length of the whole event, a multiple of 8. `order` comes from one counter for all
 * streams and rises within a stream.
 */
struct recording_event {
	uint32_t bytes;
	uint16_t type;
	uint16_t what;         /* ENTER: enum recording_entry, CALL: enum recording_function */
	uint64_t order;
	uint64_t time_ns;      /* CLOCK_MONOTONIC */
};

struct recording_stream {
	struct recording_event head;
	uint32_t tid;
	uint32_t reserved;
};
struct recording_string {
	struct recording_event head;
	uint64_t pointer;
	/* text with NUL, padded */
};

/* How the back end was called. Append only. */
enum recording_entry {
	RECORDING_INIT = 1,    /* at the start */
	/* struct recording_driver: the program enters or leaves a driver API call */
	RECORDING_DRIVER,
	RECORDING_RESOURCE,    /* struct recording_resource */
	RECORDING_REQUEST,     /* CUPTI asks for a buffer; LEAVE has its address and bytes */
	RECORDING_COMPLETE,    /* struct recording_complete: CUPTI returns a buffer */
	/* struct recording_image: CUPTI asks for the hash of an image; LEAVE has it */
	RECORDING_CRC,
	RECORDING_RUN,         /* a thread that the back end created, from start to end */
	RECORDING_EXIT,        /* the program called exit() */
	/* struct recording_number: the process ends; the value is how many ns it may wait */
	RECORDING_END,
	/* struct recording_number: the program stops (0) or starts (1) measurement */
	RECORDING_SWITCH,
	RECORDING_N_ENTRIES
};
struct recording_enter {
	struct recording_event head;
};
struct recording_number {
	struct recording_event head;
	uint64_t value;
};
struct recording_driver {
	struct recording_event head;
	uint32_t id, site, correlation;
	int32_t result;           /* only for site 1, exit */
	uint64_t context, symbol; /* symbol: pointer of a STRING, 0: none */
	uint32_t context_uid, n_arguments;
	/* uint64_t argument[n_arguments], then struct recording_memory until the end */
};
/* The memory that an argument pointed to. */
struct recording_memory {
	uint32_t argument, n_bytes;
	/* bytes, padded to 8 */
};
struct recording_resource {
	struct recording_event head;
	uint32_t id, module;
	/* The image of the module, which is in gpubins; n_bytes 0: none. */
	uint64_t context, n_bytes, hash[2];
	uint64_t node, original; /* of graphs */
};
struct recording_image {
	struct recording_event head;
	uint64_t n_bytes, hash[2];
};
struct recording_complete {
	struct recording_event head;
	uint64_t context, buffer, n_bytes, n_valid;
	uint32_t stream, n_records;
	/* uint32_t offset[n_records], padded to 8; then n_valid unchanged bytes, padded to 8 */
};
struct recording_leave {
	struct recording_event head;
	uint64_t enter;        /* order of the ENTER */
	uint64_t value[2];     /* REQUEST: address, bytes; CRC: the hash */
	uint32_t place; /* enum gpu_placed (gpu.h): whether this call launched something */
	uint32_t thread, node; /* PLACED: as the core found them */
	uint32_t n_now;
	/* uint64_t now[n_now]: the times that the back end got when it asked */
};

/*
 * The functions that the back end calls. Append only. `key` and `out` depend on the function, see
 * the specification.
 */
enum recording_function {
	RECORDING_GET_RESULT_STRING = 1,
	RECORDING_SUBSCRIBE,
	RECORDING_UNSUBSCRIBE,
	RECORDING_ENABLE_CALLBACK,
	RECORDING_GET_CALLBACK_NAME,
	RECORDING_REGISTER_CALLBACKS,
	RECORDING_REGISTER_TIMESTAMP,
	RECORDING_ACTIVITY_ENABLE,
	RECORDING_ACTIVITY_DISABLE,
	RECORDING_FLUSH_ALL,
	RECORDING_GET_NUM_DROPPED,
	RECORDING_GET_CONTEXT_ID,
	RECORDING_GET_DEVICE_ID,
	RECORDING_GET_GRAPH_NODE_ID,
	RECORDING_DEVICE_GET_NAME,
	RECORDING_DEVICE_GET_ATTRIBUTE,
	RECORDING_DEVICE_TOTAL_MEM,
	RECORDING_DEVICE_GET_UUID,
	RECORDING_DRIVER_GET_VERSION,
	RECORDING_WAIT,
	RECORDING_LOCK,
	RECORDING_SPAWN,
	RECORDING_PC_ENABLE,
	RECORDING_PC_DISABLE,
	RECORDING_PC_GET_DATA,
	RECORDING_PC_GET_NUM_STALL_REASONS,
	RECORDING_PC_GET_STALL_REASONS,
	RECORDING_PC_SET_CONFIGURATION,
	RECORDING_PC_GET_CONFIGURATION,
	RECORDING_REGISTER_CRC,
	RECORDING_CTX_SYNCHRONIZE,
	RECORDING_LOCK_GPU,
	RECORDING_POINT,
	RECORDING_ENABLE_LATENCY,
	RECORDING_AGREE,
	RECORDING_N_FUNCTIONS
};
struct recording_call {
	struct recording_event head; /* order and time of the return */
	uint64_t begin;              /* order of the call */
	int32_t result;
	uint32_t n_out;
	uint64_t key[2];
	/* n_out bytes of its output, padded to 8 */
};
struct recording_now {
	struct recording_event head;
	uint64_t value;
};

/*
 * The output of PC_GET_DATA and PC_DISABLE: this, then n_pcs times struct recording_pc with its
 * reasons.
 */
struct recording_pc_data {
	uint64_t total, dropped, outside, remaining, range;
	uint32_t n_pcs, is_full;
};
struct recording_pc {
	uint64_t crc, offset;
	uint64_t name;         /* pointer of a STRING, 0: none */
	uint32_t function, correlation, n_reasons, reserved;
	/* struct recording_reason[n_reasons] */
};
struct recording_reason {
	uint32_t index, samples;
};
/* PC_GET_STALL_REASONS: an array of these. */
#define RECORDING_REASON_NAME 128u
struct recording_reason_name {
	uint32_t index, reserved;
	char name[RECORDING_REASON_NAME];
};
/* PC_SET_CONFIGURATION, PC_GET_CONFIGURATION: an array of these. */
struct recording_attribute {
	uint32_t type;
	int32_t status;
	uint64_t value[3];
};

static inline uint64_t recording_round(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

/* ---- reading ---- */

/* Returns NULL if the file is a recording of this version, else a text that says why not. */
const char *recording_check_header(const void *file, uint64_t n_bytes);

/*
 * Returns the first valid chunk at or after *offset; NULL at the end. *used is how many of its
 * bytes can be read. *n_skipped grows by the bytes that are neither a chunk nor zeros.
 */
const struct recording_chunk *recording_next_chunk(const uint8_t *file, uint64_t n_bytes,
						   uint64_t *offset, uint64_t *used,
						   uint64_t *n_skipped);

/*
 * Returns the event at `at`. Returns NULL if it is damaged: something that its struct promises is
 * not inside it.
 */
const struct recording_event *recording_event_at(const uint8_t *at, uint64_t n_bytes);

/* Parts of valid events. */
const uint64_t *recording_arguments(const struct recording_driver *d);
/* Moves *m to the next memory; if *m is NULL, to the first. Returns false if there is no more. */
bool recording_next_memory(const struct recording_driver *d, const struct recording_memory **m);
const uint32_t *recording_offsets(const struct recording_complete *c);
const uint8_t *recording_content(const struct recording_complete *c);
/* The data of PC_GET_DATA and PC_DISABLE; NULL if there is none or it is damaged. */
const struct recording_pc_data *recording_pc_data(const struct recording_call *c);
static inline const struct recording_reason *recording_reasons(const struct recording_pc *p)
{
	return (const struct recording_reason *)(p + 1);
}
static inline const struct recording_pc *recording_next_pc(const struct recording_pc *p)
{
	return (const struct recording_pc *)(const void *)(recording_reasons(p) + p->n_reasons);
}
static inline const char *recording_text(const struct recording_string *s)
{
	return (const char *)(s + 1);
}
static inline const void *recording_out(const struct recording_call *c)
{
	return c + 1;
}

#endif
