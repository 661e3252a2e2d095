# SPDX-License-Identifier: BSD-3-Clause
# hpcprof-lite, by folder.

# Units and words of the model. Its other functions are in libhlprof: tests of sinks have their own.
noinst_LTLIBRARIES += libhlmodel.la
libhlmodel_la_SOURCES = hpcprof-lite/model/model_unit.c

# Everything but main() and the sinks: tests link it.
noinst_LTLIBRARIES += libhlprof.la
libhlprof_la_SOURCES =
libhlprof_la_LIBADD = libhlmodel.la libhlparts.la libhlbase.la -lm

# What reports show of the model.
noinst_LTLIBRARIES += libhlview.la
libhlview_la_SOURCES =
libhlview_la_LIBADD = libhlmodel.la

# The text, without the sinks that write files.
noinst_LTLIBRARIES += libhltext.la
libhltext_la_SOURCES = hpcprof-lite/sink/sink.h
libhltext_la_LIBADD = libhlview.la

# The sinks that write files.
noinst_LTLIBRARIES += libhlsink.la
libhlsink_la_SOURCES =
libhlsink_la_CPPFLAGS = $(AM_CPPFLAGS) $(OTF2_CPPFLAGS) $(SQLITE3_CPPFLAGS) $(Z_CPPFLAGS)
libhlsink_la_LIBADD = libhlparts.la libhlview.la $(OTF2_LIBS) $(SQLITE3_LIBS) $(Z_LIBS) -lm

# Comparisons. They call the functions of the model and of the text.
noinst_LTLIBRARIES += libhlcompare.la
libhlcompare_la_SOURCES =

# The machine code of the hottest functions, for the page.
noinst_LTLIBRARIES += libhlcode.la
libhlcode_la_SOURCES = \
	hpcprof-lite/code/code.c hpcprof-lite/code/code.h \
	hpcprof-lite/code/code_binary.c hpcprof-lite/code/code_binary.h \
	hpcprof-lite/code/code_hot.c hpcprof-lite/code/code_hot.h \
	hpcprof-lite/code/code_text.c hpcprof-lite/code/code_text.h \
	hpcprof-lite/code/code_tool.c hpcprof-lite/code/code_tool.h \
	hpcprof-lite/code/disassemble.h \
	hpcprof-lite/code/disassemble_tools.c \
	hpcprof-lite/code/disassemble_zydis.c
libhlcode_la_CPPFLAGS = $(AM_CPPFLAGS) $(ZYDIS_CPPFLAGS)
libhlcode_la_LIBADD = $(ZYDIS_LIBS)

bin_PROGRAMS += hpcprof-lite/hpcprof-lite
hpcprof_lite_hpcprof_lite_SOURCES = \
	hpcprof-lite/archive.c hpcprof-lite/archive.h \
	hpcprof-lite/compare_main.c hpcprof-lite/compare_main.h \
	hpcprof-lite/database.c hpcprof-lite/database.h \
	hpcprof-lite/hpcprof_arguments.h \
	hpcprof-lite/hpcprof_main.c \
	hpcprof-lite/hpcprof_options.c \
	hpcprof-lite/hpcprof_outputs.c hpcprof-lite/hpcprof_outputs.h \
	hpcprof-lite/live/live.c hpcprof-lite/live/live.h \
	hpcprof-lite/live/live_names.c hpcprof-lite/live/live_names.h \
	hpcprof-lite/live/live_prometheus.c hpcprof-lite/live/live_prometheus.h \
	hpcprof-lite/live/live_screen.c hpcprof-lite/live/live_screen.h \
	hpcprof-lite/live/live_tables.c hpcprof-lite/live/live_tables.h \
	hpcprof-lite/live/live_terminal.c hpcprof-lite/live/live_terminal.h \
	hpcprof-lite/live/live_window.c hpcprof-lite/live/live_window.h \
	hpcprof-lite/needed_structures.c hpcprof-lite/needed_structures.h \
	hpcprof-lite/sinks.c hpcprof-lite/sinks.h
hpcprof_lite_hpcprof_lite_CPPFLAGS = $(AM_CPPFLAGS) -DBINDIR='"$(bindir)"' \
	-DPKGLIBDIR='"$(pkglibdir)"'
hpcprof_lite_hpcprof_lite_LDADD = libhlcompare.la libhltext.la libhlsink.la libhlcode.la \
	libhlprof.la -lm

