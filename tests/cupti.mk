# SPDX-License-Identifier: BSD-3-Clause
# The NVIDIA back end: before a fake CUPTI, and with CUDA workloads on a driver that does not exist.
# tests/gpu/trace.sh runs the same workloads on a GPU.

if HAVE_CUPTI
if HAVE_CMOCKA
# The back end as the unit tests need it: built once for all of them, with a checker of memory if
# there is one.
check_LTLIBRARIES += libhlcuptitests.la
libhlcuptitests_la_SOURCES = $(cupti_sources)
libhlcuptitests_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
cupti_libs = libhlcuptitests.la libhlsafe.la $(CMOCKA_LIBS) -ldl -lpthread
fake_cupti_trace = tests/unit/cupti/fake_cupti_trace.c tests/unit/cupti/fake_cupti_trace.h
check_PROGRAMS += tests/unit/cupti/test_cupti tests/unit/cupti/test_cupti_record \
	tests/unit/cupti/test_cupti_switch
TESTS += tests/unit/cupti/test_cupti tests/unit/cupti/test_cupti_record \
	tests/unit/cupti/test_cupti_switch
tests_unit_cupti_test_cupti_SOURCES = tests/unit/cupti/test_cupti.c $(fake_cupti_trace)
tests_unit_cupti_test_cupti_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_unit_cupti_test_cupti_LDADD = $(cupti_libs)
tests_unit_cupti_test_cupti_record_SOURCES = tests/unit/cupti/test_cupti_record.c \
	$(fake_cupti_trace)
tests_unit_cupti_test_cupti_record_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_unit_cupti_test_cupti_record_LDADD = $(cupti_libs)
tests_unit_cupti_test_cupti_switch_SOURCES = tests/unit/cupti/test_cupti_switch.c \
	$(fake_cupti_trace)
tests_unit_cupti_test_cupti_switch_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_unit_cupti_test_cupti_switch_LDADD = $(cupti_libs)
check_PROGRAMS += tests/unit/cupti/test_cupti_cut
TESTS += tests/unit/cupti/test_cupti_cut
tests_unit_cupti_test_cupti_cut_SOURCES = tests/unit/cupti/test_cupti_cut.c \
	$(fake_cupti_trace)
tests_unit_cupti_test_cupti_cut_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_unit_cupti_test_cupti_cut_LDADD = $(cupti_libs)
check_PROGRAMS += tests/unit/cupti/test_energy
TESTS += tests/unit/cupti/test_energy
tests_unit_cupti_test_energy_SOURCES = tests/unit/cupti/test_energy.c \
	hpcrun-lite/gpu/cupti/energy/nv_meter.c hpcrun-lite/gpu/cupti/energy/nv_meter.h \
	hpcrun-lite/gpu/cupti/energy/nv_rapl.c hpcrun-lite/gpu/cupti/energy/nv_rapl.h
tests_unit_cupti_test_energy_LDADD = libhlsafe.la $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/cupti/test_rights
TESTS += tests/unit/cupti/test_rights
tests_unit_cupti_test_rights_SOURCES = tests/unit/cupti/test_rights.c \
	hpcrun-lite/gpu/cupti/enter/nv_rights.c hpcrun-lite/gpu/cupti/enter/nv_rights.h
tests_unit_cupti_test_rights_LDADD = libhlsafe.la $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/cupti/test_counters
TESTS += tests/unit/cupti/test_counters
tests_unit_cupti_test_counters_SOURCES = tests/unit/cupti/test_counters.c \
	hpcrun-lite/gpu/cupti/nv_options.c hpcrun-lite/gpu/cupti/nv_options.h \
	hpcrun-lite/gpu/cupti/nv_counter_list.c \
	hpcrun-lite/gpu/cupti/nv_counter_list.h
tests_unit_cupti_test_counters_LDADD = libhlsafe.la $(CMOCKA_LIBS)
fake_cupti_pc = tests/unit/cupti/fake_cupti_pc.c tests/unit/cupti/fake_cupti_pc.h
check_PROGRAMS += tests/unit/cupti/test_cupti_pc tests/unit/cupti/test_cupti_pc_gate
TESTS += tests/unit/cupti/test_cupti_pc tests/unit/cupti/test_cupti_pc_gate
tests_unit_cupti_test_cupti_pc_gate_SOURCES = tests/unit/cupti/test_cupti_pc_gate.c \
	$(fake_cupti_pc)
tests_unit_cupti_test_cupti_pc_gate_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_unit_cupti_test_cupti_pc_gate_LDADD = $(cupti_libs)
tests_unit_cupti_test_cupti_pc_SOURCES = tests/unit/cupti/test_cupti_pc.c $(fake_cupti_pc)
tests_unit_cupti_test_cupti_pc_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_unit_cupti_test_cupti_pc_LDADD = $(cupti_libs)
endif

check_PROGRAMS += tests/gpu/cuda_calls
tests_gpu_cuda_calls_SOURCES = tests/gpu/cuda_calls.c tests/gpu/cuda_work.c tests/gpu/cuda_work.h
tests_gpu_cuda_calls_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_gpu_cuda_calls_CFLAGS = $(HL_CFLAGS) -O2 -g
tests_gpu_cuda_calls_LDFLAGS =
tests_gpu_cuda_calls_LDADD = -ldl -lpthread
check_PROGRAMS += tests/gpu/yield/cuda_yield
tests_gpu_yield_cuda_yield_SOURCES = tests/gpu/yield/cuda_yield.c \
	tests/gpu/cuda_work.c tests/gpu/cuda_work.h
