/* SPDX-License-Identifier: BSD-3-Clause */
/* See known_code.h. Test: tests/unit/prof/test_known_code.c. */
#include "hpcprof-lite/attribute/known/known_code.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool begins(const char *name, const char *head)
{
	return strncmp(name, head, strlen(head)) == 0;
}

static bool begins_as(const char *name, const char *const *heads)
{
	while (*heads && !begins(name, *heads))
		heads++;
	return *heads;
}

/* "python", "python3.12", "libpython3.12.so.1.0" */
static bool is_interpreter(const char *name)
{
	static const char program[] = "python";
	char behind = begins(name, program) ? name[sizeof program - 1] : 'x';
	return !behind || isdigit((unsigned char)behind) || begins(name, "libpython3");
}

enum model_module_role known_module(const char *path)
{
	static const char *const launching[] = {
		"libcuda.so",  "libcudart.so",     "libcublas", "libcudnn",  "libcufft",
		"libcusparse", "libcusolver",      "libcurand", "libnccl",   "libOpenCL.so",
		"libpocl",     "libnvidia-opencl", "_ctypes.",  "libffi.so",
		"libcupti.so", "libnvperf_",       "libhpcrun-lite", NULL};
	static const char *const starting[] = {"libc.so", "libc-2", "libpthread", NULL};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	if (is_interpreter(name))
		return MODEL_MODULE_INTERPRETER;
	return begins_as(name, launching)  ? MODEL_MODULE_LAUNCH
	       : begins_as(name, starting) ? MODEL_MODULE_START
					   : MODEL_MODULE_PROGRAM;
}

bool known_import(const char *file)
{
	return begins(file, "<frozen importlib._bootstrap"); /* and _bootstrap_external */
}

bool known_launch(const char *function)
{
	static const char *const calls[] = {"clEnqueue", "cudaGraphLaunch", "cuGraphLaunch", NULL};
	/* demangled names of templates begin with the return type */
	static const char *const inside[] = {"__device_stub_",       "cudaLaunch",   "cuLaunch",
					     "cudaError cudaLaunch", "__cudaLaunch", NULL};
	if (begins_as(function, calls) || begins_as(function, inside))
		return true;
	for (size_t i = 0; inside[i] && strchr(function, '<'); i++)
		if (strstr(function, inside[i]))
			return true;
	return false;
}

/*
 * True if the stub's name contains the function's name as mangled names do, after its length:
 * "3add" for "void ns::add<float>(int)".
 */
static bool is_stub_of(const char *stub, const char *name)
{
	static const char anonymous[] = "(anonymous namespace)::";
	char mangled[256];
	for (const char *at; (at = strstr(name, anonymous));)
		name = at + sizeof anonymous - 1;
	size_t end = strcspn(name, "(<"), begin = end;
	while (begin && name[begin - 1] != ':' && name[begin - 1] != ' ')
		begin--;
	int n = snprintf(mangled, sizeof mangled, "%zu%.*s", end - begin, (int)(end - begin),
			 name + begin);
	return begin < end && n > 0 && (size_t)n < sizeof mangled && strstr(stub, mangled);
}

bool known_by_nvcc(const char *function, const char **stub)
{
	if (begins(function, "__device_stub_")) {
		*stub = function;
		return true;
	}
	return strstr(function, "__cudaLaunchKernel_helper") ||
	       (*stub && is_stub_of(*stub, function));
}
