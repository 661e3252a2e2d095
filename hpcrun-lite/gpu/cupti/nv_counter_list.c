/* SPDX-License-Identifier: BSD-3-Clause */
/* See nv_counter_list.h. Test: tests/unit/cupti/test_counters.c. */
#include "hpcrun-lite/gpu/cupti/nv_counter_list.h"

#include <string.h>

enum set { SET_DRAM = 1, SET_L2 = 2, SET_FLOPS = 4, SET_TENSOR = 8 };
static const struct {
	const char *name;
	unsigned sets;
} set_names[] = {{"dram", SET_DRAM},
		 {"l2", SET_L2},
		 {"flops", SET_FLOPS},
		 {"tensor", SET_TENSOR},
		 {"roofline", SET_DRAM | SET_FLOPS | SET_TENSOR}};

#define EXECUTED(op, words)                                                         \
	{                                                                           \
		SET_FLOPS, "smsp__sass_thread_inst_executed_op_" op "_pred_on.sum", \
			MSR_UNIT_COUNT, "executed by threads: " words               \
	}
#define TENSOR(types, words)                                                         \
	{                                                                            \
		SET_TENSOR, "sm__ops_path_tensor_src_" types ".sum", MSR_UNIT_COUNT, \
			"operations of tensor cores: " words                         \
	}
static const struct known {
	enum set set;
	const char *name;
	enum msr_unit unit;
	const char *description;
} known[] = {
	{SET_DRAM, "dram__bytes_read.sum", MSR_UNIT_BYTES, "read from device memory"},
	{SET_DRAM, "dram__bytes_write.sum", MSR_UNIT_BYTES, "written to device memory"},
	{SET_L2, "lts__t_sectors_lookup_hit.sum", MSR_UNIT_COUNT,
	 "sectors of 32 bytes that were in the L2 cache"},
	{SET_L2, "lts__t_sectors_lookup_miss.sum", MSR_UNIT_COUNT,
	 "sectors of 32 bytes that were not in the L2 cache"},
	EXECUTED("dadd", "additions of FP64"),
	EXECUTED("dmul", "multiplications of FP64"),
	EXECUTED("dfma", "multiply-adds of FP64"),
	EXECUTED("fadd", "additions of FP32"),
	EXECUTED("fmul", "multiplications of FP32"),
	EXECUTED("ffma", "multiply-adds of FP32"),
	EXECUTED("hadd", "additions of FP16 and BF16"),
	EXECUTED("hmul", "multiplications of FP16 and BF16"),
	EXECUTED("hfma", "multiply-adds of FP16 and BF16"),
	TENSOR("fp64", "FP64"),
	TENSOR("tf32_dst_fp32", "TF32"),
	TENSOR("bf16_dst_fp32", "BF16"),
	TENSOR("fp16", "FP16"),
	TENSOR("fp8", "FP8"),
	TENSOR("int8", "INT8"),
};
enum { N_KNOWN = sizeof known / sizeof *known };

static bool is(const char *word, size_t n, const char *name)
{
	return n == strlen(name) && memcmp(word, name, n) == 0;
}

static bool add(struct nv_counter_list *l, const char *name, size_t n)
{
	for (unsigned i = 0; i < l->n; i++)
		if (is(name, n, l->at[i].name))
			return true;
	if (l->n == NV_MAX_COUNTERS)
		return false;
	struct nv_counter *c = &l->at[l->n++];
	*c = (struct nv_counter){.unit = MSR_UNIT_COUNT, .description = ""};
	memcpy(c->name, name, n);
	for (unsigned i = 0; i < N_KNOWN; i++)
		if (is(name, n, known[i].name)) {
			c->unit = known[i].unit;
			c->description = known[i].description;
		}
	return true;
}

static bool is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

static bool is_sum(const char *word, size_t n)
{
	static const char end[] = ".sum";
	const size_t n_end = sizeof end - 1;
	for (size_t i = 0; i < n; i++)
		if (!is_of_name(word[i]))
			return false;
	return n > n_end && n < NV_COUNTER_NAME_BYTES &&
	       memcmp(word + n - n_end, end, n_end) == 0 && !memchr(word, '.', n - n_end);
}

static bool read_word(struct nv_counter_list *l, const char *word, size_t n)
{
	unsigned sets = 0;
	bool good = true;
	for (size_t i = 0; i < sizeof set_names / sizeof *set_names; i++)
		sets |= is(word, n, set_names[i].name) ? set_names[i].sets : 0;
	if (!sets)
		return is_sum(word, n) && add(l, word, n);
	for (unsigned i = 0; i < N_KNOWN; i++)
		if (known[i].set & sets)
			good = add(l, known[i].name, strlen(known[i].name)) && good;
	return good;
}

bool nv_counter_list_read(const char *words, size_t n_bytes, struct nv_counter_list *l,
			  const char **wrong, size_t *wrong_bytes)
{
	l->n = 0;
	for (size_t at = 0; at <= n_bytes;) {
		const char *end = memchr(words + at, '+', n_bytes - at);
		size_t n = end ? (size_t)(end - words) - at : n_bytes - at;
		if (!read_word(l, words + at, n)) {
			*wrong = words + at;
			*wrong_bytes = n;
			return false;
		}
		at += n + 1;
	}
	return true;
}
