/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that NVTX calls in place of its own. NVTX loads this library by the answer of our
 * getenv (hook_getenv.c) and calls InitializeInjectionNvtx2(). A program can have several copies of
 * NVTX, and each of them does so. Where possible our functions return what NVTX returns without a
 * tool, because the program may see it. Test: tests/cli/nvtx/nvtx_ranges.sh.
 */
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/nvtx/nvtx_glue.h"
#include "hpcrun-lite/runtime/nvtx/nvtx_names.h"
#include "hpcrun-lite/runtime/nvtx/nvtx_payload.h"
#include "hpcrun-lite/runtime/nvtx/nvtx_protocol.h"
#include "hpcrun-lite/runtime/nvtx/nvtx_strings.h"

#include <string.h>

/* ---- names ---- */

/* Handles are ids, because the program never dereferences them. 0 is the default domain. */
static uint32_t id_of(const void *handle)
{
	const uintptr_t id = (uintptr_t)handle;
	return id < MSR_NVTX_NAMES_MOST ? (uint32_t)id : 0;
}

static uint32_t domain_of(const void *handle)
{
	return nvtx_names_again(MSR_NVTX_NAME_DOMAIN, id_of(handle));
}

static void cut_at(struct nvtx_text *text, const char *tail)
{
	char *at = strstr(text->bytes, tail);
	if (at) {
		*at = '\0';
		text->n = (size_t)(at - text->bytes);
	}
}

/*
 * PyTorch appends a number to the names of its operators, so each call would have its own name:
 * "aten::conv2d, seq = 12, op_id = 40". XLA does so for each module that it compiles, in some 50
 * passes: "XlaPass:#name=fusion,module=jit_step,program_id=3#".
 */
static void cut_numbers(struct nvtx_text *text)
{
	cut_at(text, ", seq = ");
	cut_at(text, ", op_id = ");
	if (strncmp(text->bytes, "Xla", 3) == 0)
		cut_at(text, ",program_id=");
	if (strncmp(text->bytes, "XlaPass", 7) == 0)
		cut_at(text, ",module=");
}

static uint32_t name_of(enum msr_nvtx_name_kind kind, uint32_t domain, uint32_t category,
			struct nvtx_text *text)
{
	const struct nvtx_name name = {.kind = kind, .domain = domain, .category = category};
	if (kind == MSR_NVTX_NAME_RANGE)
		cut_numbers(text);
	return nvtx_names_find(&name, text);
}

static uint32_t name_of_ascii(uint32_t domain, uint32_t category, const char *message)
{
	struct nvtx_text text;
	uint32_t id = nvtx_names_known(domain, category, message);
	if (id)
		return id;
	nvtx_text_set(&text, message);
	id = name_of(MSR_NVTX_NAME_RANGE, domain, category, &text);
	if (message)
		nvtx_names_remember(domain, category, message, id);
	return id;
}

static struct nvtx_begin begin_text(struct nvtx_text *text)
{
	return (struct nvtx_begin){.name = name_of(MSR_NVTX_NAME_RANGE, 0, 0, text)};
}

static struct nvtx_begin begin_ascii(const char *message)
{
	return (struct nvtx_begin){.name = name_of_ascii(0, 0, message)};
}

static struct nvtx_begin begin_wide(const wchar_t *message)
{
	struct nvtx_text text;
	nvtx_text_set_wide(&text, message);
	return begin_text(&text);
}

static bool value_of(const struct nvtx_attributes *a, double *value)
{
	switch (a->value_type) {
	case NVTX_VALUE_U64: *value = (double)a->value.u64; return true;
	case NVTX_VALUE_I64: *value = (double)a->value.i64; return true;
	case NVTX_VALUE_DOUBLE: *value = a->value.d; return true;
	case NVTX_VALUE_U32: *value = a->value.u32; return true;
	case NVTX_VALUE_I32: *value = a->value.i32; return true;
	case NVTX_VALUE_FLOAT: *value = (double)a->value.f; return true;
	default: return false;
	}
}

/* A registered string already has its domain; with a category it is another name. */
static uint32_t name_of_string(const struct nvtx_attributes *a)
{
	const uintptr_t handle = (uintptr_t)a->text;
	struct nvtx_string *s = handle >= NVTX_STRING_HANDLES && handle < UINT32_MAX
					? nvtx_strings_get((uint32_t)handle - NVTX_STRING_HANDLES)
					: NULL;
	struct nvtx_text text, source;
	if (!s)
		return 0;
	/* acquire: the entry of the name was written before */
	const uint32_t known = atomic_load_explicit(&s->name, memory_order_acquire);
	if (known && !a->category)
		return nvtx_names_again(MSR_NVTX_NAME_RANGE, known);
	const bool has_source = nvtx_payload_source(a, &source);
	const struct nvtx_name name = {.kind = MSR_NVTX_NAME_RANGE,
				       .domain = s->domain,
				       .category = a->category,
				       .source = has_source ? source.bytes : NULL};
	nvtx_text_set(&text, s->text);
	cut_numbers(&text);
	const uint32_t id = nvtx_names_find(&name, &text);
	if (!a->category)
		atomic_store_explicit(&s->name, id, memory_order_release);
	return id;
}