libhlprof_la_SOURCES += \
	hpcprof-lite/attribute/attribute.c hpcprof-lite/attribute/attribute.h \
	hpcprof-lite/attribute/attribute_contexts.c \
	hpcprof-lite/attribute/attribute_merge.c \
	hpcprof-lite/attribute/attribute_profiles.c \
	hpcprof-lite/attribute/attribute_steps.h \
	hpcprof-lite/attribute/attribute_instructions.c \
	hpcprof-lite/attribute/attribute_sum.c \
	hpcprof-lite/attribute/topics.c hpcprof-lite/attribute/topics.h \
	hpcprof-lite/attribute/activity/activity.c hpcprof-lite/attribute/activity/activity.h \
	hpcprof-lite/attribute/activity/activity_metrics.c \
	hpcprof-lite/attribute/activity/activity_metrics.h \
	hpcprof-lite/attribute/activity/activity_time.c \
	hpcprof-lite/attribute/activity/phases.c hpcprof-lite/attribute/activity/phases.h \
	hpcprof-lite/attribute/describe/child_processes.c \
	hpcprof-lite/attribute/describe/child_processes.h \
	hpcprof-lite/attribute/describe/describe.c hpcprof-lite/attribute/describe/describe.h \
	hpcprof-lite/attribute/describe/describe_metrics.c \
	hpcprof-lite/attribute/describe/describe_whole.c \
	hpcprof-lite/attribute/describe/ledger.c hpcprof-lite/attribute/describe/ledger.h \
	hpcprof-lite/attribute/describe/process_roles.c \
	hpcprof-lite/attribute/describe/process_roles.h \
	hpcprof-lite/attribute/describe/spawned_jobs.c \
	hpcprof-lite/attribute/describe/spawned_jobs.h \
	hpcprof-lite/attribute/expand/expand.c hpcprof-lite/attribute/expand/expand.h \
	hpcprof-lite/attribute/expand/expand_fold.c hpcprof-lite/attribute/expand/expand_fold.h \
	hpcprof-lite/attribute/expand/expand_gpu.c \
	hpcprof-lite/attribute/expand/expand_intern.c \
	hpcprof-lite/attribute/expand/expand_run.h \
	hpcprof-lite/attribute/expand/nvtx_tree.c hpcprof-lite/attribute/expand/nvtx_tree.h \
	hpcprof-lite/attribute/expand/omp_regions.c hpcprof-lite/attribute/expand/omp_regions.h \
	hpcprof-lite/attribute/expand/order.c hpcprof-lite/attribute/expand/order.h \
	hpcprof-lite/attribute/expand/share_contexts.c \
	hpcprof-lite/attribute/expand/share_contexts.h \
	hpcprof-lite/attribute/expand/torch_fold.c hpcprof-lite/attribute/expand/torch_fold.h \
	hpcprof-lite/attribute/expand/waits.c hpcprof-lite/attribute/expand/waits.h \
	hpcprof-lite/attribute/known/known_code.c hpcprof-lite/attribute/known/known_code.h \
	hpcprof-lite/attribute/known/known_runtime.c hpcprof-lite/attribute/known/known_runtime.h \
	hpcprof-lite/attribute/known/known_torch.c hpcprof-lite/attribute/known/known_torch.h \
	hpcprof-lite/attribute/known/known_waits.c hpcprof-lite/attribute/known/known_waits.h \
	hpcprof-lite/attribute/known/known_xla.c hpcprof-lite/attribute/known/known_xla.h \
	hpcprof-lite/attribute/merge/forward_paths.c hpcprof-lite/attribute/merge/forward_paths.h \
	hpcprof-lite/attribute/merge/jit_names.c hpcprof-lite/attribute/merge/jit_names.h \
	hpcprof-lite/attribute/merge/jit_split.c \
	hpcprof-lite/attribute/merge/merge.c hpcprof-lite/attribute/merge/merge.h \
	hpcprof-lite/attribute/merge/merge_modules.c hpcprof-lite/attribute/merge/merge_modules.h \
	hpcprof-lite/attribute/merge/nvtx_labels.c hpcprof-lite/attribute/merge/nvtx_labels.h \
	hpcprof-lite/attribute/merge/python_frames.c hpcprof-lite/attribute/merge/python_frames.h \
	hpcprof-lite/attribute/merge/share_trees.c hpcprof-lite/attribute/merge/share_trees.h \
	hpcprof-lite/attribute/merge/torch_modules.c hpcprof-lite/attribute/merge/torch_modules.h \
	hpcprof-lite/attribute/merge/wait_objects.c hpcprof-lite/attribute/merge/wait_objects.h \
	hpcprof-lite/attribute/sum/share_values.c hpcprof-lite/attribute/sum/share_values.h \
	hpcprof-lite/attribute/sum/sum.c hpcprof-lite/attribute/sum/sum.h \
	hpcprof-lite/attribute/sum/sum_profile.c \
	hpcprof-lite/attribute/sum/sum_run.h \
	hpcprof-lite/attribute/sum/totals.c hpcprof-lite/attribute/sum/totals.h \
	hpcprof-lite/attribute/topic/topic.h \
	hpcprof-lite/attribute/topic/topic_agree.c \
	hpcprof-lite/attribute/topic/topic_where.c \
	hpcprof-lite/attribute/gpu/gpu_attribute.c hpcprof-lite/attribute/gpu/gpu_attribute.h \
	hpcprof-lite/attribute/gpu/gpu_describe.c \
	hpcprof-lite/attribute/gpu/gpu_ledger.c hpcprof-lite/attribute/gpu/gpu_ledger.h \
	hpcprof-lite/attribute/gpu/gpu_share.c hpcprof-lite/attribute/gpu/gpu_share.h \
	hpcprof-lite/attribute/gpu/gpu_topic.c \
	hpcprof-lite/attribute/gpu/energy/gpu_energy.c \
	hpcprof-lite/attribute/gpu/energy/gpu_energy.h \
	hpcprof-lite/attribute/gpu/energy/gpu_energy_meters.c \
	hpcprof-lite/attribute/gpu/energy/gpu_energy_read.c \
	hpcprof-lite/attribute/gpu/energy/gpu_energy_share.c \
	hpcprof-lite/attribute/gpu/energy/gpu_energy_topic.c \
	hpcprof-lite/attribute/gpu/idle/gpu_idle.c hpcprof-lite/attribute/gpu/idle/gpu_idle.h \
	hpcprof-lite/attribute/gpu/idle/gpu_idle_account.c \
	hpcprof-lite/attribute/gpu/idle/gpu_idle_device.c \
	hpcprof-lite/attribute/gpu/idle/gpu_idle_queue.c \
	hpcprof-lite/attribute/gpu/idle/gpu_idle_sweep.c \
	hpcprof-lite/attribute/gpu/idle/gpu_idle_sweep.h \
	hpcprof-lite/attribute/gpu/idle/gpu_idle_thread.c \
	hpcprof-lite/attribute/gpu/idle/gpu_idle_topic.c \
	hpcprof-lite/attribute/gpu/join/gpu_clock.c hpcprof-lite/attribute/gpu/join/gpu_clock.h \
	hpcprof-lite/attribute/gpu/join/gpu_graph.c hpcprof-lite/attribute/gpu/join/gpu_graph.h \
	hpcprof-lite/attribute/gpu/join/gpu_join.c hpcprof-lite/attribute/gpu/join/gpu_join.h \
	hpcprof-lite/attribute/gpu/join/gpu_launches.c \
	hpcprof-lite/attribute/gpu/join/gpu_launches.h \
	hpcprof-lite/attribute/gpu/join/gpu_line.c hpcprof-lite/attribute/gpu/join/gpu_line.h \
	hpcprof-lite/attribute/gpu/join/gpu_memory.c \
	hpcprof-lite/attribute/gpu/join/gpu_memory.h \
	hpcprof-lite/attribute/gpu/gpu_memory_rows.c \
	hpcprof-lite/attribute/gpu/gpu_memory_rows.h \
	hpcprof-lite/attribute/gpu/join/gpu_ranges.c hpcprof-lite/attribute/gpu/join/gpu_ranges.h \
	hpcprof-lite/attribute/gpu/metrics/gpu_metrics.c \
	hpcprof-lite/attribute/gpu/metrics/gpu_metrics.h \
	hpcprof-lite/attribute/gpu/metrics/gpu_metrics_cell.c \
	hpcprof-lite/attribute/gpu/metrics/gpu_metrics_model.c \
	hpcprof-lite/attribute/gpu/metrics/gpu_metrics_table.c \
	hpcprof-lite/attribute/gpu/metrics/gpu_metrics_table.h \
	hpcprof-lite/attribute/gpu/metrics/gpu_occupancy.c \
	hpcprof-lite/attribute/gpu/metrics/gpu_occupancy.h \
	hpcprof-lite/attribute/gpu/metrics/gpu_stalls.c \
	hpcprof-lite/attribute/gpu/metrics/gpu_stalls.h \
	hpcprof-lite/attribute/gpu/samples/gpu_blame.c \
	hpcprof-lite/attribute/gpu/samples/gpu_blame.h \
	hpcprof-lite/attribute/gpu/samples/gpu_calls.c \
	hpcprof-lite/attribute/gpu/samples/gpu_calls.h \
	hpcprof-lite/attribute/gpu/samples/gpu_causes.c \
	hpcprof-lite/attribute/gpu/samples/gpu_causes.h \
	hpcprof-lite/attribute/gpu/samples/gpu_samples.c \
	hpcprof-lite/attribute/gpu/samples/gpu_samples.h \
	hpcprof-lite/attribute/gpu/samples/gpu_samples_blame.c \
	hpcprof-lite/attribute/gpu/samples/gpu_samples_code.c \
	hpcprof-lite/attribute/gpu/samples/gpu_samples_count.c \
	hpcprof-lite/attribute/gpu/samples/gpu_samples_gather.c \
	hpcprof-lite/attribute/gpu/samples/gpu_samples_measure.c \
	hpcprof-lite/attribute/gpu/samples/gpu_samples_run.h \
	hpcprof-lite/attribute/gpu/samples/gpu_samples_share.c \
	hpcprof-lite/attribute/gpu/samples/gpu_sampling.c \
	hpcprof-lite/attribute/gpu/samples/gpu_sampling.h \
	hpcprof-lite/attribute/gpu/samples/gpu_shares.c \
	hpcprof-lite/attribute/gpu/samples/gpu_shares.h \
	hpcprof-lite/attribute/gpu/samples/gpu_yardstick.c \
	hpcprof-lite/attribute/gpu/samples/gpu_yardstick.h \
	hpcprof-lite/attribute/mpi/mpi_arrivals.c hpcprof-lite/attribute/mpi/mpi_arrivals.h \
	hpcprof-lite/attribute/memory/memory_account.c \
	hpcprof-lite/attribute/memory/memory_attribute.c \
	hpcprof-lite/attribute/memory/memory_attribute.h \
	hpcprof-lite/attribute/mpi/mpi_attribute.c hpcprof-lite/attribute/mpi/mpi_attribute.h \
	hpcprof-lite/attribute/mpi/mpi_clocks.c hpcprof-lite/attribute/mpi/mpi_clocks.h \
	hpcprof-lite/attribute/mpi/mpi_waits.c hpcprof-lite/attribute/mpi/mpi_waits.h \
	hpcprof-lite/attribute/nccl/nccl_attribute.c hpcprof-lite/attribute/nccl/nccl_attribute.h \
	hpcprof-lite/attribute/nccl/nccl_match.c hpcprof-lite/attribute/nccl/nccl_match.h \
	hpcprof-lite/attribute/nccl/nccl_names.c hpcprof-lite/attribute/nccl/nccl_names.h \
	hpcprof-lite/attribute/nccl/nccl_times.c hpcprof-lite/attribute/nccl/nccl_times.h \
	hpcprof-lite/attribute/nvtx/nvtx_attribute.c hpcprof-lite/attribute/nvtx/nvtx_attribute.h \
	hpcprof-lite/attribute/nvtx/nvtx_events.c hpcprof-lite/attribute/nvtx/nvtx_events.h \
	hpcprof-lite/attribute/nvtx/nvtx_others.c hpcprof-lite/attribute/nvtx/nvtx_others.h \
	hpcprof-lite/attribute/nvtx/nvtx_topic.c

