# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034
#
# For tests that start MPI programs: as root, on one node, with more ranks than processors.

OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# One node needs no network, whose absence Open MPI would report in a different order each time.
# This replaces Debian's setting, which leaves out the others: opening them makes the start four
# times as expensive.
OMPI_MCA_btl=^tcp,uct,openib,ofi
OMPI_MCA_rmaps_base_oversubscribe=1
PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # the same for Open MPI 5
OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_btl \
	OMPI_MCA_rmaps_base_oversubscribe PRTE_MCA_rmaps_default_mapping_policy \
	OMPI_MCA_hwloc_base_binding_policy
