/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/mpi: bytes of calls with a library of MPI that is not there, for both ABIs;
 * arguments that MPI ignores are not looked at; identities of communicators; whom requests wait
 * for; the table of calls against the prototypes of an installed mpi.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/mpi/mpi_bytes.h"
#include "hpcrun-lite/mpi/mpi_requests.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a library ---- */

enum { FOUR = 0x104, EIGHT = 0x108, NULL_TYPE = 0 };
static int size_of_comm = 4, own_rank, n_errors;

static int type_size(uintptr_t type, int64_t *size)
{
	n_errors += type != FOUR && type != EIGHT;
	*size = (int64_t)(type & 15);
	return 0;
}
static int comm_size(uintptr_t comm, int *size)
{
	(void)comm;
	*size = size_of_comm;
	return 0;
}
static int comm_test_inter(uintptr_t comm, int *is_inter)
{
	(void)comm;
	*is_inter = 0;
	return 0;
}
static int comm_rank(uintptr_t comm, int *rank)
{
	(void)comm;
	*rank = own_rank;
	return 0;
}
static int comm_group(uintptr_t comm, uintptr_t *group)
{
	*group = comm;
	return 0;
}
static int group_free(uintptr_t *group)
{
	*group = 0;
	return 0;
}
/* Handles below 16 of communicators say who is first in them. */
static int translate(uintptr_t from, int n, const int *ranks, uintptr_t to, int *result)
{
	(void)n;
	(void)ranks;
	(void)to;
	*result = (int)(from & 15);
	return 0;
}

static const struct mpi_library library = {
	.abi = MPI_ABI_MPICH, .world = 0x44000000, .self = 0x44000001, .null = 0x04000000,
	.null_request = 0x2c000000, .in_place = (uintptr_t)-1, .proc_null = -1, .any_source = -2,
	.type_size = type_size,
	.comm_size = comm_size, .comm_rank = comm_rank,
	.comm_test_inter = comm_test_inter,
	.comm_group = comm_group, .group_free = group_free, .translate = translate};

static struct msr_mpi_comm described[64];
static uint32_t n_described;
static uint32_t describe(const struct msr_mpi_comm *c)
{
	described[n_described++ % 64] = *c;
	return n_described;
}
static const struct mpi_host host = {.comm = describe};

/* ---- bytes ---- */

static struct mpi_object_entry world = {.size = 4, .rank = 1};

static void expect(unsigned call, const uintptr_t *a, bool is_large, uint64_t sent,
		   uint64_t received)
{
	const struct mpi_arguments c = {&library, &mpi_call_forms[call], a, is_large, &world};
	uint64_t s, r;
	n_errors = 0;
	mpi_bytes_of(&c, &s, &r);
	if (s != sent || r != received || n_errors)
		fail_msg("%s: sent %llu, not %llu; received %llu, not %llu; %d errors",
			 mpi_call_name(call), (unsigned long long)s, (unsigned long long)sent,
			 (unsigned long long)r, (unsigned long long)received, n_errors);
}

#define IN_PLACE ((uintptr_t)-1)
#define JUNK UINT64_C(0xdeadbeef00000000) /* above an int */

static void point_to_point(void **state)
{
	(void)state;
	expect(MPI_CALL_Send, (uintptr_t[]){0, 1, JUNK | 10, JUNK | FOUR, 2, 0, 0}, false, 40, 0);
	expect(MPI_CALL_Recv, (uintptr_t[]){0, 1, 10, EIGHT, (uintptr_t)-2, 0, 0, 0}, false, 0, 80);
	/* to and from nobody; the type may be anything */
	expect(MPI_CALL_Send, (uintptr_t[]){0, 1, 10, NULL_TYPE, (uintptr_t)-1, 0, 0}, false, 0, 0);
	expect(MPI_CALL_Sendrecv,
	       (uintptr_t[]){0, 1, 3, FOUR, 1, 0, 1, 5, NULL_TYPE, (uintptr_t)-1, 0, 0, 0}, false,
	       12, 0);
	expect(MPI_CALL_Sendrecv,
	       (uintptr_t[]){0, 1, 3, NULL_TYPE, (uintptr_t)-1, 0, 1, 5, EIGHT, 2, 0, 0, 0}, false,
	       0, 40);
	expect(MPI_CALL_Send, (uintptr_t[]){0, 1, 0, NULL_TYPE, 2, 0, 0}, false, 0, 0);
	expect(MPI_CALL_Send, (uintptr_t[]){0, 1, UINT64_C(1) << 33, FOUR, 2, 0, 0}, true,
	       UINT64_C(1) << 35, 0);
}

