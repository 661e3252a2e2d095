/* SPDX-License-Identifier: BSD-3-Clause */
/* getenv in front of libc's: an OpenCL loader is told our layer, nobody else is, and everything
 * else is libc's answer. */
#include "hpcrun-lite/hooks/hook_getenv.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct config config;
static const struct config *given = &config;
static char *(*ask)(const char *), *(*ask_safely)(const char *);

const struct config *runtime_config(void)
{
	return given;
}

static void *load(const char *name)
{
	char path[4096];
	const char *top = getenv("top_builddir");
	snprintf(path, sizeof path, "%s/tests/unit/run/.libs/%s", top ? top : ".", name);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fail_msg("%s", dlerror());
	return library;
}

static int setup(void **state)
{
	void *library = load("libOpenCL_asker.so");
	(void)state;
	ask = (char *(*)(const char *))(uintptr_t)dlsym(library, "ask");
	ask_safely = (char *(*)(const char *))(uintptr_t)dlsym(library, "ask_safely");
	return 0;
}

static int fresh(void **state)
{
	(void)state;
	memset(&config, 0, sizeof config);
	strcpy(config.library, "/opt/x/libhpcrun-lite.so");
	config.n_gpus = 1;
	strcpy(config.gpu[0].name, "opencl");
	given = &config;
	unsetenv("OPENCL_LAYERS");
	setenv("OTHER", "thing", 1);
	return 0;
}

static void loader_is_told(void **state)
{
	(void)state;
	assert_string_equal(ask("OPENCL_LAYERS"), "/opt/x/libhpcrun-lite-opencl.so");
	assert_string_equal(ask_safely("OPENCL_LAYERS"), "/opt/x/libhpcrun-lite-opencl.so");
	setenv("OPENCL_LAYERS", "/mine.so:/other.so", 1);
	char *first = ask("OPENCL_LAYERS"), *second = ask("OPENCL_LAYERS");
	assert_string_equal(first, "/opt/x/libhpcrun-lite-opencl.so:/mine.so:/other.so");
	*strchr(first, ':') = 0; /* as ocl-icd does */
	assert_string_equal(second, "/opt/x/libhpcrun-lite-opencl.so:/mine.so:/other.so");
	assert_string_equal(getenv("OPENCL_LAYERS"), "/mine.so:/other.so");
	setenv("OPENCL_LAYERS", "", 1);
	assert_string_equal(ask("OPENCL_LAYERS"), "/opt/x/libhpcrun-lite-opencl.so");
}

static void others_are_not(void **state)
{
	(void)state;
	assert_null(getenv("OPENCL_LAYERS"));
	assert_null(secure_getenv("OPENCL_LAYERS"));
	assert_string_equal(ask("OTHER"), "thing");
	assert_null(ask("OPENCL_LAYER"));
	assert_null(ask("OPENCL_LAYERS_"));
	assert_null(ask(""));
	config.n_gpus = 0;
	assert_null(ask("OPENCL_LAYERS"));
	config.n_gpus = 1;
	strcpy(config.gpu[0].options, "preload");
	assert_null(ask("OPENCL_LAYERS"));
	given = NULL;
	assert_null(ask("OPENCL_LAYERS"));
}

/* What does not fit beside our name is the user's alone. */
static void too_long(void **state)
{
	static char text[10000];
	(void)state;
	memset(text, 'a', sizeof text - 1);
	setenv("OPENCL_LAYERS", text, 1);
	assert_string_equal(ask("OPENCL_LAYERS"), text);
}

/* All of it first without libc's function, as before our constructor; then with it. */
static void start(void **state)
{
	(void)state;
	hook_getenv_start();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, fresh)
	const struct CMUnitTest tests[] = {
		TEST(loader_is_told), TEST(others_are_not), TEST(too_long), TEST(start),
		TEST(loader_is_told), TEST(others_are_not), TEST(too_long),
	};
	return cmocka_run_group_tests(tests, setup, NULL);
}
