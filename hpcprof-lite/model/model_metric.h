/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the model: metrics, and their values by context. Include model.h. */
#ifndef HPCPROF_MODEL_MODEL_METRIC_H
#define HPCPROF_MODEL_MODEL_METRIC_H

#include "common/format/measurement_gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Units of metrics, and of other numbers in outputs. */
enum model_unit {
	MODEL_COUNT,
	MODEL_SECONDS,
	MODEL_BYTES,
	MODEL_JOULES,
	MODEL_PERCENT,
	/* facts of advice only */
	MODEL_SHARE, /* 0 to 1 */
	MODEL_CYCLES,
	MODEL_BYTES_PER_SECOND,
	MODEL_BYTES_PER_CYCLE
};
/* The unit of values that were recorded in this unit, an enum msr_unit. */
enum model_unit model_unit_of(unsigned recorded);
/* HPCToolkit's word for it: "count", "sec", "B". */
const char *model_unit_name(enum model_unit unit);
/*
 * How many of the integer units in measurements make one unit of the metric: 1e9 ns are a second.
 */
double model_unit_scale(enum model_unit unit);

/* What a sampled metric measures. */
enum model_event {
	MODEL_EVENT_OTHER, /* a counter */
	MODEL_EVENT_CPUTIME,
	MODEL_EVENT_OFFCPU,   /* the time in which a thread did not run */
	MODEL_EVENT_REALTIME, /* elapsed time */
	MODEL_EVENT_BLAME,    /* the time that others waited for locks held here */
	MODEL_EVENT_MEMORY    /* bytes allocated */
};

enum model_metric_kind {
	MODEL_METRIC_SAMPLED,   /* events sampled on CPUs; these have samples and time lines */
	/* "GPUOP (sec)", "GKER (sec)" and so on: sums of the durations of operations */
	MODEL_METRIC_GPU_TIME,
	MODEL_METRIC_GPU_COUNT, /* "GKER:COUNT", "GXCOPY:H2D (B)" and so on: sums */
	/*
	 * Launch characteristics. The values are sums over launches, because readers add values.
	 * People read the quotient: value / value of `divisor`.
	 */
	MODEL_METRIC_GPU_MEAN,
	/* PC samples and stall reasons: "GINS", "GINS:STL_*", "GSAMP:*" */
	MODEL_METRIC_GPU_SAMPLES,
	/*
	 * "CPUTIME:GUESSED (sec)": the part of the parent metric on call paths with a guessed
	 * frame. It exists only if there are guessed frames.
	 */
	MODEL_METRIC_GUESSED,
	/*
	 * "OMP:BARRIER (sec)": the part of the measured time in contexts with this activity. If
	 * OFFCPU was measured, it is a part of CPUTIME and OFFCPU together, and the parent is the
	 * first of them. The metrics of all activities add up to that time. If all of it was work,
	 * there are none.
	 */
	MODEL_METRIC_ACTIVITY,
	/* "MPI (sec)", "MPI:CALLS" and so on: sums over all calls of MPI, measured, not sampled */
	MODEL_METRIC_MPI_TIME,
	MODEL_METRIC_MPI_COUNT,
	MODEL_METRIC_GPU_ENERGY, /* "GENERGY (J)": energy that GPUs used while operations ran */
	/* "MEMORY:PEAK (B)", "MEMORY:CALLS" and so on: sums over sampled allocations */
	MODEL_METRIC_MEMORY
};

/* What a GPU metric counts, so that a report finds the metric without its name. */
enum model_metric_role {
	MODEL_ROLE_NONE,        /* CPU metrics, and metrics that no report looks up */
	MODEL_ROLE_GPU_TIME,    /* kernels, copies and sets */
	MODEL_ROLE_KERNEL_TIME,
	MODEL_ROLE_COPY_TIME,
	MODEL_ROLE_SET_TIME,
	MODEL_ROLE_SYNC_TIME,   /* CPU time spent waiting for GPUs */
	MODEL_ROLE_KERNELS,     /* launches */
	MODEL_ROLE_COPIES,
	MODEL_ROLE_COPY_BYTES,  /* one metric for each direction */
	MODEL_ROLE_SETS,
	MODEL_ROLE_SET_BYTES,   /* one metric for each kind of memory */
	MODEL_ROLE_SYNCS,
	MODEL_ROLE_SAMPLES,     /* PC samples */
	MODEL_ROLE_APPORTIONED, /* PC samples that were apportioned */
	MODEL_ROLE_MEASURED,    /* PC samples of whole kernels */
	MODEL_ROLE_EXPECTED,    /* the same, if all SMs had been busy */
	MODEL_ROLE_ISSUED,      /* PC samples of warps that issued an instruction */
	MODEL_ROLE_STALL,       /* PC samples of waiting warps: one metric for each reason */
	/* the part of a STALL while the scheduler issued nothing; in no sum */
	MODEL_ROLE_STALL_IDLE,
	MODEL_ROLE_MPI_TIME,
	MODEL_ROLE_MPI_WAIT,
	MODEL_ROLE_MPI_CALLS,
	MODEL_ROLE_MPI_SENT,
	MODEL_ROLE_MPI_RECEIVED,
	MODEL_ROLE_GPU_IDLE_CAUSE, /* idle time of GPUs, at what CPU threads did meanwhile */
	MODEL_ROLE_CPU_IDLE_CAUSE, /* waits for GPUs, at the operations that ran meanwhile */
	/* PC samples of waiting warps, at what they waited for: all, and by reason */
	MODEL_ROLE_BLAMED,
	MODEL_ROLE_BLAMED_FOR,
	MODEL_ROLE_UNBLAMED,       /* samples without a known cause, where the warps waited */
	MODEL_ROLE_ENERGY,
	MODEL_ROLE_ENERGY_SHARED,  /* part of ENERGY: while operations of other contexts ran */
	MODEL_ROLE_ENERGY_TIME,    /* time of the operations in which energy was read */
	MODEL_ROLE_COUNTER,        /* counters of kernels: one metric for each */
	MODEL_ROLE_COUNTED,        /* launches whose counters were read, and their time */
	MODEL_ROLE_COUNTED_TIME,
	MODEL_ROLE_REFUSED,        /* operations that the driver refused */
	MODEL_ROLE_MEMORY_TIME,    /* CPU time in calls that allocate or free memory of GPUs */
	MODEL_ROLE_MEMORY_CALLS,
	MODEL_ROLE_LIVE_PEAK,      /* bytes of the program that were live at the peak */
	MODEL_ROLE_LIVE_END,       /* and at the end */
	MODEL_ROLE_GPU_LIVE_PEAK,  /* bytes on GPUs that were live at the peak of their device */
	MODEL_ROLE_GPU_LIVE_END    /* and that were never freed */
};