libhlcompare_la_SOURCES += \
	hpcprof-lite/compare/compare.c hpcprof-lite/compare/compare.h \
	hpcprof-lite/compare/compare_add.c hpcprof-lite/compare/compare_adding.h \
	hpcprof-lite/compare/compare_cell.c \
	hpcprof-lite/compare/compare_check.c hpcprof-lite/compare/compare_check.h \
	hpcprof-lite/compare/compare_condition.c hpcprof-lite/compare/compare_condition.h \
	hpcprof-lite/compare/compare_file.c hpcprof-lite/compare/compare_file.h \
	hpcprof-lite/compare/compare_functions.c \
	hpcprof-lite/compare/compare_junit.c \
	hpcprof-lite/compare/compare_markdown.c \
	hpcprof-lite/compare/compare_model.c hpcprof-lite/compare/compare_model.h \
	hpcprof-lite/compare/compare_names.c hpcprof-lite/compare/compare_names.h \
	hpcprof-lite/compare/compare_page.c hpcprof-lite/compare/compare_page.h \
	hpcprof-lite/compare/compare_renames.c hpcprof-lite/compare/compare_renames.h \
	hpcprof-lite/compare/compare_report.c hpcprof-lite/compare/compare_report.h \
	hpcprof-lite/compare/compare_row_name.c \
	hpcprof-lite/compare/compare_rows.c hpcprof-lite/compare/compare_rows.h \
	hpcprof-lite/compare/compare_settle.c \
	hpcprof-lite/compare/compare_text.c hpcprof-lite/compare/compare_text.h \
	hpcprof-lite/compare/compare_values.c hpcprof-lite/compare/compare_values.h

