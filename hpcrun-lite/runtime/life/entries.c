/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that others call in our library: programs to start and stop the measurement
 * (api/hpctoolkit.h), and GPU back ends to find the core (gpu/gpu.h). They may be called before our
 * constructor runs, so they start the run time. Tests: tests/cli/run/control.sh,
 * tests/cli/gpu/gpu_core.sh.
 */
#include "common/safe/text.h"
#include "hpcrun-lite/api/hpctoolkit.h"
#include "hpcrun-lite/api/hpctoolkit_private.h"
#include "hpcrun-lite/gpu/core.h"
#include "hpcrun-lite/memory/memory_glue.h"
#include "hpcrun-lite/runtime/control/control.h"
#include "hpcrun-lite/runtime/glue/gpu_glue.h"
#include "hpcrun-lite/runtime/glue/mpi_glue.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/torch/torch_glue.h"

#include <errno.h>

/* ---- programs ---- */

HOOK void hpctoolkit_sampling_start(void)
{
	control_set(false);
}

HOOK void hpctoolkit_sampling_stop(void)
{
	control_set(true);
}

HOOK int hpctoolkit_sampling_is_active(void)
{
	return process_is_alive() && !atomic_load_explicit(&process.ending, memory_order_relaxed) &&
	       !atomic_load_explicit(&process.off, memory_order_relaxed);
}

HOOK hpcrun_lite_sampling_fn hpcrun_lite_sampling;

int hpcrun_lite_sampling(int what)
{
	runtime_start(); /* a constructor of the program may run before ours */
	if (what == HPCRUN_LITE_SAMPLING_START || what == HPCRUN_LITE_SAMPLING_STOP)
		control_set(what == HPCRUN_LITE_SAMPLING_STOP);
	return hpctoolkit_sampling_is_active();
}

/* The names of Fortran compilers, for programs that were linked with HPCToolkit's own library. */
#define FORTRAN(name, as) HOOK __typeof__(name) as __attribute__((alias(#name)))
FORTRAN(hpctoolkit_sampling_start, hpctoolkit_sampling_start_);
FORTRAN(hpctoolkit_sampling_start, hpctoolkit_sampling_start__);
FORTRAN(hpctoolkit_sampling_stop, hpctoolkit_sampling_stop_);
FORTRAN(hpctoolkit_sampling_stop, hpctoolkit_sampling_stop__);

/* ---- back ends ---- */

HOOK gpu_host_fn hpcrun_lite_gpu_host;

static void note_version(const char *backend, uint32_t version)
{
	char line[160];
	struct text t = text_in(line, sizeof line);
	text_put(&t, "gpu=");
	text_put(&t, backend);
	text_put(&t, " is not measured: its back end uses version ");
	text_put_u64(&t, version);
	text_put(&t, " of the interface, this library version ");
	text_put_u64(&t, GPU_HOST_VERSION);
	gpu_glue_note(line);
}

HOOK const struct gpu_host *hpcrun_lite_gpu_host(const char *backend, uint32_t version)
{
	int saved_errno = errno;
	runtime_start();
	process_check_fork();
	const struct config_gpu *asked =
		process_is_alive() ? config_find_gpu(&process.config, backend) : NULL;
	if (asked && version != GPU_HOST_VERSION) {
		note_version(backend, version);
		asked = NULL;
	}
	const struct gpu_host *host = asked ? gpu_open((unsigned)(asked - process.config.gpu),
						       asked->name, asked->options)
					    : NULL;
	errno = saved_errno;
	return host;
}

HOOK mpi_host_fn hpcrun_lite_mpi_host;

HOOK const struct mpi_host *hpcrun_lite_mpi_host(uint32_t version)
{
	int saved_errno = errno;
	runtime_start();
	process_check_fork();
	const struct mpi_host *host = mpi_glue_host();
	if (host && version != MPI_HOST_VERSION) {
		runtime_note("MPI is not measured: its module is of another version");
		host = NULL;
	}
	errno = saved_errno;
	return host;
}

HOOK memory_host_fn hpcrun_lite_memory_host;

HOOK const struct memory_host *hpcrun_lite_memory_host(uint32_t version)
{
	int saved_errno = errno;
	runtime_start();
	process_check_fork();
	const struct memory_host *host = memory_glue_host();
	if (host && version != MEMORY_HOST_VERSION) {
		runtime_note("memory is not measured: its module is of another version");
		host = NULL;
	}
	errno = saved_errno;
	return host;
}

HOOK torch_host_fn hpcrun_lite_torch_host;

HOOK const struct torch_host *hpcrun_lite_torch_host(uint32_t version)
{
	int saved_errno = errno;
	runtime_start();
	process_check_fork();
	const struct torch_host *host = torch_glue_host();
	if (host && version != TORCH_HOST_VERSION) {
		runtime_note("backward passes stay below autograd's engine: the module for PyTorch "
			     "is of another version");
		host = NULL;
	}
	errno = saved_errno;
	return host;
}
