/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See nvtx_payload.h. What XLA registers was read from xla/backends/gpu/runtime/annotation.cc and
 * tsl/profiler/lib/nvtx_utils.cc in openxla/xla. Test: tests/cli/nvtx/nvtx_xla.sh.
 */
#include "hpcrun-lite/runtime/nvtx/nvtx_payload.h"

#include "common/safe/text.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/nvtx/nvtx_strings.h"

#include <stdatomic.h>
#include <string.h>

#define SCHEMAS_MOST 64u
#define ENTRIES_MOST 256u /* of a schema that we look at */
#define PAYLOADS_MOST 8u  /* of a range that we look at */
#define NOWHERE UINT64_MAX

/* Offsets in a payload; NOWHERE: it has none. */
struct known {
	uint64_t id;
	uint64_t stacks, file, line;
};

static struct known schemas[SCHEMAS_MOST];
static _Atomic uint32_t n_given; /* places used in `schemas` */
static _Atomic uint64_t is_ready; /* bit i: schemas[i] is complete */

/* ---- schemas ---- */

static uint64_t find_entry(const struct nvtx_schema *s, const char *name, uint64_t type)
{
	for (size_t i = 0; i < s->n_entries && i < ENTRIES_MOST; i++) {
		const struct nvtx_schema_entry *e = &s->entries[i];
		if (e->type == type && e->flags == 0 && e->name && !strcmp(e->name, name) &&
		    e->offset < UINT32_MAX)
			return e->offset;
	}
	return NOWHERE;
}

uint64_t nvtx_payload_register(const struct nvtx_schema *s)
{
	if (!s || !(s->fields & NVTX_SCHEMA_ENTRIES) || !(s->fields & NVTX_SCHEMA_N_ENTRIES) ||
	    !s->entries)
		return 0;
	const uint32_t i = atomic_fetch_add_explicit(&n_given, 1, memory_order_relaxed);
	if (i >= SCHEMAS_MOST) {
		atomic_store_explicit(&n_given, SCHEMAS_MOST, memory_order_relaxed);
		return 0;
	}
	const bool has_id = s->fields & NVTX_SCHEMA_ID;
	schemas[i] = (struct known){
		.id = has_id ? s->id : NVTX_SCHEMA_IDS_OF_TOOLS + i,
		.stacks = find_entry(s, "Source locations", NVTX_TYPE_STRING),
		.file = find_entry(s, "Source file", NVTX_TYPE_STRING),
		.line = find_entry(s, "Source line", NVTX_TYPE_INT32)};
	/* release: publishes the schema */
	atomic_fetch_or_explicit(&is_ready, UINT64_C(1) << i, memory_order_release);
	return schemas[i].id;
}

static const struct known *find_schema(uint64_t id)
{
	/* acquire: the schema was written before */
	const uint64_t ready = atomic_load_explicit(&is_ready, memory_order_acquire);
	for (unsigned i = 0; i < SCHEMAS_MOST; i++)
		if (ready >> i & 1 && schemas[i].id == id)
			return &schemas[i];
	return NULL;
}

/* ---- payloads ---- */

static bool read(const struct nvtx_payload *p, uint64_t offset, void *to, size_t n)
{
	if (offset == NOWHERE || p->n_bytes < n || offset > p->n_bytes - n)
		return false;
	memcpy(to, (const char *)p->bytes + offset, n);
	return true;
}

static const struct nvtx_string *read_string(const struct nvtx_payload *p, uint64_t offset)
{
	uintptr_t handle;
	if (!read(p, offset, &handle, sizeof handle) || handle < NVTX_STRING_HANDLES ||
	    handle - NVTX_STRING_HANDLES >= NVTX_STRINGS_MOST)
		return NULL;
	const struct nvtx_string *s =
		nvtx_strings_get((uint32_t)(handle - NVTX_STRING_HANDLES));
	return s && s->n ? s : NULL;
}

static bool find_source(const struct nvtx_payload *p, struct nvtx_text *to)
{
	const struct known *k = p->bytes ? find_schema(p->schema) : NULL;
	const struct nvtx_string *s;
	int32_t line;
	if (!k)
		return false;
	if ((s = read_string(p, k->file)) && read(p, k->line, &line, sizeof line) && line > 0) {
		struct text t = text_in(to->bytes, sizeof to->bytes);
		text_put(&t, s->text);
		text_put(&t, ":");
		text_put_u64(&t, (uint64_t)line);
	} else if ((s = read_string(p, k->stacks)) && s->text[strspn(s->text, "\n")]) {
		nvtx_text_set(to, s->text);
	} else {
		return false;
	}
	to->n = strnlen(to->bytes, sizeof to->bytes - 1);
	return true;
}

bool nvtx_payload_source(const struct nvtx_attributes *a, struct nvtx_text *source)
{
	const struct nvtx_payload *p = (const void *)(uintptr_t)a->value.u64;
	if (a->value_type != NVTX_VALUE_PAYLOADS || !p)
		return false;
	for (int i = 0; i < a->n_payloads && i < (int)PAYLOADS_MOST; i++)
		if (find_source(&p[i], source))
			return true;
	return false;
}

/* ---- call stacks as XLA writes them ---- */

/* Returns the start of ":DIGITS" at the end of a text; NULL: the text does not end so. */
static const char *find_number(const char *from, const char *end)
{
	const char *at = end;
	while (at > from && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at < end && at > from && at[-1] == ':' ? at - 1 : NULL;
}

/* Shortens "file:line:column[function] operation" to "file:line". */
static void set_place(struct nvtx_text *to, const char *from, size_t n)
{
	const char *end = from;
	while (end < from + n && *end != '[' && *end != ' ')
		end++;
	const char *last = find_number(from, end);
	if (last && find_number(from, last))
		end = last;
	to->n = (size_t)(end - from);
	to->n = to->n < sizeof to->bytes ? to->n : sizeof to->bytes - 1;
	memcpy(to->bytes, from, to->n);
	to->bytes[to->n] = '\0';
}

/*
 * Each line is a frame with as many dashes as its depth:
 *	- FILE:9[<module>]
 *	-- FILE:12:4[step] add
 */
bool nvtx_payload_first_line(const char *from, struct nvtx_text *to)
{
	size_t depth = 0;
	if (!from || strncmp(from, "\n- ", 3) != 0)
		return false;
	for (const char *line = from + 1; *line == '-';) {
		const size_t dashes = strspn(line, "-");
		const char *place = line + dashes + (line[dashes] == ' ');
		const size_t n = strcspn(place, "\n");
		if (dashes <= depth)
			break;
		depth = dashes;
		set_place(to, place, n);
		line = place + n + (place[n] == '\n');
	}
	return true;
}

/* ---- the entry ---- */

static uint64_t register_schema(const void *domain, const struct nvtx_schema *schema)
{
	(void)domain;
	return nvtx_payload_register(schema);
}

HOOK int InitializeInjectionNvtxExtension(struct nvtx_extension *e);

/* Replaces only the function that registers schemas. */
int InitializeInjectionNvtxExtension(struct nvtx_extension *e)
{
	if (!e || e->struct_bytes < sizeof *e || e->module != NVTX_EXTENSION_PAYLOAD ||
	    e->n_segments == 0 || !e->segments || e->segments[0].n <= NVTX_PAYLOAD_REGISTER ||
	    !nvtx_names_start())
		return 0;
	e->segments[0].functions[NVTX_PAYLOAD_REGISTER] =
		(intptr_t)(nvtx_function *)register_schema;
	return 1;
}