libhlprof_la_SOURCES += \
	hpcprof-lite/filter/filter.c hpcprof-lite/filter/filter.h \
	hpcprof-lite/filter/filter_choose.c \
	hpcprof-lite/filter/filter_metrics.c \
	hpcprof-lite/filter/filter_model.c \
	hpcprof-lite/filter/filter_options.c \
	hpcprof-lite/filter/filter_part.h \
	hpcprof-lite/filter/filter_queues.c \
	hpcprof-lite/filter/filter_recount.c \
	hpcprof-lite/filter/filter_text.c hpcprof-lite/filter/filter_text.h \
	hpcprof-lite/filter/filter_threads.c

# Apart from the others because of the flags
noinst_LTLIBRARIES += libhldata.la
libhldata_la_SOURCES = hpcprof-lite/load/data_symbols.c hpcprof-lite/load/data_symbols.h \
	hpcprof-lite/load/code_symbols.c hpcprof-lite/load/code_symbols.h \
	hpcprof-lite/load/elf_symbols.c hpcprof-lite/load/elf_symbols.h
libhldata_la_CPPFLAGS = $(AM_CPPFLAGS) $(IBERTY_CPPFLAGS)
libhldata_la_LIBADD = $(IBERTY_LIBS)
libhlprof_la_LIBADD += libhldata.la libhlview.la
libhlprof_la_SOURCES += \
	hpcprof-lite/load/binary.c \
	hpcprof-lite/load/load_check.c \
	hpcprof-lite/load/load_extents.c \
	hpcprof-lite/load/load_file.c hpcprof-lite/load/load_file.h \
	hpcprof-lite/load/load_gpu.c hpcprof-lite/load/load_gpu.h \
	hpcprof-lite/load/load_memory.c hpcprof-lite/load/load_memory.h \
	hpcprof-lite/load/load_mpi.c hpcprof-lite/load/load_mpi.h \
	hpcprof-lite/load/load_node.c \
	hpcprof-lite/load/load_phases.c hpcprof-lite/load/load_phases.h \
	hpcprof-lite/load/load_running.c hpcprof-lite/load/load_running.h \
	hpcprof-lite/load/load_nvtx.c hpcprof-lite/load/load_nvtx.h \
	hpcprof-lite/load/load_python.c \
	hpcprof-lite/load/load_records.c hpcprof-lite/load/load_records.h \
	hpcprof-lite/load/load_regions.c hpcprof-lite/load/load_regions.h \
	hpcprof-lite/load/load_waits.c hpcprof-lite/load/load_waits.h \
	hpcprof-lite/load/python_lines.c hpcprof-lite/load/python_lines.h \
	hpcprof-lite/load/structures.c hpcprof-lite/load/structures.h \
	hpcprof-lite/load/jit/jit_dump.c \
	hpcprof-lite/load/jit/jit_files.c \
	hpcprof-lite/load/jit/load_jit.c hpcprof-lite/load/jit/load_jit.h \
	hpcprof-lite/load/job/load_devices.c hpcprof-lite/load/job/load_devices.h \
	hpcprof-lite/load/job/load_job.c hpcprof-lite/load/job/load_job.h \
	hpcprof-lite/load/job/load_list.c hpcprof-lite/load/job/load_list.h \
	hpcprof-lite/load/job/load_opening.h \
	hpcprof-lite/load/job/load_outline.c hpcprof-lite/load/job/load_outline.h \
	hpcprof-lite/load/job/load_ranks.c hpcprof-lite/load/job/load_ranks.h \
	hpcprof-lite/load/job/load_share.c \
	hpcprof-lite/load/job/load_split.c hpcprof-lite/load/job/load_split.h \
	hpcprof-lite/model/model.c hpcprof-lite/model/model.h \
	hpcprof-lite/model/model_activity.h \
	hpcprof-lite/model/model_code.h \
	hpcprof-lite/model/model_energy.h \
	hpcprof-lite/model/model_gpu.h \
	hpcprof-lite/model/model_gpu_memory.h \
	hpcprof-lite/model/model_hash.c hpcprof-lite/model/model_hash.h \
	hpcprof-lite/model/model_metric.h \
	hpcprof-lite/model/model_memory.h \
	hpcprof-lite/model/model_mpi.h \
	hpcprof-lite/model/model_nccl.h \
	hpcprof-lite/model/model_nvtx.h \
	hpcprof-lite/model/model_omp.h \
	hpcprof-lite/model/model_phase.h \
	hpcprof-lite/model/model_process.h \
	hpcprof-lite/model/model_share.h \
	hpcprof-lite/model/model_values.c hpcprof-lite/model/model_values.h \
	hpcprof-lite/model/private.h

