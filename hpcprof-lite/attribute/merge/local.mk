# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/merge/forward_paths.c hpcprof-lite/attribute/merge/forward_paths.h \
	hpcprof-lite/attribute/merge/jit_names.c hpcprof-lite/attribute/merge/jit_names.h \
	hpcprof-lite/attribute/merge/jit_split.c \
	hpcprof-lite/attribute/merge/merge.c hpcprof-lite/attribute/merge/merge.h \
	hpcprof-lite/attribute/merge/merge_modules.c hpcprof-lite/attribute/merge/merge_modules.h \
	hpcprof-lite/attribute/merge/nvtx_labels.c hpcprof-lite/attribute/merge/nvtx_labels.h \
	hpcprof-lite/attribute/merge/python_frames.c hpcprof-lite/attribute/merge/python_frames.h \
	hpcprof-lite/attribute/merge/share_trees.c hpcprof-lite/attribute/merge/share_trees.h \
	hpcprof-lite/attribute/merge/torch_modules.c hpcprof-lite/attribute/merge/torch_modules.h \
	hpcprof-lite/attribute/merge/wait_objects.c hpcprof-lite/attribute/merge/wait_objects.h