struct model_metric {
	uint8_t kind;              /* enum model_metric_kind */
	uint8_t role;              /* enum model_metric_role */
	uint8_t activity;          /* ACTIVITY: enum model_activity; others: 0 */
	uint8_t unit;              /* enum model_unit */
	uint8_t measures;          /* SAMPLED, GUESSED: enum model_event; others: 0 */
	bool is_of_pc_samples;     /* GPU_SAMPLES, and the account of them: "GSAMP:TOT" */
	bool is_time; /* the metrics of activities are parts of it: CPUTIME, OFFCPU or REALTIME */
	uint32_t idle; /* STALL: its STALL_IDLE metric or MODEL_NONE; others: undefined */
	const char *reason; /* ISSUED, STALL, STALL_IDLE: the short name, "GMEM"; others: NULL */
	/*
	 * the metric that contains this one ("GKER (sec)" is part of "GPUOP (sec)"), or MODEL_NONE
	 */
	uint32_t parent;
	uint32_t divisor; /* GPU_MEAN: the metric that counts launches; others: MODEL_NONE */
	const char *name;          /* HPCToolkit's name: "CPUTIME (sec)", "PAPI_TOT_CYC" */
	const char *event;         /* as the user asked for it: "CPUTIME" */
	const char *description;
	/* the smallest period of all processes, in the unit of the measurement (ns, count) */
	uint64_t period;
	uint64_t period_most;      /* the largest period of all processes */
	enum msr_source source;    /* the source in the first process with this metric */
	/* Other processes used another source: a timer if they had no perf events. */
	bool sources_differ;
	/*
	 * For known stall reasons: what the reason means and what to look at, one line of text
	 * each. Others: NULL.
	 */
	const char *meaning, *hint;
	/*
	 * GPU_SAMPLES: some samples were apportioned to the contexts that launched the kernel, in
	 * proportion to its time in each. The description says so too.
	 */
	bool apportioned;
};

/* The length of the name without its unit: for "GKER (sec)" the length of "GKER". */
size_t model_metric_stem(const char *name, enum model_unit unit);

/* The part of the tree that a value sums over. The names are HPCToolkit's. */
enum model_scope {
	MODEL_POINT,               /* only the context itself */
	/*
	 * The context and all that is lexically inside it: all descendants reached only through
	 * MODEL_LEXICAL. An inlined call is a call, because readers sum this scope over functions.
	 */
	MODEL_FUNCTION,
	/* LOOP contexts: as MODEL_FUNCTION, without nested loops; others: as MODEL_FUNCTION */
	MODEL_LEX_AWARE,
	MODEL_EXECUTION,           /* inclusive: all descendants */
	MODEL_N_SCOPES
};

/*
 * The value of one (profile, context, metric), in the metric's unit. It exists only if
 * MODEL_EXECUTION is not 0.
 */
struct model_value {
	uint32_t context;
	uint32_t metric;
	double at[MODEL_N_SCOPES];
};

/*
 * The value over all profiles. Profiles without the context count as 0 in the mean and deviation.
 * They do not count in min.
 */
struct model_total {
	uint32_t context;
	uint32_t metric;
	uint32_t n_profiles;       /* profiles with a value */
	uint32_t n_values[MODEL_N_SCOPES]; /* profiles whose value in the scope is not 0 */
	uint64_t n_samples;        /* at the context itself (MODEL_POINT) */
	double sum[MODEL_N_SCOPES], sum_of_squares[MODEL_N_SCOPES], min[MODEL_N_SCOPES],
		max[MODEL_N_SCOPES];
};

#endif