# Parts of hpcprof-lite that share one job. The module alone is linked with MPI.
noinst_LTLIBRARIES += libhlparts.la
libhlparts_la_SOURCES = \
	hpcprof-lite/parts/comm.c hpcprof-lite/parts/comm.h \
	hpcprof-lite/parts/comm_module.h \
	hpcprof-lite/parts/share_records.c hpcprof-lite/parts/share_records.h \
	hpcprof-lite/parts/start_guard.c hpcprof-lite/parts/start_guard.h
hpcprof_lite_hpcprof_lite_SOURCES += \
	hpcprof-lite/parts/comm_mpi.c hpcprof-lite/parts/comm_mpi.h \
	hpcprof-lite/parts/parent.c hpcprof-lite/parts/parent.h

if HAVE_MPI_LIB
pkglib_LTLIBRARIES += hpcprof-lite-mpi.la
hpcprof_lite_mpi_la_SOURCES = hpcprof-lite/parts/comm_module.c hpcprof-lite/parts/comm_module.h
hpcprof_lite_mpi_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
hpcprof_lite_mpi_la_CFLAGS = $(HL_CFLAGS) -fvisibility=hidden
hpcprof_lite_mpi_la_LDFLAGS = -module -avoid-version -shared
hpcprof_lite_mpi_la_LIBADD = $(MPI_LIBS)
endif

# The model as records with tables of fields, for the exports of everything.
libhlview_la_SOURCES += \
	hpcprof-lite/record/record.c hpcprof-lite/record/record.h \
	hpcprof-lite/record/record_build.h \
	hpcprof-lite/record/record_balance.c \
	hpcprof-lite/record/record_code.c \
	hpcprof-lite/record/record_gpu.c \
	hpcprof-lite/record/record_ledger.c hpcprof-lite/record/record_ledger.h \
	hpcprof-lite/record/record_memory.c \
	hpcprof-lite/record/record_mpi.c \
	hpcprof-lite/record/record_mpi_tables.c \
	hpcprof-lite/record/record_nvtx.c \
	hpcprof-lite/record/record_findings.c \
	hpcprof-lite/record/record_parallel.c \
	hpcprof-lite/record/record_process.c \
	hpcprof-lite/record/record_profile.c \
	hpcprof-lite/record/record_sampling.c hpcprof-lite/record/sampling_facts.h \
	hpcprof-lite/record/words.c hpcprof-lite/record/words.h

