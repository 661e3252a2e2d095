# SPDX-License-Identifier: BSD-3-Clause
# Record and replay of the NVIDIA back end, on a driver that does not exist and with recordings of one that does.

replay_tests = tests/cli/replay.sh tests/cli/replay_fault.sh
TESTS += $(replay_tests)
EXTRA_DIST += $(replay_tests) tests/gpu/recorded.sh
