# SPDX-License-Identifier: BSD-3-Clause
# Memory orders: a model checker, and small programs that call the shipped code. The compiler's
# instrumentation calls the checker. Nothing is linked with -fsanitize=thread, which would bring in
# libtsan, and no other sanitizer is in these programs.

check_LTLIBRARIES += tests/order/liborder.la
tests_order_liborder_la_SOURCES = tests/order/order_hooks.c tests/order/order_model.c \
	tests/order/order_run.c tests/order/order.h tests/order/order_internal.h \
	tests/order/order_names.h
tests_order_liborder_la_CFLAGS = $(HL_CFLAGS)
tests_order_liborder_la_LDFLAGS =
ORDER_CPPFLAGS = $(AM_CPPFLAGS) -fsanitize=thread -include $(top_srcdir)/tests/order/order_names.h
order_tests = tests/order/test_order_cct \
	tests/order/test_order_find \
	tests/order/test_order_index \
	tests/order/test_order_litmus \
	tests/order/test_order_nursery \
	tests/order/test_order_memory \
	tests/order/test_order_recipe \
	tests/order/test_order_store \
	tests/order/test_order_torch \
	tests/order/test_order_unload
check_PROGRAMS += $(order_tests)
TESTS += $(order_tests)
tests_order_test_order_cct_SOURCES = tests/order/test_order_cct.c
tests_order_test_order_cct_CPPFLAGS = $(ORDER_CPPFLAGS)
tests_order_test_order_cct_CFLAGS = $(HL_CFLAGS)
tests_order_test_order_cct_LDFLAGS =
tests_order_test_order_cct_LDADD = tests/order/liborder.la
tests_order_test_order_find_SOURCES = tests/order/test_order_find.c
tests_order_test_order_find_CPPFLAGS = $(ORDER_CPPFLAGS)
tests_order_test_order_find_CFLAGS = $(HL_CFLAGS)
tests_order_test_order_find_LDFLAGS =
tests_order_test_order_find_LDADD = tests/order/liborder.la
tests_order_test_order_index_SOURCES = tests/order/test_order_index.c
tests_order_test_order_index_CPPFLAGS = $(ORDER_CPPFLAGS)
tests_order_test_order_index_CFLAGS = $(HL_CFLAGS)
tests_order_test_order_index_LDFLAGS =
tests_order_test_order_index_LDADD = tests/order/liborder.la
tests_order_test_order_litmus_SOURCES = tests/order/test_order_litmus.c
tests_order_test_order_litmus_CPPFLAGS = $(ORDER_CPPFLAGS)
tests_order_test_order_litmus_CFLAGS = $(HL_CFLAGS)
tests_order_test_order_litmus_LDFLAGS =
tests_order_test_order_litmus_LDADD = tests/order/liborder.la
tests_order_test_order_nursery_SOURCES = tests/order/test_order_nursery.c
tests_order_test_order_nursery_CPPFLAGS = $(ORDER_CPPFLAGS)
tests_order_test_order_nursery_CFLAGS = $(HL_CFLAGS)
tests_order_test_order_nursery_LDFLAGS =
tests_order_test_order_nursery_LDADD = tests/order/liborder.la
tests_order_test_order_memory_SOURCES = tests/order/test_order_memory.c
tests_order_test_order_memory_CPPFLAGS = $(ORDER_CPPFLAGS)
tests_order_test_order_memory_CFLAGS = $(HL_CFLAGS)
tests_order_test_order_memory_LDFLAGS =
tests_order_test_order_memory_LDADD = tests/order/liborder.la
tests_order_test_order_recipe_SOURCES = tests/order/test_order_recipe.c
tests_order_test_order_recipe_CPPFLAGS = $(ORDER_CPPFLAGS)
tests_order_test_order_recipe_CFLAGS = $(HL_CFLAGS)
tests_order_test_order_recipe_LDFLAGS =
tests_order_test_order_recipe_LDADD = tests/order/liborder.la
tests_order_test_order_store_SOURCES = tests/order/test_order_store.c
tests_order_test_order_store_CPPFLAGS = $(ORDER_CPPFLAGS)
tests_order_test_order_store_CFLAGS = $(HL_CFLAGS)
tests_order_test_order_store_LDFLAGS =
tests_order_test_order_store_LDADD = tests/order/liborder.la
tests_order_test_order_torch_SOURCES = tests/order/test_order_torch.c
tests_order_test_order_torch_CPPFLAGS = $(ORDER_CPPFLAGS)
tests_order_test_order_torch_CFLAGS = $(HL_CFLAGS)
tests_order_test_order_torch_LDFLAGS =
tests_order_test_order_torch_LDADD = tests/order/liborder.la
tests_order_test_order_unload_SOURCES = tests/order/test_order_unload.c
tests_order_test_order_unload_CPPFLAGS = $(ORDER_CPPFLAGS)
tests_order_test_order_unload_CFLAGS = $(HL_CFLAGS)
tests_order_test_order_unload_LDFLAGS =
tests_order_test_order_unload_LDADD = tests/order/liborder.la