static uint32_t name_in(const struct nvtx_attributes *a, uint32_t domain)
{
	struct nvtx_text text;
	if (a->text_type == NVTX_TEXT_REGISTERED)
		return name_of_string(a);
	if (a->text_type == NVTX_TEXT_WIDE) {
		nvtx_text_set_wide(&text, a->text);
	} else {
		return name_of_ascii(domain, a->category,
				     a->text_type == NVTX_TEXT_ASCII ? a->text : NULL);
	}
	return name_of(MSR_NVTX_NAME_RANGE, domain, a->category, &text);
}

static struct nvtx_begin begin_ex(const void *domain, const struct nvtx_attributes *a)
{
	struct nvtx_begin b = {.domain = domain_of(domain)};
	if (!a || a->size < sizeof *a)
		return b;
	b.name = name_in(a, b.domain);
	b.has_value = value_of(a, &b.value);
	return b;
}

/* ---- ranges and marks ---- */

static void domain_mark_ex(const void *domain, const struct nvtx_attributes *a)
{
	const struct nvtx_begin b = begin_ex(domain, a);
	nvtx_glue_mark(&b);
}

static void mark_ex(const struct nvtx_attributes *a)
{
	domain_mark_ex(NULL, a);
}

static void mark_a(const char *message)
{
	const struct nvtx_begin b = begin_ascii(message);
	nvtx_glue_mark(&b);
}

static void mark_w(const wchar_t *message)
{
	const struct nvtx_begin b = begin_wide(message);
	nvtx_glue_mark(&b);
}

static uint64_t domain_start_ex(const void *domain, const struct nvtx_attributes *a)
{
	const struct nvtx_begin b = begin_ex(domain, a);
	return nvtx_glue_range_start(&b);
}

static uint64_t start_ex(const struct nvtx_attributes *a)
{
	return domain_start_ex(NULL, a);
}

static uint64_t start_a(const char *message)
{
	const struct nvtx_begin b = begin_ascii(message);
	return nvtx_glue_range_start(&b);
}

static uint64_t start_w(const wchar_t *message)
{
	const struct nvtx_begin b = begin_wide(message);
	return nvtx_glue_range_start(&b);
}

static void end(uint64_t number)
{
	nvtx_glue_range_end(number);
}

static void domain_end(const void *domain, uint64_t number)
{
	(void)domain;
	nvtx_glue_range_end(number);
}

static int domain_push_ex(const void *domain, const struct nvtx_attributes *a)
{
	const struct nvtx_begin b = begin_ex(domain, a);
	nvtx_glue_push(&b);
	return NVTX_NOT_TRACKED;
}

static int push_ex(const struct nvtx_attributes *a)
{
	return domain_push_ex(NULL, a);
}

static int push_a(const char *message)
{
	const struct nvtx_begin b = begin_ascii(message);
	nvtx_glue_push(&b);
	return NVTX_NOT_TRACKED;
}

static int push_w(const wchar_t *message)
{
	const struct nvtx_begin b = begin_wide(message);
	nvtx_glue_push(&b);
	return NVTX_NOT_TRACKED;
}

static int pop(void)
{
	nvtx_glue_pop(0);
	return NVTX_NOT_TRACKED;
}

static int domain_pop(const void *domain)
{
	nvtx_glue_pop(domain_of(domain));
	return NVTX_NOT_TRACKED;
}

/* ---- names that the program gives ---- */

static void domain_category_a(const void *domain, uint32_t category, const char *name)
{
	struct nvtx_text text;
	nvtx_text_set(&text, name);
	(void)name_of(MSR_NVTX_NAME_CATEGORY, domain_of(domain), category, &text);
}

static void domain_category_w(const void *domain, uint32_t category, const wchar_t *name)
{
	struct nvtx_text text;
	nvtx_text_set_wide(&text, name);
	(void)name_of(MSR_NVTX_NAME_CATEGORY, domain_of(domain), category, &text);
}

static void category_a(uint32_t category, const char *name)
{
	domain_category_a(NULL, category, name);
}

static void category_w(uint32_t category, const wchar_t *name)
{
	domain_category_w(NULL, category, name);
}

static void name_thread(uint32_t tid, const struct nvtx_text *text)
{
	const struct nvtx_name name = {.kind = MSR_NVTX_NAME_THREAD,
				       .thread = nvtx_glue_thread_of(tid)};
	if (name.thread != UINT32_MAX)
		(void)nvtx_names_find(&name, text);
}