tests_gpu_yield_cuda_yield_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_gpu_yield_cuda_yield_CFLAGS = $(HL_CFLAGS) -O2 -g
tests_gpu_yield_cuda_yield_LDFLAGS =
tests_gpu_yield_cuda_yield_LDADD = libhpctoolkit.la -ldl -lpthread
check_PROGRAMS += tests/gpu/yield/cupti_samples
tests_gpu_yield_cupti_samples_SOURCES = tests/gpu/yield/cupti_samples.c \
	tests/gpu/cuda_work.c tests/gpu/cuda_work.h
tests_gpu_yield_cupti_samples_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_gpu_yield_cupti_samples_CFLAGS = $(HL_CFLAGS) -O2 -g
tests_gpu_yield_cupti_samples_LDFLAGS =
tests_gpu_yield_cupti_samples_LDADD = -ldl -lpthread
check_PROGRAMS += tests/gpu/cuda_several
tests_gpu_cuda_several_SOURCES = tests/gpu/cuda_several.c tests/gpu/several_ways.h \
	tests/gpu/cuda_work.c tests/gpu/cuda_work.h
tests_gpu_cuda_several_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_gpu_cuda_several_CFLAGS = $(HL_CFLAGS) -O2 -g
tests_gpu_cuda_several_LDFLAGS =
tests_gpu_cuda_several_LDADD = -ldl -lpthread
check_PROGRAMS += tests/gpu/cuda_stop
tests_gpu_cuda_stop_SOURCES = tests/gpu/cuda_stop.c tests/workload/run/control.h \
	tests/gpu/cuda_work.c tests/gpu/cuda_work.h
tests_gpu_cuda_stop_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_gpu_cuda_stop_CFLAGS = $(HL_CFLAGS) -O2 -g
tests_gpu_cuda_stop_LDFLAGS =
tests_gpu_cuda_stop_LDADD = libhpctoolkit.la -ldl -lpthread
check_LTLIBRARIES += tests/gpu/yield/injected.la
tests_gpu_yield_injected_la_SOURCES = tests/gpu/yield/injected.c
tests_gpu_yield_injected_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_gpu_yield_injected_la_CFLAGS = $(HL_CFLAGS)
tests_gpu_yield_injected_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_gpu_yield_injected_la_LIBADD = -ldl
check_LTLIBRARIES += tests/gpu/fake/fake_cuda.la
tests_gpu_fake_fake_cuda_la_SOURCES = tests/gpu/fake/fake_cuda.c tests/gpu/fake/fake_cuda.h \
	tests/gpu/fake/fake_counters.c tests/gpu/fake/fake_cupti.c \
	tests/gpu/fake/fake_device.c tests/gpu/fake/fake_memory.c \
	tests/gpu/fake/fake_nvml.c tests/gpu/fake/fake_pc.c
tests_gpu_fake_fake_cuda_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_gpu_fake_fake_cuda_la_CFLAGS = $(HL_CFLAGS)
tests_gpu_fake_fake_cuda_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_gpu_fake_fake_cuda_la_LIBADD = -ldl -lpthread
check_LTLIBRARIES += tests/gpu/fake/fake_cuda12.la
tests_gpu_fake_fake_cuda12_la_SOURCES = tests/gpu/fake/fake_cuda.c tests/gpu/fake/fake_cuda.h \
	tests/gpu/fake/fake_cupti.c tests/gpu/fake/fake_device.c tests/gpu/fake/fake_memory.c \
	tests/gpu/fake/fake_nvml.c tests/gpu/fake/fake_pc.c
tests_gpu_fake_fake_cuda12_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS) -DFAKE_CUPTI_12
tests_gpu_fake_fake_cuda12_la_CFLAGS = $(HL_CFLAGS)
tests_gpu_fake_fake_cuda12_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_gpu_fake_fake_cuda12_la_LIBADD = -ldl -lpthread
endif
EXTRA_DIST += tests/gpu/cuda_stop.c tests/gpu/yield/cuda_yield.c \
	tests/gpu/yield/cupti_samples.c tests/gpu/yield/injected.c tests/gpu/yield/yield.sh \
	tests/gpu/cuda_calls.c tests/gpu/cuda_several.c \
	tests/gpu/cuda_work.c tests/gpu/cuda_work.h tests/gpu/fake/fake_cuda.c \
	tests/gpu/fake/fake_cuda.h tests/gpu/fake/fake_cupti.c tests/gpu/fake/fake.sh \
	tests/gpu/fake/fake_device.c tests/gpu/fake/fake_memory.c tests/gpu/fake/fake_nvml.c \
	tests/gpu/fake/fake_counters.c tests/gpu/fake/fake_pc.c \
	tests/gpu/trace.sh tests/gpu/truth.sh tests/gpu/ways.sh

cupti_tests = tests/cli/gpu/cupti_trace.sh tests/cli/gpu/cupti_12.sh \
	tests/cli/gpu/cupti_pc.sh \
	tests/cli/gpu/counters.sh tests/cli/gpu/energy.sh \
	tests/cli/gpu/cupti_known.sh tests/cli/gpu/cupti_parts.sh tests/cli/gpu/cupti_yield.sh \
	tests/cli/gpu/cupti_several.sh tests/cli/gpu/control_gpu.sh \
	tests/cli/struct/struct_cut.sh
TESTS += $(cupti_tests)
EXTRA_DIST += $(cupti_tests)
