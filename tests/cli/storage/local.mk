# SPDX-License-Identifier: BSD-3-Clause
# Where the data are: file servers, node-local storage, many processes in one directory.

storage_tests = \
	tests/cli/storage/slurm_jobs.sh \
	tests/cli/storage/storage_follow.sh \
	tests/cli/storage/storage_local.sh \
	tests/cli/storage/storage_places.sh \
	tests/cli/storage/storage_proof.sh \
	tests/cli/storage/storage_server.sh \
	tests/cli/storage/storage_start.sh
TESTS += $(storage_tests)
EXTRA_DIST += $(storage_tests) tests/cli/storage/storage_lib.sh tests/workload/storage/bad_fs.c \
	tests/workload/storage/ends.c
