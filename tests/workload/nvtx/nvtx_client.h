/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the headers of NVTX 3 do in a program, for machines without them: finds a tool by
 * NVTX_INJECTION64_PATH and gives it places for its functions. Without a tool, functions do
 * nothing and return what NVTX returns then.
 */
#ifndef TESTS_WORKLOAD_NVTX_NVTX_CLIENT_H
#define TESTS_WORKLOAD_NVTX_NVTX_CLIENT_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

typedef void client_fn(void);
struct client_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t value_type, n_payloads;
	union {
		uint64_t u64;
		double d;
	} value;
	int32_t text_type;
	const void *text;
};

static client_fn *client_core[16], *client_core2[16];
static client_fn **client_places[2][17];

static int client_table(int module, client_fn ****table, unsigned *n)
{
	if (module != 1 && module != 5)
		return 0;
	client_fn ***places = client_places[module == 5];
	for (unsigned i = 1; i < 16; i++)
		places[i] = module == 5 ? &client_core2[i] : &client_core[i];
	*table = places;
	*n = 16;
	return 1;
}

static const void *client_export(uint32_t id)
{
	static const struct {
		size_t bytes;
		int (*table)(int, client_fn ****, unsigned *);
	} callbacks = {sizeof callbacks, client_table};
	return id == 1 ? &callbacks : NULL;
}

/* Returns true if a tool was found. */
static int client_start(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *tool = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*start)(const void *(*)(uint32_t)) =
		tool ? (int (*)(const void *(*)(uint32_t)))(uintptr_t)dlsym(
			       tool, "InitializeInjectionNvtx2")
		     : NULL;
	return start && start(client_export);
}

/* ---- the payload extension ---- */

struct client_entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail, offset;
	const void *semantics, *reserved;
};
struct client_schema {
	uint64_t fields;
	const char *name;
	uint64_t type, flags;
	const struct client_entry *entries;
	size_t n_entries, n_bytes, alignment;
	uint64_t id;
	void *extension;
};
struct client_payload {
	uint64_t schema;
	size_t n_bytes;
	const void *bytes;
};

static intptr_t client_extension[63];

static inline void client_start_extension(void)
{
	struct {
		size_t id, n;
		intptr_t *functions;
	} segment = {0, 63, client_extension};
	struct {
		uint16_t version, struct_bytes, module, compatible;
		size_t n_segments;
		void *segments;
		intptr_t (*find)(uint32_t);
		const void *info;
	} extension = {3, sizeof extension, 2, 0x0104, 1, &segment, NULL, NULL};
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *tool = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*start)(void *) =
		tool ? (int (*)(void *))(uintptr_t)dlsym(tool, "InitializeInjectionNvtxExtension")
		     : NULL;
	if (start)
		(void)start(&extension);
}

static inline uint64_t client_register(void *domain, const struct client_schema *schema)
{
	uint64_t (*f)(void *, const struct client_schema *) =
		(uint64_t(*)(void *, const struct client_schema *))client_extension[0];
	return f ? f(domain, schema) : 0;
}

#define CLIENT_CALL(table, at, type, none, ...) \
	((table)[at] ? ((type)(uintptr_t)(table)[at])(__VA_ARGS__) : (none))

static inline int client_push(const char *name)
{
	return CLIENT_CALL(client_core, 9, int (*)(const char *), -2, name);
}
static inline int client_push_wide(const wchar_t *name)
{
	return CLIENT_CALL(client_core, 10, int (*)(const wchar_t *), -2, name);
}
static inline int client_pop(void)
{
	return client_core[11] ? ((int (*)(void))(uintptr_t)client_core[11])() : -2;
}
static inline uint64_t client_begin(const char *name)
{
	return CLIENT_CALL(client_core, 5, uint64_t (*)(const char *), 0, name);
}
static inline void client_end(uint64_t id)
{
	if (client_core[7])
		((void (*)(uint64_t))(uintptr_t)client_core[7])(id);
}
static inline void client_mark(const char *name)
{
	if (client_core[2])
		((void (*)(const char *))(uintptr_t)client_core[2])(name);
}
static inline void client_name_thread(uint32_t tid, const char *name)
{
	if (client_core[14])
		((void (*)(uint32_t, const char *))(uintptr_t)client_core[14])(tid, name);
}
static inline void *client_domain(const char *name)
{
	return CLIENT_CALL(client_core2, 12, void *(*)(const char *), NULL, name);
}
static inline void *client_string(void *domain, const char *text)
{
	return CLIENT_CALL(client_core2, 10, void *(*)(void *, const char *), NULL, domain, text);
}
static inline void client_name_category(void *domain, uint32_t category, const char *name)
{
	if (client_core2[8])
		((void (*)(void *, uint32_t, const char *))(uintptr_t)client_core2[8])(
			domain, category, name);
}
static inline int client_push_in(void *domain, const struct client_attributes *a)
{
	return CLIENT_CALL(client_core2, 4, int (*)(void *, const struct client_attributes *), -2,
			   domain, a);
}
static inline int client_pop_in(void *domain)
{
	return CLIENT_CALL(client_core2, 5, int (*)(void *), -2, domain);
}

#endif
