/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See known_xla.h. The formats are those of MakeTitle() and MakeInstructionTitle() in
 * xla/backends/gpu/runtime/annotation.cc of openxla/xla (2026), and of GetThunkInfo() (2021).
 */
#include "hpcprof-lite/attribute/known/known_xla.h"

#include <stdio.h>
#include <string.h>

/*
 * Finds the text after the last "#KEY=" or ",KEY=", up to a comma or '#'. Operation names have
 * commas.
 */
static const char *find_value(const char *name, const char *key, size_t *n)
{
	const size_t n_key = strlen(key);
	const char *found = NULL;
	for (const char *at = name; (at = strstr(at, key)); at += n_key)
		if (at > name && (at[-1] == '#' || at[-1] == ',') && at[n_key] == '=')
			found = at + n_key + 1;
	*n = found ? strcspn(found, ",#") : 0;
	return found;
}

/* The length of the first key's value, which may contain commas: up to the next key. */
static size_t n_before(const char *value, const char *next)
{
	const char *end = strstr(value, next);
	return end ? (size_t)(end - value) : 0;
}

/* Names a step of the compiler: "XlaPass:#name=fusion,module=jit_step#". */
static bool name_step(const char *name, char *to, size_t n_bytes)
{
	size_t n_pass, n_module;
	const char *end = strstr(name, ":#"), *pass = find_value(name, "name", &n_pass),
		   *module = find_value(name, "module", &n_module);
	if (strncmp(name, "Xla", 3) != 0 || !end || !(n_pass + n_module))
		return false;
	snprintf(to, n_bytes, "%.*s%s%.*s%s%.*s%s", (int)(end - name), name, n_pass ? " " : "",
		 (int)n_pass, n_pass ? pass : "", n_module ? " (" : "", (int)n_module,
		 n_module ? module : "", n_module ? ")" : "");
	return true;
}

bool known_xla_name(const char *name, char *to, size_t n_bytes)
{
	static const char thunk[] = "Thunk:#", module[] = "XlaModule:#", first[] = "name=";
	size_t n;
	const char *value;
	if (!strncmp(name, module, sizeof module - 1)) {
		value = find_value(name, "hlo_module", &n);
		if (n)
			snprintf(to, n_bytes, "module %.*s", (int)n, value);
		return n;
	}
	if (strncmp(name, thunk, sizeof thunk - 1) != 0)
		return name_step(name, to, n_bytes);
	value = find_value(name, "hlo_op", &n);
	if (!n)
		return false;
	const char *operation = name + sizeof thunk - 1;
	const size_t n_operation = !strncmp(operation, first, sizeof first - 1)
					   ? n_before(operation + sizeof first - 1, ",hlo_op=")
					   : 0;
	snprintf(to, n_bytes, "%.*s%s%.*s%s", (int)n, value, n_operation ? " (" : "",
		 (int)n_operation, operation + sizeof first - 1, n_operation ? ")" : "");
	return true;
}
