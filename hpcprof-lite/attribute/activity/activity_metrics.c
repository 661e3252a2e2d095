/* SPDX-License-Identifier: BSD-3-Clause */
/* See activity_metrics.h. Test: tests/unit/prof/test_activity.c. */
#include "hpcprof-lite/attribute/activity/activity_metrics.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *event, *description;
} rows[MODEL_N_ACTIVITIES] = {
	[MODEL_WORK] = {"WORK (sec)", "WORK", "Time in which threads worked"},
	[MODEL_OMP_BARRIER] = {"OMP:BARRIER (sec)", "OMP:BARRIER",
			       "Time at barriers of OpenMP and at the end of parallel regions"},
	[MODEL_OMP_LOCK] = {"OMP:LOCK (sec)", "OMP:LOCK",
			    "Time at locks and critical sections of OpenMP"},
	[MODEL_OMP_ORDERED] = {"OMP:ORDERED (sec)", "OMP:ORDERED",
			       "Time at ordered constructs of OpenMP"},
	[MODEL_OMP_TASKWAIT] = {"OMP:TASKWAIT (sec)", "OMP:TASKWAIT",
				"Time in which threads waited for tasks of OpenMP"},
	[MODEL_OMP_OVERHEAD] = {"OMP:OVERHEAD (sec)", "OMP:OVERHEAD",
				"Time in the run time of OpenMP without waiting"},
	[MODEL_OMP_IDLE] = {"OMP:IDLE (sec)", "OMP:IDLE",
			    "Time of OpenMP threads outside of any parallel region"},
	[MODEL_MPI_P2P] = {"MPI:P2P (sec)", "MPI:P2P",
			   "Time in point-to-point calls of MPI, their waits and tests"},
	[MODEL_MPI_COLLECTIVE] = {"MPI:COLLECTIVE (sec)", "MPI:COLLECTIVE",
				  "Time in collective calls of MPI"},
	[MODEL_MPI_ONE_SIDED] = {"MPI:ONE-SIDED (sec)", "MPI:ONE-SIDED",
				 "Time in one-sided calls of MPI"},
	[MODEL_MPI_IO] = {"MPI:IO (sec)", "MPI:IO", "Time in calls of MPI for files"},
	[MODEL_MPI_OTHER] = {"MPI:OTHER (sec)", "MPI:OTHER",
			     "Time in other calls of MPI and in its own threads"},
	[MODEL_TORCH_COLLECTIVE] = {"TORCH:COLLECTIVE (sec)", "TORCH:COLLECTIVE",
				    "Time in collective operations of PyTorch"},
	[MODEL_GPU_WAIT] = {"GPU:WAIT (sec)", "GPU:WAIT", "Time in calls that wait for a GPU"},
	[MODEL_BLOCKED_LOCK] = {"BLOCKED:LOCK (sec)", "BLOCKED:LOCK",
				"Time blocked by a lock or another futex"},
	[MODEL_BLOCKED_THREAD] = {"BLOCKED:THREAD (sec)", "BLOCKED:THREAD",
				  "Time in which threads waited for another thread: condition "
				  "variables, semaphores, joins"},
	[MODEL_BLOCKED_IO] = {"BLOCKED:IO (sec)", "BLOCKED:IO",
			      "Time blocked by a file, socket, pipe, message queue or "
			      "device"},
	[MODEL_BLOCKED_POLL] = {"BLOCKED:POLL (sec)", "BLOCKED:POLL",
				"Time blocked in poll, select and epoll_wait"},
	[MODEL_BLOCKED_SLEEP] = {"BLOCKED:SLEEP (sec)", "BLOCKED:SLEEP", "Time asleep"},
	[MODEL_BLOCKED_OTHER] = {"BLOCKED:OTHER (sec)", "BLOCKED:OTHER",
				 "Time blocked by a child, a signal or another system call"},
	[MODEL_NO_CPU] = {"NO-CPU (sec)", "NO-CPU",
			  "Time ready to run while other threads had the processors"},
};

static bool mark(struct model *m, enum model_event event)
{
	bool any = false;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].kind == MODEL_METRIC_SAMPLED && m->metrics[i].measures == event)
			any = m->private_->metrics[i].is_time = true;
	return any;
}

void activity_mark_time(struct model *m)
{
	if (!mark(m, MODEL_EVENT_CPUTIME) && mark(m, MODEL_EVENT_REALTIME))
		return;
	mark(m, MODEL_EVENT_OFFCPU);
}

static uint32_t first_time(const struct model *m)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].is_time)
			return i;
	return MODEL_NONE;
}

bool activity_add_metrics(struct model *m, const bool occurs[MODEL_N_ACTIVITIES])
{
	uint32_t n = 0, parent = first_time(m);
	for (unsigned i = 0; i < MODEL_N_ACTIVITIES; i++)
		n += occurs[i];
	if (parent == MODEL_NONE || n == 0 || (n == 1 && occurs[MODEL_WORK]))
		return true;
	struct model_metric *metrics =
		realloc(m->private_->metrics, (m->n_metrics + n) * sizeof *metrics);
	if (!metrics)
		return false;
	m->metrics = m->private_->metrics = metrics;
	for (unsigned i = 0; i < MODEL_N_ACTIVITIES; i++)
		if (occurs[i])
			metrics[m->n_metrics++] = (struct model_metric){
				.kind = MODEL_METRIC_ACTIVITY,
				.activity = (uint8_t)i,
				.parent = parent,
				.divisor = MODEL_NONE,
				.name = rows[i].name,
				.event = rows[i].event,
				.unit = MODEL_SECONDS,
				.description = rows[i].description,
				.source = metrics[parent].source};
	return true;
}
