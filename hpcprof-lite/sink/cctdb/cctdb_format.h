/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HPCToolkit's database format 4.0: the layout of meta.db, profile.db, cct.db and trace.db, as pure
 * functions on bytes. Source: FORMATS.md of HPCToolkit (release 2024.01). If that text differs from
 * the files that HPCToolkit writes, we follow the files, and a comment says so. Numbers are
 * little-endian. Pointers are absolute file offsets. No I/O, no allocation. `put` functions write
 * exactly the given number of bytes, with zeros in gaps. `get` functions read the same; the caller
 * must ensure that the bytes exist. Test: tests/unit/sink/test_sink_cctdb.c.
 */
#ifndef HPCPROF_LITE_SINK_CCTDB_CCTDB_FORMAT_H
#define HPCPROF_LITE_SINK_CCTDB_CCTDB_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cctdb_file { CCTDB_META, CCTDB_PROFILE, CCTDB_CCT, CCTDB_TRACE, CCTDB_N_FILES };

enum { /* sections, in the order of the file header */
	CCTDB_META_GENERAL, CCTDB_META_ID_NAMES, CCTDB_META_METRICS, CCTDB_META_CONTEXTS,
		CCTDB_META_STRINGS, CCTDB_META_MODULES,
	CCTDB_META_FILES, CCTDB_META_FUNCTIONS, CCTDB_META_N_SECTIONS,
	CCTDB_PROFILE_INFOS = 0, CCTDB_PROFILE_ID_TUPLES, CCTDB_PROFILE_N_SECTIONS,
	CCTDB_CCT_INFOS = 0, CCTDB_CCT_N_SECTIONS,
	CCTDB_TRACE_HEADERS = 0, CCTDB_TRACE_N_SECTIONS,
	CCTDB_MAX_SECTIONS = CCTDB_META_N_SECTIONS
};

struct cctdb_section {
	uint64_t bytes, pointer;
};

#define CCTDB_FOOTER_BYTES 8u
/* Size of the file header in bytes: 16, and 16 for each section. */
size_t cctdb_header_bytes(enum cctdb_file file);
void cctdb_put_header(uint8_t *at, enum cctdb_file file, const struct cctdb_section *sections);
/* False if the bytes are not a header of this kind of file with major version 4. */
bool cctdb_get_header(const uint8_t *at, size_t n_bytes, enum cctdb_file file,
	struct cctdb_section *sections);
void cctdb_put_footer(uint8_t *at, enum cctdb_file file);
bool cctdb_get_footer(const uint8_t *at, enum cctdb_file file);

/* ---- meta.db ---- */

#define CCTDB_GENERAL_BYTES 0x10u    /* {title, description} */
#define CCTDB_ID_NAMES_BYTES 0x10u   /* {names, n_kinds}, padded */
#define CCTDB_METRICS_BYTES 0x20u    /* section header, padded */
#define CCTDB_METRIC_BYTES 0x20u
#define CCTDB_SCOPE_INSTANCE_BYTES 0x10u
#define CCTDB_SUMMARY_BYTES 0x18u
#define CCTDB_SCOPE_BYTES 0x10u
/* header of the module, file, function and context sections, padded */
#define CCTDB_LIST_BYTES 0x10u
#define CCTDB_MODULE_BYTES 0x10u
#define CCTDB_FILE_BYTES 0x10u
#define CCTDB_FUNCTION_BYTES 0x28u
#define CCTDB_ENTRY_BYTES 0x20u
#define CCTDB_CONTEXT_FIXED_BYTES 0x20u

enum cctdb_id_kind { CCTDB_ID_SUMMARY, CCTDB_ID_NODE, CCTDB_ID_RANK, CCTDB_ID_THREAD,
	CCTDB_ID_GPUDEVICE, CCTDB_ID_GPUCONTEXT, CCTDB_ID_GPUSTREAM, CCTDB_ID_CORE,
	CCTDB_N_ID_KINDS };
enum cctdb_combine { CCTDB_COMBINE_SUM, CCTDB_COMBINE_MIN, CCTDB_COMBINE_MAX };
enum cctdb_scope_type { CCTDB_SCOPE_CUSTOM, CCTDB_SCOPE_POINT, CCTDB_SCOPE_EXECUTION,
	CCTDB_SCOPE_TRANSITIVE };
enum cctdb_entry_point { CCTDB_ENTRY_UNKNOWN, CCTDB_ENTRY_MAIN_THREAD,
	CCTDB_ENTRY_APPLICATION_THREAD };
enum cctdb_relation { CCTDB_RELATION_LEXICAL, CCTDB_RELATION_CALL, CCTDB_RELATION_INLINED };
enum cctdb_lexical { CCTDB_LEXICAL_FUNCTION, CCTDB_LEXICAL_LOOP, CCTDB_LEXICAL_LINE,
	CCTDB_LEXICAL_INSTRUCTION };

/*
 * The propagation bit of the scope "function". It is set if the relation to the parent is lexical.
 * A remark in FORMATS.md says the opposite; HPCToolkit's writer and its definition of transitive
 * scopes agree with us.
 */
#define CCTDB_PROPAGATE_FUNCTION 1u

void cctdb_put_general(uint8_t *at, uint64_t title, uint64_t description);
/* A pointer in an array of pointers: 8 bytes. */
void cctdb_put_pointer(uint8_t *at, uint64_t pointer);
void cctdb_put_id_names(uint8_t *at, uint64_t names, uint8_t n_kinds);
void cctdb_put_metrics(uint8_t *at, uint64_t metrics, uint32_t n_metrics, uint64_t scopes,
	uint16_t n_scopes);
