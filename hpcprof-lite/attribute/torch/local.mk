# SPDX-License-Identifier: BSD-3-Clause
libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/torch/forward_paths.c hpcprof-lite/attribute/torch/forward_paths.h \
	hpcprof-lite/attribute/torch/known_torch.c hpcprof-lite/attribute/torch/known_torch.h \
	hpcprof-lite/attribute/torch/torch_fold.c hpcprof-lite/attribute/torch/torch_fold.h \
	hpcprof-lite/attribute/torch/torch_modules.c hpcprof-lite/attribute/torch/torch_modules.h