# What the sinks share, and call paths for flame graphs.
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/folded.c hpcprof-lite/sink/folded_sink.h \
	hpcprof-lite/sink/outfile.c hpcprof-lite/sink/outfile.h \
	hpcprof-lite/sink/progress.h \
	hpcprof-lite/sink/protobuf.c hpcprof-lite/sink/protobuf.h \
	hpcprof-lite/sink/sink.h \
	hpcprof-lite/sink/source_find.c hpcprof-lite/sink/source_find.h \
	hpcprof-lite/sink/unread.h \
	hpcprof-lite/sink/cctdb/cctdb.c hpcprof-lite/sink/cctdb/cctdb.h \
	hpcprof-lite/sink/cctdb/cctdb_cct.c \
	hpcprof-lite/sink/cctdb/cctdb_format.c hpcprof-lite/sink/cctdb/cctdb_format.h \
	hpcprof-lite/sink/cctdb/cctdb_identity.c \
	hpcprof-lite/sink/cctdb/cctdb_meta.c \
	hpcprof-lite/sink/cctdb/cctdb_plan.c hpcprof-lite/sink/cctdb/cctdb_plan.h \
	hpcprof-lite/sink/cctdb/cctdb_profile.c \
	hpcprof-lite/sink/cctdb/cctdb_sink.h \
	hpcprof-lite/sink/cctdb/cctdb_share.c hpcprof-lite/sink/cctdb/cctdb_share.h \
	hpcprof-lite/sink/cctdb/cctdb_source.c \
	hpcprof-lite/sink/cctdb/cctdb_statistics.c hpcprof-lite/sink/cctdb/cctdb_statistics.h \
	hpcprof-lite/sink/cctdb/cctdb_trace.c \
	hpcprof-lite/sink/cctdb/cctdb_yaml.c

# The page is part of the program: embed.sh makes C source of the files of page/.
html_scripts = data.js model.js state.js states.js frames.js labels.js flame_nodes.js \
	flame_paint.js flame_input.js flame_controls.js flame.js compare_noise.js table.js \
	tables.js timeline_intervals.js timeline_rows.js timeline_states.js timeline_lanes.js \
	timeline_paint.js timeline_find.js timeline_stack.js timeline_input.js timeline.js \
	blame.js advice.js findings.js counters.js kernels.js kernel_table.js kernel_card.js \
	kernel_idle.js source.js source_code.js threads.js waiting.js mpi.js nccl.js nvtx.js \
	overview.js compare.js search.js svg.js help.js metrics.js app.js
html_page = hpcprof-lite/sink/html/page/head.html hpcprof-lite/sink/html/page/body.html \
	hpcprof-lite/sink/html/page/style.css \
	$(html_scripts:%=hpcprof-lite/sink/html/page/%)
EXTRA_DIST += hpcprof-lite/sink/html/embed.sh $(html_page)

hpcprof-lite/sink/html/html_page.c: $(html_page) hpcprof-lite/sink/html/embed.sh
	$(AM_V_GEN)$(MKDIR_P) hpcprof-lite/sink/html && \
	$(SHELL) $(srcdir)/hpcprof-lite/sink/html/embed.sh \
		$(srcdir)/hpcprof-lite/sink/html/page $(html_scripts) >$@.tmp && mv $@.tmp $@
CLEANFILES += hpcprof-lite/sink/html/html_page.c

libhlsink_la_SOURCES += \
	hpcprof-lite/sink/html/html.c hpcprof-lite/sink/html/html.h \
	hpcprof-lite/sink/html/html_advice.c \
	hpcprof-lite/sink/html/html_blame.c \
	hpcprof-lite/sink/html/html_code.c \
	hpcprof-lite/sink/html/html_comparison.c \
	hpcprof-lite/sink/html/html_contexts.c \
	hpcprof-lite/sink/html/html_counters.c \
	hpcprof-lite/sink/html/html_findings.c \
	hpcprof-lite/sink/html/html_meta.c \
	hpcprof-lite/sink/html/html_mpi.c \
	hpcprof-lite/sink/html/html_nccl.c \
	hpcprof-lite/sink/html/html_nvtx.c \
	hpcprof-lite/sink/html/html_memory.c \
	hpcprof-lite/sink/html/html_power.c \
	hpcprof-lite/sink/html/html_pack.c hpcprof-lite/sink/html/html_pack.h \
	hpcprof-lite/sink/html/html_parts.c hpcprof-lite/sink/html/html_parts.h \
	hpcprof-lite/sink/html/html_reduce.c hpcprof-lite/sink/html/html_reduce.h \
	hpcprof-lite/sink/html/html_section.c hpcprof-lite/sink/html/html_section.h \
	hpcprof-lite/sink/html/html_sink.h \
	hpcprof-lite/sink/html/html_source.c \
	hpcprof-lite/sink/html/html_times.c \
	hpcprof-lite/sink/html/html_values.c \
	hpcprof-lite/sink/html/html_waiting.c
nodist_libhlsink_la_SOURCES = hpcprof-lite/sink/html/html_page.c

EXTRA_DIST += hpcprof-lite/sink/json/advice.schema.json
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/json/brief.c hpcprof-lite/sink/json/brief_sink.h \
	hpcprof-lite/sink/json/json.c hpcprof-lite/sink/json/json.h \
	hpcprof-lite/sink/json/json_advice.c \
	hpcprof-lite/sink/json/json_counters.c \
	hpcprof-lite/sink/json/json_records.c \
	hpcprof-lite/sink/json/json_sink.h \
	hpcprof-lite/sink/json/json_write.c hpcprof-lite/sink/json/json_write.h

# The tree of calls of a time line is tested without OTF2.
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/otf2/otf2_sink.h \
	hpcprof-lite/sink/otf2/otf2_tree.c hpcprof-lite/sink/otf2/otf2_tree.h

