/* SPDX-License-Identifier: BSD-3-Clause */
/* See mpi_bytes.h. Test: tests/unit/mpi/test_mpi_bytes.c. */
#include "hpcrun-lite/mpi/mpi_bytes.h"

int32_t mpi_bytes_peer(const struct mpi_arguments *c, unsigned position, bool *is_null)
{
	const int rank = position ? (int)c->a[position] : -1;
	*is_null = false;
	if (!position)
		return MSR_MPI_NO_PEER;
	if (rank >= 0)
		return rank;
	if (c->library->abi == MPI_ABI_UNKNOWN)
		return MSR_MPI_NO_PEER;
	*is_null = rank == c->library->proc_null;
	return rank == c->library->any_source && c->form->kind == MPI_KIND_NONE ? MSR_MPI_ANY_PEER
									       : MSR_MPI_NO_PEER;
}

/* One of the two buffers of a call. */
struct side {
	unsigned at;      /* position of the count */
	enum mpi_how how;
	int n;            /* ranks or neighbours on this side */
};

static uint64_t type_size(const struct mpi_arguments *c, uintptr_t type)
{
	int64_t size = 0;
	type = mpi_handle(c->library, false, type);
	return c->library->type_size(type, &size) == 0 && size > 0 ? (uint64_t)size : 0;
}

static uint64_t count_at(const struct mpi_arguments *c, unsigned position)
{
	int64_t n = c->is_large ? (int64_t)c->a[position] : (int)c->a[position];
	return n > 0 ? (uint64_t)n : 0;
}

/* Element i of an array of counts. */
static uint64_t element(const struct mpi_arguments *c, unsigned position, int i)
{
	const void *array = (const void *)c->a[position];
	if (!array)
		return 0;
	int64_t n = c->is_large ? ((const int64_t *)array)[i] : ((const int *)array)[i];
	return n > 0 ? (uint64_t)n : 0;
}

static uintptr_t type_at(const struct mpi_arguments *c, unsigned position, int i)
{
	const void *array = (const void *)c->a[position];
	return c->library->abi == MPI_ABI_MPICH ? ((const uint32_t *)array)[i]
						: ((const uintptr_t *)array)[i];
}

static uint64_t sum_of_types(const struct mpi_arguments *c, const struct side *s)
{
	uint64_t bytes = 0;
	for (int i = 0; i < s->n; i++) {
		uint64_t n = element(c, s->at, i);
		if (n)
			bytes += n * type_size(c, type_at(c, s->at + 2, i));
	}
	return bytes;
}

static uint64_t sum_of_counts(const struct mpi_arguments *c, const struct side *s)
{
	uint64_t n = 0;
	for (int i = 0; i < s->n; i++)
		n += element(c, s->at, i);
	return n;
}

static uint64_t bytes_of(const struct mpi_arguments *c, const struct side *s)
{
	unsigned type = s->at + (s->how == MPI_HOW_VECTOR ? 2 : s->how == MPI_HOW_SINGLE ? 0 : 1);
	uint64_t n = 0;
	switch (s->how) {
	case MPI_HOW_TYPES:
		return sum_of_types(c, s);
	case MPI_HOW_ONE:
		n = count_at(c, s->at);
		break;
	case MPI_HOW_EACH:
		n = count_at(c, s->at) * (uint64_t)s->n;
		break;
	case MPI_HOW_VECTOR:
	case MPI_HOW_SUM:
		n = sum_of_counts(c, s);
		break;
	case MPI_HOW_OWN:
		n = c->on ? element(c, s->at, c->on->rank) : 0;
		break;
	case MPI_HOW_SINGLE:
		n = 1;
		break;
	}
	return n ? n * type_size(c, c->a[type]) : 0;
}

/* Returns false if MPI ignores the arguments of this side. */
static bool matters(const struct mpi_arguments *c, const struct side *s, enum mpi_who who,
		    int32_t root)
{
	if (!s->at)
		return false;
	if (c->form->kind == MPI_KIND_NONE)
		return true;
	/* Our group decides which arguments matter, and the other group how many there are. */
	if (c->on && c->on->is_inter)
		return false;
	/* We would need to know the communicator here. */
	if (!c->on && (who != MPI_WHO_ALL || s->how != MPI_HOW_ONE))
		return false;
	if (who != MPI_WHO_ALL && (c->on->rank == root) != (who == MPI_WHO_ROOT))
		return false;
	return s->how == MPI_HOW_SINGLE || c->a[s->at - 1] != c->library->in_place ||
	       c->form->group != MPI_GROUP_COLLECTIVE;
}

void mpi_bytes_of(const struct mpi_arguments *c, uint64_t *sent, uint64_t *received)
{
	const struct mpi_call_form *f = c->form;
	bool to_null, from_null;
	*sent = *received = 0;
	if (c->library->abi == MPI_ABI_UNKNOWN || (!f->send && !f->receive))
		return;
	const int32_t peer = mpi_bytes_peer(c, f->peer, &to_null);
	mpi_bytes_peer(c, f->source ? f->source : f->peer, &from_null);
	const int size = c->on ? c->on->size : 0;
	const struct side out = {f->send, f->send_how,
				 f->is_neighbour && c->on ? c->on->n_out : size},
			  in = {f->receive, f->receive_how,
				f->is_neighbour && c->on ? c->on->n_in : size};
	if (!to_null && matters(c, &out, f->send_who, peer))
		*sent = bytes_of(c, &out);
	if (!from_null && matters(c, &in, f->receive_who, peer))
		*received = bytes_of(c, &in);
}
