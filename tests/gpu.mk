# SPDX-License-Identifier: BSD-3-Clause
# Workloads in CUDA C++ for machines with a GPU, and the scripts that run them: make gpu-workloads,
# make gpu-check, make gpu-bench, make gpu-advice. Built only where nvcc is; of make check only
# recordings of them are a part.

NVCCFLAGS = -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90
gpu_nvcc = $(NVCC) -O2 -std=c++17 -lineinfo -I$(srcdir) $(NVCCFLAGS) -Xcompiler -g,-O2,-Wall
gpu_headers = tests/gpu/work.cuh tests/gpu/several_ways.h tests/gpu/work_library.h \
	tests/gpu/inlined.cuh tests/gpu/flow/flow.h tests/gpu/flow/grid.cuh \
	tests/gpu/advice/advice_ways.h
gpu_flow = tests/gpu/flow/main.cu tests/gpu/flow/advect.cu tests/gpu/flow/pressure.cu \
	tests/gpu/flow/tracers.cu tests/gpu/flow/energy.cu
gpu_advice = tests/gpu/advice/advice_ways.cu tests/gpu/advice/advice_memory.cu \
	tests/gpu/advice/advice_occupancy.cu tests/gpu/advice/advice_units.cu \
	tests/gpu/advice/advice_program.cu tests/gpu/advice/advice_clean.cu \
	tests/gpu/advice/advice_apps.cu tests/gpu/advice/advice_later.cu \
	tests/gpu/advice/advice_again.cu
gpu_single = tests/gpu/truth_kernels.cu tests/gpu/cuda_ways.cu tests/gpu/transformer.cu \
	tests/gpu/idle_ways.cu tests/gpu/launch_loop.cu tests/gpu/several_gpus.cu \
	tests/gpu/counters/counter_ways.cu tests/gpu/energy/energy_ways.cu
gpu_scripts = tests/gpu/bare_cupti.c tests/gpu/all.sh tests/gpu/checks.sh \
	tests/gpu/versions.sh tests/gpu/idle.sh \
	tests/gpu/counters/counters_compare.py tests/gpu/energy/energy_steps.py \
	tests/gpu/several.sh tests/gpu/bench.sh tests/gpu/peers.py tests/gpu/steps.py \
	tests/gpu/turns.py tests/gpu/nccl/nccl.sh tests/gpu/nccl/nccl_late.py \
	tests/gpu/torch_infer.py tests/gpu/triton_work.py tests/gpu/torch/torch_steps.py \
	tests/gpu/torch/torch_ranks.py tests/gpu/torch/torch_nodes.py tests/gpu/torch/jax_steps.py \
	tests/gpu/yield/torch_profiler.py tests/gpu/yield/proton_profiler.py \
	tests/gpu/advice/advice.sh tests/gpu/advice/advice_table.py
gpu_golden = tests/cli/gpu/nvidia_golden.sh tests/cli/gpu/blame_golden.sh \
	tests/cli/gpu/counters_golden.sh tests/cli/gpu/energy_golden.sh \
	tests/cli/gpu/advice_golden.sh
TESTS += $(gpu_golden)
EXTRA_DIST += $(gpu_golden) tests/golden/nvidia tests/golden/counters tests/golden/energy \
	tests/golden/advice
EXTRA_DIST += $(gpu_headers) $(gpu_flow) $(gpu_advice) $(gpu_single) $(gpu_scripts)

if HAVE_CUPTI
gpu_bare = tests/gpu/bare_cupti.so
endif
if HAVE_NVCC
gpu_workloads = tests/gpu/truth_kernels tests/gpu/cuda_ways tests/gpu/transformer \
	tests/gpu/idle_ways tests/gpu/launch_loop tests/gpu/launch_loop.so \
	tests/gpu/several_gpus tests/gpu/counter_ways tests/gpu/energy_ways tests/gpu/flowbox \
	tests/gpu/advice_ways $(gpu_bare)
gpu-workloads: $(gpu_workloads)
CLEANFILES += $(gpu_workloads)

tests/gpu/truth_kernels: tests/gpu/truth_kernels.cu $(gpu_headers)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(gpu_nvcc) -o $@ $(srcdir)/tests/gpu/truth_kernels.cu
tests/gpu/cuda_ways: tests/gpu/cuda_ways.cu $(gpu_headers)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(gpu_nvcc) -o $@ $(srcdir)/tests/gpu/cuda_ways.cu -ldl \
		-lpthread
tests/gpu/transformer: tests/gpu/transformer.cu $(gpu_headers)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(gpu_nvcc) -o $@ $(srcdir)/tests/gpu/transformer.cu -ldl
tests/gpu/idle_ways: tests/gpu/idle_ways.cu $(gpu_headers)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(gpu_nvcc) -o $@ $(srcdir)/tests/gpu/idle_ways.cu -lpthread
tests/gpu/counter_ways: tests/gpu/counters/counter_ways.cu
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(gpu_nvcc) -o $@ \
		$(srcdir)/tests/gpu/counters/counter_ways.cu
tests/gpu/energy_ways: tests/gpu/energy/energy_ways.cu $(gpu_headers)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(gpu_nvcc) -o $@ \
		$(srcdir)/tests/gpu/energy/energy_ways.cu -ldl -lpthread
tests/gpu/launch_loop: tests/gpu/launch_loop.cu $(gpu_headers)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(gpu_nvcc) -o $@ $(srcdir)/tests/gpu/launch_loop.cu
tests/gpu/launch_loop.so: tests/gpu/launch_loop.cu $(gpu_headers)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(gpu_nvcc) -Xcompiler -fPIC -shared -o $@ \
		$(srcdir)/tests/gpu/launch_loop.cu
tests/gpu/several_gpus: tests/gpu/several_gpus.cu $(gpu_headers)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(gpu_nvcc) -o $@ $(srcdir)/tests/gpu/several_gpus.cu \
		-lpthread
tests/gpu/bare_cupti.so: tests/gpu/bare_cupti.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 -O2 -g -Wall -Wextra -fPIC -shared \
		$(CUPTI_CPPFLAGS) -o $@ $(srcdir)/tests/gpu/bare_cupti.c -ldl -lpthread
tests/gpu/flowbox: $(gpu_flow) $(gpu_headers)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(gpu_nvcc) -o $@ $(gpu_flow:%=$(srcdir)/%)
tests/gpu/advice_ways: $(gpu_advice) $(gpu_headers)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(gpu_nvcc) -o $@ $(gpu_advice:%=$(srcdir)/%)

gpu-check: all gpu-workloads tests/gpu/cuda_calls
	top_builddir='$(abs_top_builddir)' srcdir='$(abs_top_srcdir)' $(SHELL) \
		$(srcdir)/tests/gpu/all.sh $(SECTIONS)
gpu-bench: all gpu-workloads
	top_builddir='$(abs_top_builddir)' $(SHELL) $(srcdir)/tests/gpu/bench.sh $(SECTIONS)
gpu-advice: all gpu-workloads
	top_builddir='$(abs_top_builddir)' $(SHELL) \
		$(srcdir)/tests/gpu/advice/advice.sh $(SECTIONS)
else
gpu-workloads gpu-check gpu-bench gpu-advice:
	@echo "$@: no nvcc here"; exit 1
endif
.PHONY: gpu-workloads gpu-check gpu-bench gpu-advice