if HAVE_OTF2
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/otf2/otf2.c hpcprof-lite/sink/otf2/otf2.h \
	hpcprof-lite/sink/otf2/otf2_define.c \
	hpcprof-lite/sink/otf2/otf2_defs.c \
	hpcprof-lite/sink/otf2/otf2_energy.c \
	hpcprof-lite/sink/otf2/otf2_error.c \
	hpcprof-lite/sink/otf2/otf2_events.c \
	hpcprof-lite/sink/otf2/otf2_gpu.c \
	hpcprof-lite/sink/otf2/otf2_gpu_defs.c \
	hpcprof-lite/sink/otf2/otf2_ledgers.c hpcprof-lite/sink/otf2/otf2_nvtx.c
endif

libhlsink_la_SOURCES += \
	hpcprof-lite/sink/perfetto/perfetto.c hpcprof-lite/sink/perfetto/perfetto.h \
	hpcprof-lite/sink/perfetto/perfetto_energy.c \
	hpcprof-lite/sink/perfetto/perfetto_fields.h \
	hpcprof-lite/sink/perfetto/perfetto_gpu.c \
	hpcprof-lite/sink/perfetto/perfetto_intern.c hpcprof-lite/sink/perfetto/perfetto_nvtx.c \
	hpcprof-lite/sink/perfetto/perfetto_out.c hpcprof-lite/sink/perfetto/perfetto_out.h \
	hpcprof-lite/sink/perfetto/perfetto_packet.c hpcprof-lite/sink/perfetto/perfetto_samples.c \
	hpcprof-lite/sink/perfetto/perfetto_sink.h \
	hpcprof-lite/sink/perfetto/perfetto_tracks.c \
	hpcprof-lite/sink/pprof/pprof.c hpcprof-lite/sink/pprof/pprof_sink.h \
	hpcprof-lite/sink/pprof/pprof_file.c hpcprof-lite/sink/pprof/pprof_file.h \
	hpcprof-lite/sink/pprof/pprof_places.c hpcprof-lite/sink/pprof/pprof_places.h

if HAVE_SQLITE3
libhlsink_la_SOURCES += \
	hpcprof-lite/sink/sqlite/sqlite.c hpcprof-lite/sink/sqlite/sqlite_sink.h \
	hpcprof-lite/sink/sqlite/sqlite_records.c \
	hpcprof-lite/sink/sqlite/sqlite_views.c \
	hpcprof-lite/sink/sqlite/sqlite_write.c hpcprof-lite/sink/sqlite/sqlite_write.h
endif

libhltext_la_SOURCES += \
	hpcprof-lite/sink/text/text_all.c hpcprof-lite/sink/text/text_all.h \
	hpcprof-lite/sink/text/text_all_words.c \
	hpcprof-lite/sink/text/text_balance.c \
	hpcprof-lite/sink/text/text_evidence.c hpcprof-lite/sink/text/text_evidence.h \
	hpcprof-lite/sink/text/text_findings.c \
	hpcprof-lite/sink/text/text_flat.c \
	hpcprof-lite/sink/text/text_gpu.c hpcprof-lite/sink/text/text_gpu.h \
	hpcprof-lite/sink/text/text_gpu_idle.c \
	hpcprof-lite/sink/text/text_gpu_memory.c \
	hpcprof-lite/sink/text/text_gpu_report.c \
	hpcprof-lite/sink/text/text_gpu_blame.c \
	hpcprof-lite/sink/text/text_gpu_samples.c \
	hpcprof-lite/sink/text/text_ledger.c \
	hpcprof-lite/sink/text/text_lines.c hpcprof-lite/sink/text/text_lines.h \
	hpcprof-lite/sink/text/text_options.c hpcprof-lite/sink/text/text_options.h \
	hpcprof-lite/sink/text/text_print.c hpcprof-lite/sink/text/text_print.h \
	hpcprof-lite/sink/text/text_report.c hpcprof-lite/sink/text/text_report.h \
	hpcprof-lite/sink/text/text_sampling.c hpcprof-lite/sink/text/text_sampling.h \
	hpcprof-lite/sink/text/text_sink.c hpcprof-lite/sink/text/text_sink.h \
	hpcprof-lite/sink/text/text_style.c hpcprof-lite/sink/text/text_style.h \
	hpcprof-lite/sink/text/text_tree.c hpcprof-lite/sink/text/text_tree.h \
	hpcprof-lite/sink/text/text_tree_rows.c

libhltext_la_SOURCES += hpcprof-lite/sink/text/text_counters.c

libhltext_la_SOURCES += hpcprof-lite/sink/text/text_energy.c

libhltext_la_SOURCES += hpcprof-lite/sink/text/text_advice.c

libhltext_la_SOURCES += hpcprof-lite/sink/text/text_memory.c hpcprof-lite/sink/text/text_mpi.c

libhltext_la_SOURCES += hpcprof-lite/sink/text/text_nccl.c

libhltext_la_SOURCES += hpcprof-lite/sink/text/text_nvtx.c

libhltext_la_SOURCES += \
	hpcprof-lite/sink/text/text_pop.c \
	hpcprof-lite/sink/text/text_processors.c \
	hpcprof-lite/sink/text/text_ranks.c \
	hpcprof-lite/sink/text/text_regions.c