void cctdb_put_metric(uint8_t *at, uint64_t name, uint64_t instances, uint16_t n_instances,
	uint64_t summaries, uint16_t n_summaries);
void cctdb_put_scope_instance(uint8_t *at, uint64_t scope, uint16_t metric_id);
void cctdb_put_summary(uint8_t *at, uint64_t scope, uint64_t formula, enum cctdb_combine combine,
	uint16_t metric_id);
void cctdb_put_scope(uint8_t *at, uint64_t name, enum cctdb_scope_type type,
	uint8_t propagation_index);
/* Header {pointer, n, stride} of modules, files and functions. */
void cctdb_put_list(uint8_t *at, uint64_t items, uint32_t n, uint16_t item_bytes);
void cctdb_put_context_list(uint8_t *at, uint64_t entries, uint16_t n);
void cctdb_put_module(uint8_t *at, uint64_t path);
void cctdb_put_file(uint8_t *at, bool copied, uint64_t path);
struct cctdb_function {
	uint64_t name, module, offset, file;
	uint32_t line;
};
void cctdb_put_function(uint8_t *at, const struct cctdb_function *f);
struct cctdb_entry {
	uint64_t children_bytes, children;
	uint32_t context;
	uint16_t entry_point;
	uint64_t pretty_name;
};
void cctdb_put_entry(uint8_t *at, const struct cctdb_entry *e);

struct cctdb_context {
	uint64_t children_bytes, children; /* children 0: none */
	uint32_t context;
	uint8_t relation, lexical;
	uint16_t propagation;
	uint64_t function;                 /* 0: none */
	uint64_t file;                     /* 0: no source location */
	uint32_t line;
	uint64_t module;                   /* 0: no point */
	uint64_t offset;
};
/* Size of a context in bytes: the fixed part, and 8 for each word of its flexible part. */
size_t cctdb_context_bytes(const struct cctdb_context *c);
/* Returns the number of bytes written. */
size_t cctdb_put_context(uint8_t *at, const struct cctdb_context *c);
/* Returns the number of bytes read. */
size_t cctdb_get_context(const uint8_t *at, struct cctdb_context *c);

/* ---- profile.db, cct.db ---- */

/* A sparse value block of a profile (indexed by context) or of a context (indexed by metric). */
struct cctdb_block {
	uint64_t n_values, values;
	uint32_t n_indices; /* at most 65535 for the block of a context */
	uint64_t indices;
};
#define CCTDB_BLOCK_BYTES 0x20u
void cctdb_put_block(uint8_t *at, const struct cctdb_block *b);
void cctdb_get_block(const uint8_t *at, struct cctdb_block *b);

#define CCTDB_INFOS_BYTES 0x10u      /* section header of both files, padded */
void cctdb_put_infos(uint8_t *at, uint64_t items, uint32_t n, uint8_t item_bytes);

/* FORMATS.md says 40 in one place; its table and the files say 48 */
#define CCTDB_PROFILE_BYTES 0x30u
void cctdb_put_profile(uint8_t *at, const struct cctdb_block *b, uint64_t id_tuple,
	bool is_summary);

#define CCTDB_ID_TUPLE_BYTES 0x08u   /* followed by the identifiers */
#define CCTDB_ID_BYTES 0x10u
struct cctdb_id {
	uint8_t kind;
	bool is_physical;
	uint32_t logical;
	uint64_t physical;
};
void cctdb_put_id_tuple(uint8_t *at, const struct cctdb_id *ids, uint16_t n);

#define CCTDB_PROFILE_VALUE_BYTES 10u /* {u16 metric, f64} */
#define CCTDB_PROFILE_INDEX_BYTES 12u /* {u32 context, u64 first value} */
#define CCTDB_CCT_VALUE_BYTES 12u     /* {u32 profile, f64} */
#define CCTDB_CCT_INDEX_BYTES 10u     /* {u16 metric, u64 first value} */
void cctdb_put_profile_value(uint8_t *at, uint16_t metric, double value);
void cctdb_put_profile_index(uint8_t *at, uint32_t context, uint64_t start);
void cctdb_put_cct_value(uint8_t *at, uint32_t profile, double value);
void cctdb_put_cct_index(uint8_t *at, uint16_t metric, uint64_t start);
void cctdb_get_profile_value(const uint8_t *at, uint16_t *metric, double *value);
void cctdb_get_profile_index(const uint8_t *at, uint32_t *context, uint64_t *start);
void cctdb_get_cct_value(const uint8_t *at, uint32_t *profile, double *value);
void cctdb_get_cct_index(const uint8_t *at, uint16_t *metric, uint64_t *start);

/* ---- trace.db ---- */

#define CCTDB_TRACES_BYTES 0x20u      /* section header */
#define CCTDB_TRACE_BYTES 0x18u
#define CCTDB_SAMPLE_BYTES 12u        /* {u64 ns, u32 context} */
void cctdb_put_traces(uint8_t *at, uint64_t traces, uint32_t n, uint64_t first_ns,
	uint64_t last_ns);
void cctdb_put_trace(uint8_t *at, uint32_t profile, uint64_t start, uint64_t end);
void cctdb_put_sample(uint8_t *at, uint64_t time_ns, uint32_t context);
void cctdb_get_sample(const uint8_t *at, uint64_t *time_ns, uint32_t *context);

static inline uint64_t cctdb_align(uint64_t offset, uint64_t alignment)
{
	return (offset + alignment - 1) / alignment * alignment;
}

#endif
