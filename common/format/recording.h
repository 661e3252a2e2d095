/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording: what passed between a GPU back end and the vendor's libraries in one process, raw, in the order in which it passed, so that the same back end can be played without a
 * GPU. doc/formats/recording.md is the specification; this header must say the same. Pure layout and pure functions on bytes: no I/O, no allocation.
 * Tests: tests/unit/test_recording.c, tests/fuzz/fuzz_recording.c.
 *
 * The file is a header page followed by chunks, each of one stream (a thread); it is memory of the measured process, mapped shared, so every moment of it can be read. All integers are
 * little-endian and naturally aligned. Pointers are numbers of the recorded process: names of things, never followed.
 */
#ifndef COMMON_FORMAT_RECORDING_H
#define COMMON_FORMAT_RECORDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDING_MAGIC "HPCTAPE" /* 8 bytes with the NUL */
#define RECORDING_VERSION_MAJOR 1u
#define RECORDING_VERSION_MINOR 2u /* 1: AGREE, which was a LOCK before; 2: also of the gate */
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
	uint32_t backend_number;    /*  20 the highest two bits of its ids in the measurement file */
	uint64_t start_mono_ns;     /*  24 CLOCK_MONOTONIC */
	uint64_t start_real_ns;     /*  32 CLOCK_REALTIME at the same moment */
	uint32_t library_version;   /*  40 of the vendor's tool library, CUPTI's 130001 */
	uint32_t flags;             /*  44 0 */
	uint64_t max_record_bytes;  /*  48 the bound on records of GPU operations of that run */
	_Atomic uint64_t allocated; /*  56 chunks lie below */
	_Atomic uint64_t n_lost;    /*  64 events that could not be written; all that come after the first are missing */
	_Atomic uint64_t lost_ns;   /*  72 CLOCK_MONOTONIC of the first of them; 0: there is none */
	char backend[16];           /*  80 "nvidia" */
	char options[128];          /*  96 as the back end got them */
	char measurement[512];      /* 224 file name of the measurement, without directories */
};

struct recording_chunk {
	uint32_t magic;             /*  0 RECORDING_CHUNK_MAGIC, written last */
	uint32_t stream;            /*  4 from 0 */
	uint32_t sequence;          /*  8 n-th chunk of the stream, from 0 */
	uint32_t reserved;
	uint64_t length;            /* 16 with this head, a multiple of RECORDING_CHUNK_ALIGN */
	_Atomic uint64_t used;      /* 24 bytes of events behind it; published last */
};

enum recording_type {
	RECORDING_STREAM = 1,  /* the first of a stream */
	RECORDING_STRING = 2,  /* a text and where it lay, before the first event that names it */
	RECORDING_ENTER = 3,   /* the back end is called */
	RECORDING_LEAVE = 4,   /* ... and is done */
	RECORDING_CALL = 5,    /* the back end called, written when that call returned */
	RECORDING_NOW = 6      /* it asked for the time, outside of an ENTER of which LEAVE tells */
};

/* `bytes`: of the whole event, a multiple of 8. `order`: one counter for all streams; of a stream it rises. */
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

/* How the back end is called. Append only. */
enum recording_entry {
	RECORDING_INIT = 1,    /* at the start */
	RECORDING_DRIVER,      /* struct recording_driver: a call of the driver API is entered or left */
	RECORDING_RESOURCE,    /* struct recording_resource */
	RECORDING_REQUEST,     /* CUPTI wants a buffer; LEAVE has its address and bytes */
	RECORDING_COMPLETE,    /* struct recording_complete: ... and gives it back */
	RECORDING_CRC,         /* struct recording_image: CUPTI wants a hash of an image; LEAVE has it */
	RECORDING_RUN,         /* the life of a thread of the back end's own */
	RECORDING_EXIT,        /* exit() was called */
	RECORDING_END,         /* struct recording_number: the run time says that the process ends; it may wait so many ns */
	RECORDING_SWITCH,      /* struct recording_number: the program stops (0) or starts (1) the measurement */
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
	int32_t result;        /* site 1, exit */
	uint64_t context, symbol; /* symbol: pointer of a STRING, 0: none */
	uint32_t context_uid, n_arguments;
	/* uint64_t argument[n_arguments], then struct recording_memory until the end */
};
/* What an argument pointed to. */
struct recording_memory {
	uint32_t argument, n_bytes;
	/* bytes, padded to 8 */
};
struct recording_resource {
	struct recording_event head;
	uint32_t id, module;
	uint64_t context, n_bytes, hash[2]; /* of the module's image, which lies in gpubins; n_bytes 0: none */
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
	/* uint32_t offset[n_records], padded to 8; then n_valid bytes as they came, padded to 8 */
};
struct recording_leave {
	struct recording_event head;
	uint64_t enter;        /* order of the ENTER */
	uint64_t value[2];     /* REQUEST: address, bytes; CRC: the hash */
	uint32_t place;        /* enum gpu_placed (gpu.h): whether there was a launch in it */
	uint32_t thread, node; /* PLACE: as the core found them */
	uint32_t n_now;
	/* uint64_t now[n_now]: what it was told when it asked for the time */
};

