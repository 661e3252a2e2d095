# SPDX-License-Identifier: BSD-3-Clause
# Cubins: golden structures, three judges, damage.

check_PROGRAMS += tests/struct/judge_cupti
tests_struct_judge_cupti_SOURCES = tests/struct/judge_cupti.c
tests_struct_judge_cupti_LDADD = $(ELF_LIBS) -ldl

check_PROGRAMS += tests/struct/cubin_chains
tests_struct_cubin_chains_SOURCES = tests/struct/cubin_chains.c
tests_struct_cubin_chains_LDADD = $(STRUCT_LDADD)

if HAVE_DW
check_PROGRAMS += tests/struct/judge_cubin
tests_struct_judge_cubin_SOURCES = tests/struct/judge_cubin.c
tests_struct_judge_cubin_LDADD = $(DW_LIBS) $(ELF_LIBS)
endif