# What every report needs of the model, so that no sink computes it.
libhlview_la_SOURCES += \
	hpcprof-lite/view/names.c hpcprof-lite/view/names.h \
	hpcprof-lite/view/parallel/view_balance.c hpcprof-lite/view/parallel/view_balance.h \
	hpcprof-lite/view/view_blame.c hpcprof-lite/view/view_blame.h \
	hpcprof-lite/view/view_calls.c hpcprof-lite/view/view_calls.h \
	hpcprof-lite/view/view_energy.c hpcprof-lite/view/view_energy.h \
	hpcprof-lite/view/view_fold.c hpcprof-lite/view/view_fold.h \
	hpcprof-lite/view/view_start.c hpcprof-lite/view/view_start.h \
	hpcprof-lite/view/view_gpu.c hpcprof-lite/view/view_gpu.h \
	hpcprof-lite/view/view_gpu_idle.c hpcprof-lite/view/view_gpu_idle.h \
	hpcprof-lite/view/view_hot.c hpcprof-lite/view/view_hot.h \
	hpcprof-lite/view/view_launch.c hpcprof-lite/view/view_launch.h \
	hpcprof-lite/view/view_memory.c hpcprof-lite/view/view_memory.h \
	hpcprof-lite/view/view_mpi.c hpcprof-lite/view/view_mpi.h \
	hpcprof-lite/view/view_mpi_open.c hpcprof-lite/view/view_mpi_open.h \
	hpcprof-lite/view/view_nccl.c hpcprof-lite/view/view_nccl.h \
	hpcprof-lite/view/view_run.c hpcprof-lite/view/view_run.h \
	hpcprof-lite/view/view_table.c hpcprof-lite/view/view_table.h \
	hpcprof-lite/view/view_tree.c hpcprof-lite/view/view_tree.h \
	hpcprof-lite/view/view_values.c hpcprof-lite/view/view_values.h \
	hpcprof-lite/view/view_waits.c hpcprof-lite/view/view_waits.h \
	hpcprof-lite/view/counters/view_counters.c hpcprof-lite/view/counters/view_counters.h \
	hpcprof-lite/view/counters/view_roofs.c hpcprof-lite/view/counters/view_roofs.h \
	hpcprof-lite/view/advice/advice_devices.c \
	hpcprof-lite/view/advice/advice_estimate.c hpcprof-lite/view/advice/advice_estimate.h \
	hpcprof-lite/view/advice/advice_causes.c hpcprof-lite/view/advice/advice_causes.h \
	hpcprof-lite/view/advice/advice_facts.c hpcprof-lite/view/advice/advice_facts.h \
	hpcprof-lite/view/advice/advice_kernels.c \
	hpcprof-lite/view/advice/advice_rates.c hpcprof-lite/view/advice/advice_rates.h \
	hpcprof-lite/view/advice/advice_rule.h \
	hpcprof-lite/view/advice/advice_shapes.c \
	hpcprof-lite/view/advice/view_advice.c hpcprof-lite/view/advice/view_advice.h \
	hpcprof-lite/view/findings/finding_places.c \
	hpcprof-lite/view/findings/finding_run.c hpcprof-lite/view/findings/finding_run.h \
	hpcprof-lite/view/view_evidence.h \
	hpcprof-lite/view/findings/findings.c hpcprof-lite/view/findings/findings.h \
	hpcprof-lite/view/findings/rule_balance.c \
	hpcprof-lite/view/findings/rule_files.c \
	hpcprof-lite/view/findings/rule_gpu.c \
	hpcprof-lite/view/findings/rule_locks.c \
	hpcprof-lite/view/findings/rule_measurement.c \
	hpcprof-lite/view/findings/rule_memory.c \
	hpcprof-lite/view/findings/rule_messages.c \
	hpcprof-lite/view/findings/rule_names.c \
	hpcprof-lite/view/findings/rule_open_calls.c \
	hpcprof-lite/view/findings/rule_processors.c \
	hpcprof-lite/view/findings/rule_ranks.c \
	hpcprof-lite/view/findings/rule_stragglers.c \
	hpcprof-lite/view/findings/rule_regions.c \
	hpcprof-lite/view/findings/rule_serial.c \
	hpcprof-lite/view/findings/rule_startup.c \
	hpcprof-lite/view/findings/rule_threads.c \
	hpcprof-lite/view/findings/rule_waits.c \
	hpcprof-lite/view/parallel/view_pop.c hpcprof-lite/view/parallel/view_pop.h \
	hpcprof-lite/view/parallel/view_pop_internal.h \
	hpcprof-lite/view/parallel/view_pop_lines.c \
	hpcprof-lite/view/parallel/view_pop_ranks.c \
	hpcprof-lite/view/parallel/view_pop_transfer.c \
	hpcprof-lite/view/parallel/view_processors.c \
	hpcprof-lite/view/parallel/view_processors.h \
	hpcprof-lite/view/parallel/view_quota.c hpcprof-lite/view/parallel/view_quota.h \
	hpcprof-lite/view/parallel/view_ranks.c hpcprof-lite/view/parallel/view_ranks.h \
	hpcprof-lite/view/parallel/view_region_contexts.c \
	hpcprof-lite/view/parallel/view_regions.c hpcprof-lite/view/parallel/view_regions.h \
	hpcprof-lite/view/parallel/view_regions_internal.h