/* What the back end calls. Append only. `key` and `out` depend on it, see the specification. */
enum recording_function {
	RECORDING_GET_RESULT_STRING = 1, RECORDING_SUBSCRIBE, RECORDING_UNSUBSCRIBE, RECORDING_ENABLE_CALLBACK, RECORDING_GET_CALLBACK_NAME, RECORDING_REGISTER_CALLBACKS,
	RECORDING_REGISTER_TIMESTAMP, RECORDING_ACTIVITY_ENABLE, RECORDING_ACTIVITY_DISABLE, RECORDING_FLUSH_ALL, RECORDING_GET_NUM_DROPPED, RECORDING_GET_CONTEXT_ID,
	RECORDING_GET_DEVICE_ID, RECORDING_GET_GRAPH_NODE_ID, RECORDING_DEVICE_GET_NAME, RECORDING_DEVICE_GET_ATTRIBUTE, RECORDING_DEVICE_TOTAL_MEM, RECORDING_DEVICE_GET_UUID,
	RECORDING_DRIVER_GET_VERSION, RECORDING_WAIT, RECORDING_LOCK, RECORDING_SPAWN, RECORDING_PC_ENABLE, RECORDING_PC_DISABLE, RECORDING_PC_GET_DATA, RECORDING_PC_GET_NUM_STALL_REASONS,
	RECORDING_PC_GET_STALL_REASONS, RECORDING_PC_SET_CONFIGURATION, RECORDING_PC_GET_CONFIGURATION, RECORDING_REGISTER_CRC, RECORDING_CTX_SYNCHRONIZE, RECORDING_LOCK_GPU, RECORDING_POINT,
	RECORDING_ENABLE_LATENCY, RECORDING_AGREE,
	RECORDING_N_FUNCTIONS
};
struct recording_call {
	struct recording_event head; /* order and time when it returned */
	uint64_t begin;        /* order when it was called */
	int32_t result;
	uint32_t n_out;
	uint64_t key[2];
	/* n_out bytes that it gave, padded to 8 */
};
struct recording_now {
	struct recording_event head;
	uint64_t value;
};

/* What PC_GET_DATA and PC_DISABLE gave: this, then n_pcs times struct recording_pc with its reasons. */
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

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* NULL when it is a recording of this version, else what is wrong with it. */
const char *recording_check_header(const void *file, uint64_t n_bytes);

/* The chunk at `offset` or the next sound one, NULL at the end; *used bytes of it can be read. *n_skipped grows by bytes that are neither a chunk nor zero. */
const struct recording_chunk *recording_next_chunk(const uint8_t *file, uint64_t n_bytes, uint64_t *offset, uint64_t *used, uint64_t *n_skipped);

/* The event at `at` when its length and its content hold together, so that all that the structs above promise lies inside; NULL: it is damaged. */
const struct recording_event *recording_event_at(const uint8_t *at, uint64_t n_bytes);

/* Parts of sound events. */
const uint64_t *recording_arguments(const struct recording_driver *d);
/* The next memory behind *m (NULL: the first); false: no more. */
bool recording_next_memory(const struct recording_driver *d, const struct recording_memory **m);
const uint32_t *recording_offsets(const struct recording_complete *c);
const uint8_t *recording_content(const struct recording_complete *c);
/* The data of PC_GET_DATA and PC_DISABLE when all of its instructions lie inside; NULL: there is none, or it is damaged. */
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
