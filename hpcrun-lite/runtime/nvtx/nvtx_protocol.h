/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of NVTX's binary interface that an injection uses. NVTX 3 is a header library in the
 * program. At its first call it loads the library that NVTX_INJECTION64_PATH names, and calls
 * InitializeInjectionNvtx2() in it. From nvtxDetail/nvtxTypes.h and nvToolsExt.h of NVTX 3, which
 * promise not to change it. Test: tests/cli/nvtx/nvtx_ranges.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_NVTX_NVTX_PROTOCOL_H
#define HPCRUN_LITE_RUNTIME_NVTX_NVTX_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

/* ---- what we are given ---- */

#define NVTX_ETID_CALLBACKS 1u

typedef void nvtx_function(void);
struct nvtx_callbacks {
	size_t struct_size;
	/* *table: by function, where to write our pointer. Returns 0 on failure. */
	int (*module_table)(int module, nvtx_function ****table, unsigned *n);
};
typedef const void *nvtx_export_fn(uint32_t table);

enum { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };

enum {
	NVTX_CORE_MARK_EX = 1,
	NVTX_CORE_MARK_A,
	NVTX_CORE_MARK_W,
	NVTX_CORE_START_EX,
	NVTX_CORE_START_A,
	NVTX_CORE_START_W,
	NVTX_CORE_END,
	NVTX_CORE_PUSH_EX,
	NVTX_CORE_PUSH_A,
	NVTX_CORE_PUSH_W,
	NVTX_CORE_POP,
	NVTX_CORE_CATEGORY_A,
	NVTX_CORE_CATEGORY_W,
	NVTX_CORE_THREAD_A,
	NVTX_CORE_THREAD_W,
	NVTX_N_CORE
};

enum {
	NVTX_CORE2_MARK_EX = 1,
	NVTX_CORE2_START_EX,
	NVTX_CORE2_END,
	NVTX_CORE2_PUSH_EX,
	NVTX_CORE2_POP,
	NVTX_CORE2_CATEGORY_A = 8,
	NVTX_CORE2_CATEGORY_W,
	NVTX_CORE2_STRING_A,
	NVTX_CORE2_STRING_W,
	NVTX_CORE2_DOMAIN_A,
	NVTX_CORE2_DOMAIN_W,
	NVTX_N_CORE2 = 16
};

/* ---- what the program gives ---- */

enum { NVTX_TEXT_ASCII = 1, NVTX_TEXT_WIDE, NVTX_TEXT_REGISTERED };

enum {
	NVTX_VALUE_U64 = 1,
	NVTX_VALUE_I64,
	NVTX_VALUE_DOUBLE,
	NVTX_VALUE_U32,
	NVTX_VALUE_I32,
	NVTX_VALUE_FLOAT,
	NVTX_VALUE_PAYLOADS = (int32_t)0xDFBD0009 /* u64 is the address of the first */
};

struct nvtx_attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t value_type;
	int32_t n_payloads; /* of NVTX_VALUE_PAYLOADS */
	union {
		uint64_t u64;
		int64_t i64;
		double d;
		uint32_t u32;
		int32_t i32;
		float f;
	} value;
	int32_t text_type;
	const void *text;
};

/* ---- the payload extension: nvToolsExtPayload.h, nvtxDetail/nvtxExtTypes.h ---- */

struct nvtx_segment {
	size_t id, n;
	intptr_t *functions;
};
/* The argument of InitializeInjectionNvtxExtension(), which returns 0 on failure. */
struct nvtx_extension {
	uint16_t version, struct_bytes, module, compatible;
	size_t n_segments;
	struct nvtx_segment *segments;
	intptr_t (*find)(uint32_t);
	const void *info;
};
enum { NVTX_EXTENSION_PAYLOAD = 2, NVTX_PAYLOAD_REGISTER = 0 };

enum { NVTX_TYPE_INT32 = 15, NVTX_TYPE_STRING = 80 /* the handle of a registered string */ };
struct nvtx_schema_entry {
	uint64_t flags, type; /* flags 0: a plain value */
	const char *name, *description;
	uint64_t detail, offset;
	const void *semantics, *reserved;
};

enum { NVTX_SCHEMA_ENTRIES = 1 << 4, NVTX_SCHEMA_N_ENTRIES = 1 << 5, NVTX_SCHEMA_ID = 1 << 8 };
#define NVTX_SCHEMA_IDS_OF_TOOLS (UINT64_C(1) << 32) /* ids that a tool assigns begin there */
struct nvtx_schema {
	uint64_t fields; /* which members are set: NVTX_SCHEMA_* */
	const char *name;
	uint64_t type, flags;
	const struct nvtx_schema_entry *entries;
	size_t n_entries, n_bytes, alignment;
	uint64_t id;
};

struct nvtx_payload {
	uint64_t schema;
	size_t n_bytes;
	const void *bytes;
};

#define NVTX_NOT_TRACKED (-2) /* what push and pop return without a tool */

#endif
