/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of OpenMP's tools interface (OMPT) that we use, with the names of OpenMP 5.2, chapter
 * 19. Compilers other than LLVM's have no header for it. The values are part of the interface and
 * have been the same since OpenMP 5.0.
 */
#ifndef HPCRUN_LITE_OPENMP_OMPT_API_H
#define HPCRUN_LITE_OPENMP_OMPT_API_H

#include <stdatomic.h>
#include <stdint.h>

/* A word for the tool in each parallel region, task and thread; 0 at first. */
typedef union {
	uint64_t value;
	void *ptr;
} ompt_data_t;

/*
 * Where the stack of a task passes from the program to the run time (enter) and back (exit). 0: it
 * does not. The run time writes these while signal handlers may read them.
 */
typedef struct {
	_Atomic uintptr_t exit_frame, enter_frame;
	int exit_frame_flags, enter_frame_flags;
} ompt_frame_t;

typedef enum { ompt_scope_begin = 1, ompt_scope_end = 2 } ompt_scope_endpoint_t;

enum {
	ompt_callback_parallel_begin = 3,
	ompt_callback_parallel_end = 4,
	ompt_callback_implicit_task = 7,
	ompt_callback_sync_region = 23,
};

enum { ompt_parallel_invoker_program = 1 }; /* in the flags of a region: it calls the function */
enum { ompt_set_always = 5 }; /* of ompt_set_callback: the event will be reported each time */

typedef void ompt_callback_t(void);
typedef int ompt_set_callback_t(int event, ompt_callback_t *callback);
typedef int ompt_get_task_info_t(int ancestor_level, int *flags, ompt_data_t **task_data,
				 ompt_frame_t **task_frame, ompt_data_t **parallel_data,
				 int *thread_num);

/* The type of the run time's function that looks up its functions by name. */
typedef void ompt_interface_fn_t(void);
typedef ompt_interface_fn_t *ompt_function_lookup_t(const char *name);

typedef struct {
	int (*initialize)(ompt_function_lookup_t *lookup, int initial_device_num,
			  ompt_data_t *tool_data);
	void (*finalize)(ompt_data_t *tool_data);
	ompt_data_t tool_data;
} ompt_start_tool_result_t;

typedef ompt_start_tool_result_t *ompt_start_tool_t(unsigned omp_version,
						    const char *runtime_version);

#endif
