/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way in by preloading, if the ICD loader is too old for layers or there is none. Our functions
 * have OpenCL's names and are found first. We look up the next functions at the first call, because
 * programs may load OpenCL late. We do not see functions that a program gets with dlsym() from a
 * library that it opened. Test: tests/cli/opencl/ocl_entrance.sh.
 */
#include "common/safe/find_object.h"
#include "hpcrun-lite/gpu/opencl/ocl.h"
#include "hpcrun-lite/gpu/opencl/ocl_api.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#define PLATFORM_NOT_FOUND (-1001) /* CL_PLATFORM_NOT_FOUND_KHR */

static pthread_once_t once = PTHREAD_ONCE_INIT;

/*
 * Used if the next function is missing: no_status for functions that return a status, the other one
 * for functions that return an object.
 */
static cl_int no_status(void)
{
	return PLATFORM_NOT_FOUND;
}

static void *no_object(void)
{
	return NULL;
}

/* ---- finding OpenCL ---- */

#define MAX_LIBRARIES 8u
#define MAX_PATH 512u

struct libraries {
	unsigned n;
	char path[MAX_LIBRARIES][MAX_PATH];
};

/*
 * Recognizes loaders and implementations by file name. It only looks at names, because the dynamic
 * loader's lock is held.
 */
static int note_library(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct libraries *l = arg;
	const char *name = info->dlpi_name;
	(void)bytes;
	if (name && (strstr(name, "OpenCL") || strstr(name, "pocl") || strstr(name, "opencl")) &&
	    !strstr(name, "libhpcrun-lite") && strlen(name) < MAX_PATH && l->n < MAX_LIBRARIES)
		strcpy(l->path[l->n++], name);
	return l->n == MAX_LIBRARIES;
}

/*
 * Returns the next definition of the name, or one in a library that was opened without making its
 * names global.
 */
static void *find(const char *name, const struct libraries *l)
{
	void *function = dlsym(RTLD_NEXT, name);
	for (unsigned i = 0; !function && i < l->n; i++) {
		void *library = dlopen(l->path[i], RTLD_LAZY | RTLD_NOLOAD);
		if (!library)
			continue;
		function = dlsym(library, name);
		dlclose(library);
	}
	return function;
}

/* ---- the table of the next functions ---- */

static bool returns_object(const char *name)
{
	static const char *const heads[] = {"clCreate",   "clLinkProgram", "clCloneKernel",
					    "clSVMAlloc", "clEnqueueMap",  "clGetExtension"};
	if (!strcmp(name, "clCreateKernelsInProgram"))
		return false;
	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
		if (!strncmp(name, heads[i], strlen(heads[i])))
			return true;
	return false;
}

struct function {
	const char *name;
	size_t at;        /* offset in the table */
	bool asked_first; /* our callers check for NULL, so it may be missing */
};

#define FUNCTION(name) {#name, offsetof(cl_icd_dispatch, name), false},
static const struct function functions[] = {
	OCL_FUNCTIONS(FUNCTION) FUNCTION(clGetPlatformInfo) FUNCTION(clGetDeviceIDs)
		FUNCTION(clGetDeviceInfo) FUNCTION(clGetMemObjectInfo) FUNCTION(clGetImageInfo)
			FUNCTION(clGetKernelInfo) FUNCTION(clGetKernelWorkGroupInfo)
				FUNCTION(clGetProgramInfo) FUNCTION(clGetProgramBuildInfo) FUNCTION(
					clRetainEvent) FUNCTION(clReleaseEvent){
					"clGetDeviceAndHostTimer",
					offsetof(cl_icd_dispatch, clGetDeviceAndHostTimer), true},
};

static void fill(void)
{
	static struct libraries l;
	dl_iterate_phdr(note_library, &l);
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		const struct function *f = &functions[i];
		void *at = find(f->name, &l);
		if (!at && !f->asked_first)
			at = returns_object(f->name) ? (void *)(uintptr_t)no_object
						     : (void *)(uintptr_t)no_status;
		memcpy((char *)&ocl_next + f->at, &at, sizeof at);
	}
}

static void start(void)
{
	if (atomic_load_explicit(&ocl_entrance, memory_order_acquire) != OCL_NOT_IN)
		return;
	fill();
	if (!ocl_enter_process(OCL_PRELOAD))
		atomic_store_explicit(&ocl_entrance, OCL_SHUT, memory_order_release);
}

void ocl_preload_start(void)
{
	pthread_once(&once, start);
}

/*
 * An implementation that the program links directly may call its own public names. These calls are
 * not the program's.
 */
bool ocl_preload_is_inner(const void *caller)
{
	struct dl_find_object of_caller, of_next;
	void *next = (void *)(uintptr_t)ocl_next.clFinish;
	return find_object_surely((void *)(uintptr_t)caller, &of_caller) == 0 &&
	       find_object_surely(next, &of_next) == 0 &&
	       of_caller.dlfo_link_map == of_next.dlfo_link_map;
}
