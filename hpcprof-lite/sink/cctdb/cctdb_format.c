/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout of HPCToolkit's database format 4.0; see cctdb_format.h. No I/O, no allocation. Test:
 * tests/unit/sink/test_sink_cctdb.c. */
#include "hpcprof-lite/sink/cctdb/cctdb_format.h"

#include <endian.h>
#include <string.h>

static void put_u16(uint8_t *at, uint16_t v)
{
	v = htole16(v);
	memcpy(at, &v, sizeof v);
}
static void put_u32(uint8_t *at, uint32_t v)
{
	v = htole32(v);
	memcpy(at, &v, sizeof v);
}
static void put_u64(uint8_t *at, uint64_t v)
{
	v = htole64(v);
	memcpy(at, &v, sizeof v);
}
static void put_f64(uint8_t *at, double v)
{
	uint64_t bits;
	memcpy(&bits, &v, sizeof bits);
	put_u64(at, bits);
}
static uint16_t get_u16(const uint8_t *at)
{
	uint16_t v;
	memcpy(&v, at, sizeof v);
	return le16toh(v);
}
static uint32_t get_u32(const uint8_t *at)
{
	uint32_t v;
	memcpy(&v, at, sizeof v);
	return le32toh(v);
}
static uint64_t get_u64(const uint8_t *at)
{
	uint64_t v;
	memcpy(&v, at, sizeof v);
	return le64toh(v);
}
static double get_f64(const uint8_t *at)
{
	uint64_t bits = get_u64(at);
	double v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

/* ---- common ---- */

static const char magic[] = "HPCTOOLKIT";
static const struct {
	char format[5], footer[9];
	uint8_t n_sections;
} files[CCTDB_N_FILES] = {
	[CCTDB_META] = {"meta", "_meta.db", CCTDB_META_N_SECTIONS},
	[CCTDB_PROFILE] = {"prof", "_prof.db", CCTDB_PROFILE_N_SECTIONS},
	[CCTDB_CCT] = {"ctxt", "__ctx.db", CCTDB_CCT_N_SECTIONS},
	[CCTDB_TRACE] = {"trce", "trace.db", CCTDB_TRACE_N_SECTIONS},
};

size_t cctdb_header_bytes(enum cctdb_file file)
{
	return 16 + (size_t)16 * files[file].n_sections;
}

void cctdb_put_header(uint8_t *at, enum cctdb_file file, const struct cctdb_section *sections)
{
	memcpy(at, magic, 10);
	memcpy(at + 10, files[file].format, 4);
	at[14] = 4; /* major version */
	at[15] = 0; /* minor version */
	for (size_t i = 0; i < files[file].n_sections; i++) {
		put_u64(at + 16 + 16 * i, sections[i].bytes);
		put_u64(at + 24 + 16 * i, sections[i].pointer);
	}
}

bool cctdb_get_header(const uint8_t *at, size_t n_bytes, enum cctdb_file file,
		      struct cctdb_section *sections)
{
	if (n_bytes < cctdb_header_bytes(file) || memcmp(at, magic, 10) != 0 ||
	    memcmp(at + 10, files[file].format, 4) != 0 || at[14] != 4)
		return false;
	for (size_t i = 0; i < files[file].n_sections; i++)
		sections[i] = (struct cctdb_section){get_u64(at + 16 + 16 * i),
						     get_u64(at + 24 + 16 * i)};
	return true;
}

void cctdb_put_footer(uint8_t *at, enum cctdb_file file)
{
	memcpy(at, files[file].footer, CCTDB_FOOTER_BYTES);
}

bool cctdb_get_footer(const uint8_t *at, enum cctdb_file file)
{
	return memcmp(at, files[file].footer, CCTDB_FOOTER_BYTES) == 0;
}

/* ---- meta.db ---- */

void cctdb_put_general(uint8_t *at, uint64_t title, uint64_t description)
{
	put_u64(at, title);
	put_u64(at + 8, description);
}

void cctdb_put_pointer(uint8_t *at, uint64_t pointer)
{
	put_u64(at, pointer);
}

void cctdb_put_id_names(uint8_t *at, uint64_t names, uint8_t n_kinds)
{
	memset(at, 0, CCTDB_ID_NAMES_BYTES);
	put_u64(at, names);
	at[8] = n_kinds;
}

void cctdb_put_metrics(uint8_t *at, uint64_t metrics, uint32_t n_metrics, uint64_t scopes,
		       uint16_t n_scopes)
{
	memset(at, 0, CCTDB_METRICS_BYTES);
	put_u64(at, metrics);
	put_u32(at + 0x08, n_metrics);
	at[0x0c] = CCTDB_METRIC_BYTES;
	at[0x0d] = CCTDB_SCOPE_INSTANCE_BYTES;
	at[0x0e] = CCTDB_SUMMARY_BYTES;
	put_u64(at + 0x10, scopes);
	put_u16(at + 0x18, n_scopes);
	at[0x1a] = CCTDB_SCOPE_BYTES;
}

void cctdb_put_metric(uint8_t *at, uint64_t name, uint64_t instances, uint16_t n_instances,
		      uint64_t summaries, uint16_t n_summaries)
{
	memset(at, 0, CCTDB_METRIC_BYTES);
	put_u64(at, name);
	put_u64(at + 0x08, instances);
	put_u64(at + 0x10, summaries);
	put_u16(at + 0x18, n_instances);
	put_u16(at + 0x1a, n_summaries);
}

void cctdb_put_scope_instance(uint8_t *at, uint64_t scope, uint16_t metric_id)
{
	memset(at, 0, CCTDB_SCOPE_INSTANCE_BYTES);
	put_u64(at, scope);
	put_u16(at + 0x08, metric_id);
}

void cctdb_put_summary(uint8_t *at, uint64_t scope, uint64_t formula, enum cctdb_combine combine,
		       uint16_t metric_id)
{
	memset(at, 0, CCTDB_SUMMARY_BYTES);
	put_u64(at, scope);
	put_u64(at + 0x08, formula);
	at[0x10] = (uint8_t)combine;
	put_u16(at + 0x12, metric_id);
}

void cctdb_put_scope(uint8_t *at, uint64_t name, enum cctdb_scope_type type,
		     uint8_t propagation_index)
{
	memset(at, 0, CCTDB_SCOPE_BYTES);
	put_u64(at, name);
	at[0x08] = (uint8_t)type;
	at[0x09] = propagation_index;
}

void cctdb_put_list(uint8_t *at, uint64_t items, uint32_t n, uint16_t item_bytes)
{
	memset(at, 0, CCTDB_LIST_BYTES);
	put_u64(at, items);
	put_u32(at + 0x08, n);
	put_u16(at + 0x0c, item_bytes);
}

void cctdb_put_context_list(uint8_t *at, uint64_t entries, uint16_t n)
{
	memset(at, 0, CCTDB_LIST_BYTES);
	put_u64(at, entries);
	put_u16(at + 0x08, n);
	at[0x0a] = CCTDB_ENTRY_BYTES;
}

void cctdb_put_module(uint8_t *at, uint64_t path)
{
	memset(at, 0, CCTDB_MODULE_BYTES);
	put_u64(at + 0x08, path);
}

void cctdb_put_file(uint8_t *at, bool copied, uint64_t path)
{
	memset(at, 0, CCTDB_FILE_BYTES);
	put_u32(at, copied ? 1 : 0);
	put_u64(at + 0x08, path);
}

void cctdb_put_function(uint8_t *at, const struct cctdb_function *f)
{
	memset(at, 0, CCTDB_FUNCTION_BYTES);
	put_u64(at, f->name);
	put_u64(at + 0x08, f->module);
	put_u64(at + 0x10, f->offset);
	put_u64(at + 0x18, f->file);
	put_u32(at + 0x20, f->line);
}

void cctdb_put_entry(uint8_t *at, const struct cctdb_entry *e)
{
	memset(at, 0, CCTDB_ENTRY_BYTES);
	put_u64(at, e->children_bytes);
	put_u64(at + 0x08, e->children);
	put_u32(at + 0x10, e->context);
	put_u16(at + 0x14, e->entry_point);
	put_u64(at + 0x18, e->pretty_name);
}

enum { HAS_FUNCTION = 1, HAS_SOURCE = 2, HAS_POINT = 4 };

size_t cctdb_context_bytes(const struct cctdb_context *c)
{
	return CCTDB_CONTEXT_FIXED_BYTES + (c->function ? 8 : 0) + (c->file ? 16 : 0) +
	       (c->module ? 16 : 0);
}

size_t cctdb_put_context(uint8_t *at, const struct cctdb_context *c)
{
	size_t n_bytes = cctdb_context_bytes(c);
	uint8_t *flex = at + CCTDB_CONTEXT_FIXED_BYTES;
	memset(at, 0, n_bytes);
	put_u64(at, c->children_bytes);
	put_u64(at + 0x08, c->children);
	put_u32(at + 0x10, c->context);
	at[0x14] = (uint8_t)((c->function ? HAS_FUNCTION : 0) | (c->file ? HAS_SOURCE : 0) |
			     (c->module ? HAS_POINT : 0));
	at[0x15] = c->relation;
	at[0x16] = c->lexical;
	at[0x17] = (uint8_t)((n_bytes - CCTDB_CONTEXT_FIXED_BYTES) / 8);
	put_u16(at + 0x18, c->propagation);
	if (c->function) {
		put_u64(flex, c->function);
		flex += 8;
	}
	if (c->file) {
		put_u64(flex, c->file);
		put_u32(flex + 8, c->line);
		flex += 16;
	}
	if (c->module) {
		put_u64(flex, c->module);
		put_u64(flex + 8, c->offset);
	}
	return n_bytes;
}

size_t cctdb_get_context(const uint8_t *at, struct cctdb_context *c)
{
	const uint8_t *flex = at + CCTDB_CONTEXT_FIXED_BYTES;
	uint8_t flags = at[0x14];
	*c = (struct cctdb_context){
		.children_bytes = get_u64(at),
		.children = get_u64(at + 0x08),
		.context = get_u32(at + 0x10),
		.relation = at[0x15],
		.lexical = at[0x16],
		.propagation = get_u16(at + 0x18),
	};
	if (flags & HAS_FUNCTION) {
		c->function = get_u64(flex);
		flex += 8;
	}
	if (flags & HAS_SOURCE) {
		c->file = get_u64(flex);
		c->line = get_u32(flex + 8);
		flex += 16;
	}
	if (flags & HAS_POINT) {
		c->module = get_u64(flex);
		c->offset = get_u64(flex + 8);
	}
	return CCTDB_CONTEXT_FIXED_BYTES + (size_t)8 * at[0x17];
}

/* ---- profile.db, cct.db ---- */

void cctdb_put_block(uint8_t *at, const struct cctdb_block *b)
{
	memset(at, 0, CCTDB_BLOCK_BYTES);
	put_u64(at, b->n_values);
	put_u64(at + 0x08, b->values);
	put_u32(at + 0x10, b->n_indices); /* u16 in cct.db, followed by zeros */
	put_u64(at + 0x18, b->indices);
}

void cctdb_get_block(const uint8_t *at, struct cctdb_block *b)
{
	*b = (struct cctdb_block){get_u64(at), get_u64(at + 0x08), get_u32(at + 0x10),
				  get_u64(at + 0x18)};
}

void cctdb_put_infos(uint8_t *at, uint64_t items, uint32_t n, uint8_t item_bytes)
{
	memset(at, 0, CCTDB_INFOS_BYTES);
	put_u64(at, items);
	put_u32(at + 0x08, n);
	at[0x0c] = item_bytes;
}

void cctdb_put_profile(uint8_t *at, const struct cctdb_block *b, uint64_t id_tuple, bool is_summary)
{
	memset(at, 0, CCTDB_PROFILE_BYTES);
	cctdb_put_block(at, b);
	put_u64(at + 0x20, id_tuple);
	put_u32(at + 0x28, is_summary ? 1 : 0);
}

void cctdb_put_id_tuple(uint8_t *at, const struct cctdb_id *ids, uint16_t n)
{
	memset(at, 0, CCTDB_ID_TUPLE_BYTES + (size_t)n * CCTDB_ID_BYTES);
	put_u16(at, n);
	at += CCTDB_ID_TUPLE_BYTES;
	for (uint16_t i = 0; i < n; i++, at += CCTDB_ID_BYTES) {
		at[0] = ids[i].kind;
		put_u16(at + 2, ids[i].is_physical ? 1 : 0);
		put_u32(at + 4, ids[i].logical);
		put_u64(at + 8, ids[i].is_physical ? ids[i].physical : ids[i].logical);
	}
}

void cctdb_put_profile_value(uint8_t *at, uint16_t metric, double value)
{
	put_u16(at, metric);
	put_f64(at + 2, value);
}
void cctdb_put_profile_index(uint8_t *at, uint32_t context, uint64_t start)
{
	put_u32(at, context);
	put_u64(at + 4, start);
}
void cctdb_put_cct_value(uint8_t *at, uint32_t profile, double value)
{
	put_u32(at, profile);
	put_f64(at + 4, value);
}
void cctdb_put_cct_index(uint8_t *at, uint16_t metric, uint64_t start)
{
	put_u16(at, metric);
	put_u64(at + 2, start);
}
void cctdb_get_profile_value(const uint8_t *at, uint16_t *metric, double *value)
{
	*metric = get_u16(at);
	*value = get_f64(at + 2);
}
void cctdb_get_profile_index(const uint8_t *at, uint32_t *context, uint64_t *start)
{
	*context = get_u32(at);
	*start = get_u64(at + 4);
}
void cctdb_get_cct_value(const uint8_t *at, uint32_t *profile, double *value)
{
	*profile = get_u32(at);
	*value = get_f64(at + 4);
}
void cctdb_get_cct_index(const uint8_t *at, uint16_t *metric, uint64_t *start)
{
	*metric = get_u16(at);
	*start = get_u64(at + 2);
}

/* ---- trace.db ---- */

void cctdb_put_traces(uint8_t *at, uint64_t traces, uint32_t n, uint64_t first_ns, uint64_t last_ns)
{
	memset(at, 0, CCTDB_TRACES_BYTES);
	put_u64(at, traces);
	put_u32(at + 0x08, n);
	at[0x0c] = CCTDB_TRACE_BYTES;
	put_u64(at + 0x10, first_ns);
	put_u64(at + 0x18, last_ns);
}

void cctdb_put_trace(uint8_t *at, uint32_t profile, uint64_t start, uint64_t end)
{
	memset(at, 0, CCTDB_TRACE_BYTES);
	put_u32(at, profile);
	put_u64(at + 0x08, start);
	put_u64(at + 0x10, end);
}

void cctdb_put_sample(uint8_t *at, uint64_t time_ns, uint32_t context)
{
	put_u64(at, time_ns);
	put_u32(at + 8, context);
}

void cctdb_get_sample(const uint8_t *at, uint64_t *time_ns, uint32_t *context)
{
	*time_ns = get_u64(at);
	*context = get_u32(at + 8);
}
