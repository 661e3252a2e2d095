/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libhpctoolkit.a: passes the calls of hpctoolkit.h on to the preloaded library. The library uses
 * another name, because a program that exports its symbols would find itself under the public ones.
 * Must need only libc, and must never keep a program from running. Test: tests/cli/run/control.sh.
 */
#include "hpcrun-lite/api/hpctoolkit.h"

#include "hpcrun-lite/api/hpctoolkit_private.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define VISIBLE __attribute__((visibility("default")))

static _Atomic(hpcrun_lite_sampling_fn *) tool; /* NULL: not loaded */
static atomic_bool has_looked;

/*
 * Looks the function up at start-up, so that a signal handler need not enter the loader.
 * Constructors of the program may run earlier.
 */
__attribute__((constructor)) static void look(void)
{
	tool = (hpcrun_lite_sampling_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, HPCRUN_LITE_SAMPLING);
	has_looked = true;
}

static int ask(int what)
{
	if (!has_looked)
		look();
	hpcrun_lite_sampling_fn *fn = tool;
	return fn ? fn(what) : 0;
}

VISIBLE void hpctoolkit_sampling_start(void)
{
	ask(HPCRUN_LITE_SAMPLING_START);
}

VISIBLE void hpctoolkit_sampling_stop(void)
{
	ask(HPCRUN_LITE_SAMPLING_STOP);
}

VISIBLE int hpctoolkit_sampling_is_active(void)
{
	return ask(HPCRUN_LITE_SAMPLING_ASK);
}

/* The names that Fortran compilers use. */
#define FORTRAN(name, as) VISIBLE __typeof__(name) as __attribute__((alias(#name)))
FORTRAN(hpctoolkit_sampling_start, hpctoolkit_sampling_start_);
FORTRAN(hpctoolkit_sampling_start, hpctoolkit_sampling_start__);
FORTRAN(hpctoolkit_sampling_stop, hpctoolkit_sampling_stop_);
FORTRAN(hpctoolkit_sampling_stop, hpctoolkit_sampling_stop__);
FORTRAN(hpctoolkit_sampling_is_active, hpctoolkit_sampling_is_active_);
FORTRAN(hpctoolkit_sampling_is_active, hpctoolkit_sampling_is_active__);
