# SPDX-License-Identifier: BSD-3-Clause
# The preloaded library. Hook files are added to hpcrun_hooks by hpcrun-lite/launch/local.mk.
