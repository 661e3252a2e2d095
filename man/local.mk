# SPDX-License-Identifier: BSD-3-Clause
dist_man_MANS += man/hpcrun-lite.1 man/hpcstruct-lite.1 man/hpcprof-lite.1
