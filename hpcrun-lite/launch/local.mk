# SPDX-License-Identifier: BSD-3-Clause
# The launcher, the hooks (added to hpcrun_hooks) and the PAPI module.