static void collective(void **state)
{
	(void)state;
	int counts[] = {1, 2, 3, 4}, places[4] = {0};
	uint32_t types[] = {FOUR, EIGHT, FOUR, NULL_TYPE};
	int some[] = {1, 1, 1, 0};
	int64_t large[] = {1, 2, 3, 4};
	uintptr_t n = (uintptr_t)counts, d = (uintptr_t)places;
	/* we are rank 1 of 4 */
	world.is_inter = true;
	expect(MPI_CALL_Gatherv, (uintptr_t[]){0, 1, 2, FOUR, 1, 1, 1, NULL_TYPE, 1, 0}, false, 0,
	       0);
	world.is_inter = false;
	expect(MPI_CALL_Bcast, (uintptr_t[]){0, 1, 10, FOUR, 1, 0}, false, 40, 0);
	expect(MPI_CALL_Bcast, (uintptr_t[]){0, 1, 10, FOUR, 0, 0}, false, 0, 40);
	expect(MPI_CALL_Gather, (uintptr_t[]){0, 1, 2, FOUR, 1, 3, EIGHT, 1, 0}, false, 8, 96);
	expect(MPI_CALL_Gather, (uintptr_t[]){0, 1, 2, FOUR, 0, 9, NULL_TYPE, 0, 0}, false, 8, 0);
	expect(MPI_CALL_Gather, (uintptr_t[]){0, IN_PLACE, 9, NULL_TYPE, 1, 3, EIGHT, 1, 0}, false,
	       0, 96);
	expect(MPI_CALL_Scatter, (uintptr_t[]){0, 1, 2, FOUR, IN_PLACE, 9, NULL_TYPE, 1, 0}, false,
	       32, 0);
	expect(MPI_CALL_Gatherv, (uintptr_t[]){0, 1, 2, FOUR, 1, n, d, FOUR, 1, 0}, false, 8, 40);
	expect(MPI_CALL_Gatherv, (uintptr_t[]){0, 1, 2, FOUR, 0, 0, 0, NULL_TYPE, 0, 0}, false, 8,
	       0);
	expect(MPI_CALL_Allgatherv,
	       (uintptr_t[]){0, 1, 2, FOUR, 1, (uintptr_t)large, d, FOUR, 0}, true, 8, 40);
	expect(MPI_CALL_Alltoall, (uintptr_t[]){0, 1, 2, FOUR, 1, 2, EIGHT, 0}, false, 32, 64);
	expect(MPI_CALL_Alltoallw,
	       (uintptr_t[]){0, 1, (uintptr_t)some, d, (uintptr_t)types, 1, (uintptr_t)some, d,
			     (uintptr_t)types, 0},
	       false, 16, 16);
	expect(MPI_CALL_Reduce, (uintptr_t[]){0, IN_PLACE, 1, 5, FOUR, 0, 1, 0}, false, 20, 20);
	expect(MPI_CALL_Reduce, (uintptr_t[]){0, 1, 0, 5, FOUR, 0, 0, 0}, false, 20, 0);
	expect(MPI_CALL_Reduce_scatter, (uintptr_t[]){0, 1, 1, n, FOUR, 0, 0}, false, 40, 8);
	expect(MPI_CALL_Reduce_scatter_block, (uintptr_t[]){0, 1, 1, 2, FOUR, 0, 0}, false, 32, 8);
}

static void others(void **state)
{
	(void)state;
	world.n_in = 3;
	world.n_out = 2;
	expect(MPI_CALL_Neighbor_alltoall, (uintptr_t[]){0, 1, 2, FOUR, 1, 2, EIGHT, 0}, false, 16,
	       48);
	expect(MPI_CALL_Put, (uintptr_t[]){0, 1, 2, FOUR, 3, 0, 2, FOUR, 0}, false, 8, 0);
	expect(MPI_CALL_Get_accumulate,
	       (uintptr_t[]){0, 1, 2, FOUR, 1, 3, EIGHT, 0, 0, 2, FOUR, 0, 0}, false, 8, 24);
	expect(MPI_CALL_Fetch_and_op, (uintptr_t[]){0, 1, 1, EIGHT, 0, 0, 0, 0}, false, 8, 8);
	expect(MPI_CALL_File_write_at, (uintptr_t[]){0, 1, 0, 1, 6, FOUR, 0}, false, 24, 0);
	expect(MPI_CALL_File_read_all, (uintptr_t[]){0, 1, 1, 6, FOUR, 0}, false, 0, 24);
	expect(MPI_CALL_Barrier, (uintptr_t[]){0, 0}, false, 0, 0);
}