static void thread_a(uint32_t tid, const char *name)
{
	struct nvtx_text text;
	nvtx_text_set(&text, name);
	name_thread(tid, &text);
}

static void thread_w(uint32_t tid, const wchar_t *name)
{
	struct nvtx_text text;
	nvtx_text_set_wide(&text, name);
	name_thread(tid, &text);
}

static void *handle_of(uint32_t id)
{
	return (void *)(uintptr_t)id;
}

static void *handle_of_string(const void *domain, const struct nvtx_text *text)
{
	const uint32_t number = nvtx_strings_add(domain_of(domain), text);
	return number ? handle_of(NVTX_STRING_HANDLES + number) : NULL;
}

static void *string_a(const void *domain, const char *string)
{
	struct nvtx_text text;
	if (!nvtx_payload_first_line(string, &text))
		nvtx_text_set(&text, string);
	return handle_of_string(domain, &text);
}

static void *string_w(const void *domain, const wchar_t *string)
{
	struct nvtx_text text;
	nvtx_text_set_wide(&text, string);
	return handle_of_string(domain, &text);
}

static void *domain_a(const char *name)
{
	struct nvtx_text text;
	nvtx_text_set(&text, name);
	return handle_of(name_of(MSR_NVTX_NAME_DOMAIN, 0, 0, &text));
}

static void *domain_w(const wchar_t *name)
{
	struct nvtx_text text;
	nvtx_text_set_wide(&text, name);
	return handle_of(name_of(MSR_NVTX_NAME_DOMAIN, 0, 0, &text));
}

/* ---- the entry ---- */

#define AS(f) ((nvtx_function *)(f))
static nvtx_function *const core[NVTX_N_CORE] = {
	[NVTX_CORE_MARK_EX] = AS(mark_ex),       [NVTX_CORE_MARK_A] = AS(mark_a),
	[NVTX_CORE_MARK_W] = AS(mark_w),         [NVTX_CORE_START_EX] = AS(start_ex),
	[NVTX_CORE_START_A] = AS(start_a),       [NVTX_CORE_START_W] = AS(start_w),
	[NVTX_CORE_END] = AS(end),               [NVTX_CORE_PUSH_EX] = AS(push_ex),
	[NVTX_CORE_PUSH_A] = AS(push_a),         [NVTX_CORE_PUSH_W] = AS(push_w),
	[NVTX_CORE_POP] = AS(pop),               [NVTX_CORE_CATEGORY_A] = AS(category_a),
	[NVTX_CORE_CATEGORY_W] = AS(category_w), [NVTX_CORE_THREAD_A] = AS(thread_a),
	[NVTX_CORE_THREAD_W] = AS(thread_w),
};
static nvtx_function *const core2[NVTX_N_CORE2] = {
	[NVTX_CORE2_MARK_EX] = AS(domain_mark_ex),
	[NVTX_CORE2_START_EX] = AS(domain_start_ex),
	[NVTX_CORE2_END] = AS(domain_end),
	[NVTX_CORE2_PUSH_EX] = AS(domain_push_ex),
	[NVTX_CORE2_POP] = AS(domain_pop),
	[NVTX_CORE2_CATEGORY_A] = AS(domain_category_a),
	[NVTX_CORE2_CATEGORY_W] = AS(domain_category_w),
	[NVTX_CORE2_STRING_A] = AS(string_a),
	[NVTX_CORE2_STRING_W] = AS(string_w),
	[NVTX_CORE2_DOMAIN_A] = AS(domain_a),
	[NVTX_CORE2_DOMAIN_W] = AS(domain_w),
};

static bool put(const struct nvtx_callbacks *c, int module, nvtx_function *const *functions,
		unsigned n_functions)
{
	nvtx_function ***table = NULL;
	unsigned n = 0;
	if (!c->module_table(module, &table, &n) || !table)
		return false;
	for (unsigned i = 0; i < n_functions && i < n; i++)
		if (functions[i] && table[i])
			*table[i] = functions[i];
	return true;
}

HOOK int InitializeInjectionNvtx2(nvtx_export_fn *find);

int InitializeInjectionNvtx2(nvtx_export_fn *find)
{
	const struct nvtx_callbacks *c = find ? find(NVTX_ETID_CALLBACKS) : NULL;
	if (!c || c->struct_size < sizeof *c || !nvtx_glue_start())
		return 0;
	/* NVTX of version 2 has no domains. */
	const bool has_domains = put(c, NVTX_MODULE_CORE2, core2, NVTX_N_CORE2);
	return put(c, NVTX_MODULE_CORE, core, NVTX_N_CORE) || has_domains;
}
