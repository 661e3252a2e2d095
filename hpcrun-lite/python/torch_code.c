/* SPDX-License-Identifier: BSD-3-Clause */
/* See torch_code.h. Test: tests/cli/python/python_modules.sh. */
#include "hpcrun-lite/python/torch_code.h"

#include "hpcrun-lite/python/reader.h"

#include <stdatomic.h>
#include <string.h>

enum { TORCH_FUNCTIONS = 16 };
static struct {
	_Atomic uint32_t n, n_codes;
	_Atomic uint32_t number[TORCH_FUNCTIONS];
	_Atomic uint64_t code[TORCH_FUNCTIONS], version[TORCH_FUNCTIONS];
} torch;

static bool ends_in(const char *text, const char *end)
{
	const size_t n = strlen(text), n_end = strlen(end);
	return n >= n_end && memcmp(text + n - n_end, end, n_end) == 0;
}

bool torch_code_calls_modules(const char *file, const char *function)
{
	const char *dot = strrchr(function, '.'), *name = dot ? dot + 1 : function;
	return ends_in(file, "/torch/nn/modules/module.py") &&
	       (!strcmp(name, "_call_impl") || !strcmp(name, "_wrapped_call_impl"));
}

void torch_code_add_number(uint32_t number)
{
	uint32_t n = atomic_load_explicit(&torch.n, memory_order_relaxed);
	if (n == TORCH_FUNCTIONS)
		return;
	atomic_store_explicit(&torch.number[n], number, memory_order_relaxed);
	atomic_store_explicit(&torch.n, n + 1, memory_order_release);
}

bool torch_code_has_number(uint32_t number)
{
	const uint32_t n = atomic_load_explicit(&torch.n, memory_order_acquire);
	for (uint32_t i = 0; i < n; i++)
		if (atomic_load_explicit(&torch.number[i], memory_order_relaxed) == number)
			return true;
	return false;
}

static bool is_known(uintptr_t code, uint64_t version)
{
	const uint32_t n = atomic_load_explicit(&torch.n_codes, memory_order_acquire);
	for (uint32_t i = 0; i < n && i < TORCH_FUNCTIONS; i++)
		if (atomic_load_explicit(&torch.code[i], memory_order_relaxed) == code &&
		    atomic_load_explicit(&torch.version[i], memory_order_relaxed) == version)
			return true;
	return false;
}

void torch_code_add_place(uintptr_t code, uint64_t version)
{
	if (is_known(code, version))
		return;
	const uint32_t n = atomic_load_explicit(&torch.n_codes, memory_order_relaxed);
	atomic_store_explicit(&torch.code[n % TORCH_FUNCTIONS], code, memory_order_relaxed);
	atomic_store_explicit(&torch.version[n % TORCH_FUNCTIONS], version, memory_order_relaxed);
	atomic_store_explicit(&torch.n_codes, n + 1, memory_order_release);
}

bool torch_code_is_call(const struct python_layout *l, uintptr_t code)
{
	return atomic_load_explicit(&torch.n_codes, memory_order_relaxed) &&
	       l->code.version != PYTHON_NOWHERE &&
	       is_known(code, reader_half((const uint8_t *)code, l->code.version));
}

uint32_t torch_code_count(void)
{
	return atomic_load_explicit(&torch.n_codes, memory_order_relaxed);
}

void torch_code_forget(void)
{
	atomic_store_explicit(&torch.n, 0, memory_order_relaxed);
	atomic_store_explicit(&torch.n_codes, 0, memory_order_relaxed);
}