/* ---- communicators ---- */

static uint64_t add_comm(uintptr_t handle, const struct mpi_object_entry *parent, uint64_t number)
{
	mpi_objects_add(&host, &library,
			&(struct mpi_new_object){.kind = MPI_OBJECT_COMM,
						 .handle = handle,
						 .parent = parent,
						 .number = number});
	struct mpi_object_entry *e = mpi_objects_find(MPI_OBJECT_COMM, handle);
	return e ? e->identity : 0;
}

static void identities(void **state)
{
	(void)state;
	mpi_objects_reset();
	mpi_objects_start(&host, &library);
	struct mpi_object_entry *w = mpi_objects_find(MPI_OBJECT_COMM, library.world);
	assert_non_null(w);
	uint64_t a = add_comm(0x100, w, 3), b = add_comm(0x200, w, 4), c = add_comm(0x301, w, 3);
	assert_true(a && b && c && a != b && a != c && b != c && a != w->identity);
	/* another process, where it has another handle */
	mpi_objects_reset();
	mpi_objects_start(&host, &library);
	w = mpi_objects_find(MPI_OBJECT_COMM, library.world);
	assert_true(add_comm(0x500, w, 3) == a);
	/* one that is freed is gone, and its handle may come again */
	struct mpi_object_entry *e = mpi_objects_take(MPI_OBJECT_COMM, 0x500);
	assert_non_null(e);
	assert_null(mpi_objects_find(MPI_OBJECT_COMM, 0x500));
	mpi_objects_put_back(e, MPI_OBJECT_COMM, 0x500);
	assert_ptr_equal(mpi_objects_find(MPI_OBJECT_COMM, 0x500), e);
	mpi_objects_take(MPI_OBJECT_COMM, 0x500);
	assert_true(add_comm(0x500, w, 9) != a);
	/* a window with the same handle is something else; MPI_COMM_NULL is nothing */
	assert_null(mpi_objects_find(MPI_OBJECT_WIN, 0x500));
	assert_int_equal(add_comm(library.null, w, 10), 0);
	/* there is a limit */
	for (uintptr_t i = 0; i < 2 * MPI_MAX_OBJECTS; i++)
		add_comm(0x10000 + 16 * i, w, i);
	assert_null(mpi_objects_find(MPI_OBJECT_COMM, 0x10000 + 16 * (MPI_MAX_OBJECTS + 1)));
	assert_non_null(mpi_objects_find(MPI_OBJECT_COMM, 0x10000));
	mpi_objects_reset();
}

/* Groups of different sizes with one tag, of which some processes are in one only. */
static void groups_with_one_tag(void **state)
{
	uint64_t identity[2];
	(void)state;
	for (int size = 2; size <= 3; size++) {
		mpi_objects_reset();
		mpi_objects_start(&host, &library);
		size_of_comm = size;
		mpi_objects_add(&host, &library,
				&(struct mpi_new_object){
					.kind = MPI_OBJECT_COMM, .handle = 0x100,
					.parent = mpi_objects_find(MPI_OBJECT_COMM, library.world),
					.is_of_group = true});
		identity[size - 2] = mpi_objects_find(MPI_OBJECT_COMM, 0x100)->identity;
	}
	size_of_comm = 4;
	assert_true(identity[0] && identity[1] && identity[0] != identity[1]);
}

static void copies_have_neighbours(void **state)
{
	(void)state;
	mpi_objects_reset();
	mpi_objects_start(&host, &library);
	struct mpi_new_object new = {.kind = MPI_OBJECT_COMM, .handle = 0x100, .n_dimensions = 2};
	mpi_objects_add(&host, &library, &new);
	new = (struct mpi_new_object){.kind = MPI_OBJECT_COMM, .handle = 0x200, .is_copy = true,
				      .parent = mpi_objects_find(MPI_OBJECT_COMM, 0x100)};
	mpi_objects_add(&host, &library, &new);
	const struct mpi_object_entry *e = mpi_objects_find(MPI_OBJECT_COMM, 0x200);
	assert_int_equal(e->n_in, 4);
	assert_int_equal(e->n_out, 4);
	mpi_objects_reset();
}

/* ---- requests ---- */

/* "peer way" of what some requests agree on; "": they do not, or one of them is unknown. */
static const char *agreed(const uint32_t *handles, int n)
{
	static char text[32];
	struct mpi_other_side on;
	text[0] = 0;
	if (mpi_requests_agree(&(struct mpi_request_array){&library, (uintptr_t)handles, n}, &on))
		snprintf(text, sizeof text, "%d %u", on.peer, on.way);
	return text;
}

