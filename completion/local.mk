# SPDX-License-Identifier: BSD-3-Clause
# Where bash-completion looks for the completion of a command.
completiondir = $(datadir)/bash-completion/completions
dist_completion_DATA = completion/hpcrun-lite completion/hpcstruct-lite completion/hpcprof-lite
