/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the calls of NVTX that XLA makes for a module of JAX, as xla/backends/gpu/runtime/
 * annotation.cc and tsl/profiler/lib/nvtx_utils.cc do: domain "TSL", registered strings, payloads
 * with a schema. The layouts and names of schemas are those of XLA. With an argument, it also
 * registers 200,000 strings that no range has.
 */
#include "tests/workload/nvtx/nvtx_client.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { STRING = 80, INT32 = 15, INT64 = 17 };
/* name, type, entries, their number, size */
enum { FIELDS = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 6 };

struct basic {
	void *source_locations, *hlo, *called_hlo;
};
struct detailed {
	struct basic basic;
	void *hlo_name;
	int64_t hlo_id;
	void *op_type, *op_name, *source_file;
	int32_t source_line;
	void *shape;
};

static void *domain;
static uint64_t basic_schema, detailed_schema;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void launch(double seconds)
{
	volatile double x = 0;
	for (const double end = now() + seconds; now() < end;)
		for (int i = 0; i < 1000; i++)
			x = x + i;
}

static struct client_entry entry(uint64_t type, const char *name, size_t offset)
{
	return (struct client_entry){.type = type, .name = name, .offset = offset};
}

static uint64_t add_schema(const char *name, const struct client_entry *e, size_t n, size_t size)
{
	return client_register(domain, &(struct client_schema){.fields = FIELDS,
							       .name = name,
							       .type = 1,
							       .entries = e,
							       .n_entries = n,
							       .n_bytes = size});
}

static void add_schemas(void)
{
	const struct client_entry entries[] = {
		entry(STRING, "Source locations", offsetof(struct detailed, basic)),
		entry(STRING, "HLO", offsetof(struct basic, hlo)),
		entry(STRING, "Called HLO", offsetof(struct basic, called_hlo)),
		entry(STRING, "HLO name", offsetof(struct detailed, hlo_name)),
		entry(INT64, "HLO unique ID", offsetof(struct detailed, hlo_id)),
		entry(STRING, "Source file", offsetof(struct detailed, source_file)),
		entry(INT32, "Source line", offsetof(struct detailed, source_line)),
	};
	basic_schema = add_schema("XlaInstruction", entries, 3, sizeof(struct basic));
	detailed_schema = add_schema("XlaInstructionDetailed", entries, 7, sizeof(struct detailed));
}

static void push(void *title, uint64_t schema, const void *payload, size_t n)
{
	const struct client_payload data[] = {{schema, n, payload}};
	client_push_in(domain, &(struct client_attributes){.version = 3,
							   .size = sizeof(struct client_attributes),
							   .value_type = (int32_t)0xDFBD0009,
							   .n_payloads = payload ? 1 : 0,
							   .value.u64 = (uintptr_t)data,
							   .text_type = 3,
							   .text = title});
}

static void *string(const char *text)
{
	return client_string(domain, text);
}

int main(int argc, char **argv)
{
	char text[64];
	(void)argv;
	client_start();
	client_start_extension();
	domain = client_domain("TSL");
	add_schemas();
	void *module = string("XlaModule:#prefix=jit(step)/jit(main),hlo_module=jit_step,"
			      "program_id=3#"),
	     *fusion = string("Thunk:#name=mul,hlo_op=fusion.3,unique_hlo_op_id=17#"),
	     *dot = string("Thunk:#name=dot,hlo_op=dot.1,unique_hlo_op_id=18#"),
	     *copy = string("Thunk:#hlo_op=copy.7,unique_hlo_op_id=19#"),
	     *bare = string("Thunk:#hlo_op=copy.8,unique_hlo_op_id=20#");
	const struct basic of_fusion = {
		string("\n- /home/u/train.py:143[&lt;module&gt;]\n-- /home/u/train.py:120:4[step]\n"
		       "--- /home/u/nn.py:12:8[forward] mul\n"
		       "--- /home/u/nn.py:13[forward] add\n"),
		string("fusion.3 = f32[8] fusion(...), kind=kLoop, calls=fused_computation.3"),
		string("\nfused_computation.3 { ... }")};
	const struct detailed of_dot = {
		{string("\n"), string("dot.1 = ..."), string("\n")},
		string("dot.1"), 18, NULL, string("jit(step)/dot_general"),
		string("/home/u/nn.py"), 10, NULL};
	for (int i = 0; i < 30; i++) { /* modules are compiled */
		snprintf(text, sizeof text, "XlaCompileBackend:#module=jit_step,program_id=%d#", i);
		push(string(text), 0, NULL, 0);
		snprintf(text, sizeof text, "XlaPass:#name=dce,module=jit_f%d,program_id=%d#", i,
			 i);
		push(string(text), 0, NULL, 0);
		client_pop_in(domain);
		client_pop_in(domain);
	}
	for (int i = 0; i < (argc > 1 ? 200000 : 0); i++) {
		snprintf(text, sizeof text, "add.%d = f32[8] add(f32[8] x, f32[8] y)", i);
		string(text);
	}
	for (int i = 0; i < 10; i++) {
		push(module, 0, NULL, 0);
		push(fusion, basic_schema, &of_fusion, sizeof of_fusion);
		launch(0.01);
		client_pop_in(domain);
		push(dot, detailed_schema, &of_dot, sizeof of_dot);
		launch(0.01);
		client_pop_in(domain);
		push(copy, 12345, &of_dot, sizeof of_dot); /* a schema that nobody registered */
		client_pop_in(domain);
		push(copy, basic_schema, &of_dot, 4); /* a payload that is cut */
		client_pop_in(domain);
		push(bare, basic_schema, &of_dot, sizeof of_fusion); /* without call stacks */
		client_pop_in(domain);
		client_pop_in(domain);
	}
	return 0;
}
