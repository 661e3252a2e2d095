/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of NVTX's binary interface that an injection uses. NVTX 3, which is in headers of the
 * program, loads the library that NVTX_INJECTION64_PATH names at its first call, and calls
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
	NVTX_VALUE_FLOAT
};

struct nvtx_attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t value_type;
	int32_t reserved;
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

#define NVTX_NOT_TRACKED (-2) /* what push and pop return without a tool */

#endif