static void add_request(uint32_t handle, uint32_t comm, int32_t peer, uint32_t way)
{
	mpi_requests_add(handle, &(struct mpi_other_side){comm, peer, way});
}

static void requests_name_the_other_side(void **state)
{
	uint32_t h[] = {0xac000001, 0x2c000000, 0xac000002, 0xac000003, 0xac000004}, many[17];
	(void)state;
	mpi_requests_reset();
	add_request(h[0], 1, 3, MSR_MPI_WAY_FROM);
	add_request(h[2], 1, 3, MSR_MPI_WAY_TO);
	add_request(h[3], 2, 3, MSR_MPI_WAY_TO);
	assert_string_equal(agreed(h, 1), "3 1");
	assert_string_equal(agreed(h, 3), "3 3");
	assert_string_equal(agreed(h, 4), "");     /* another communicator */
	assert_string_equal(agreed(h + 4, 1), ""); /* unknown */
	assert_string_equal(agreed(h + 1, 1), ""); /* complete */
	assert_string_equal(agreed(NULL, 1), "");
	for (int i = 0; i < 17; i++)
		many[i] = h[0];
	assert_string_equal(agreed(many, 16), "3 1");
	assert_string_equal(agreed(many, 17), "");
	/* the handle comes again, for another rank, and for a request that has none */
	add_request(h[0], 1, MSR_MPI_ANY_PEER, MSR_MPI_WAY_FROM);
	assert_string_equal(agreed(h, 1), "-2 1");
	mpi_requests_remove_all(&(struct mpi_request_array){&library, (uintptr_t)h, 1});
	assert_string_equal(agreed(h, 1), "");
}

/* Of more requests than there is room for, none has the other side of another one. */
static void requests_replace_each_other(void **state)
{
	unsigned n = 0;
	(void)state;
	mpi_requests_reset();
	for (uint32_t i = 0; i < 3 * MPI_REQUESTS; i++)
		add_request(0xac000000 + i, 1 + i % 7, (int32_t)i, MSR_MPI_WAY_TO);
	for (uint32_t i = 0; i < 3 * MPI_REQUESTS; i++) {
		struct mpi_other_side s;
		if (!mpi_requests_find(0xac000000 + i, &s))
			continue;
		assert_true(s.peer == (int32_t)i && s.comm == 1 + i % 7);
		n++;
	}
	assert_in_range(n, MPI_REQUESTS * 3 / 4, MPI_REQUESTS);
}

/* ---- the table against mpi.h ---- */

/* The number of parameters of a function in a header; -1: it is not there. */
static int count_parameters(const char *text, const char *name)
{
	char wanted[80];
	snprintf(wanted, sizeof wanted, " %s(", name);
	for (const char *at = text; (at = strstr(at, wanted)); at++) {
		const char *p = at + strlen(wanted);
		int n = 1, depth = 1;
		if (strncmp(p, "void)", 5) == 0)
			return 0;
		for (; *p && depth; p++) {
			depth += (*p == '(') - (*p == ')');
			n += *p == ',' && depth == 1;
		}
		while (isspace((unsigned char)*p))
			p++;
		if (*p == ';' || *p == 'M' || *p == '_') /* perhaps with attributes */
			return n;
	}
	return -1;
}

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	size_t n = (size_t)ftell(f);
	rewind(f);
	char *text = calloc(1, n + 1);
	n = fread(text, 1, n, f);
	fclose(f);
	return text;
}

static void prototypes(void **state)
{
	static const char *const headers[] = {
		"/usr/include/x86_64-linux-gnu/mpich/mpi_proto.h",
		"/usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h"};
	unsigned n_read = 0;
	(void)state;
	for (size_t h = 0; h < 2; h++) {
		char *text = read_file(headers[h]);
		for (unsigned i = 0; text && i < MPI_N_CALLS; i++) {
			int n = count_parameters(text, mpi_call_name(i));
			if (n >= 0 && n != mpi_call_forms[i].n)
				fail_msg("%s has %d parameters in %s, %u in the table",
					 mpi_call_name(i), n, headers[h], mpi_call_forms[i].n);
			n_read += n >= 0;
		}
		free(text);
	}
	if (!n_read)
		skip();
	assert_true(n_read > 150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(point_to_point), cmocka_unit_test(collective),
		cmocka_unit_test(others), cmocka_unit_test(identities),
		cmocka_unit_test(groups_with_one_tag),
		cmocka_unit_test(copies_have_neighbours),
		cmocka_unit_test(requests_name_the_other_side),
		cmocka_unit_test(requests_replace_each_other),
		cmocka_unit_test(prototypes)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
