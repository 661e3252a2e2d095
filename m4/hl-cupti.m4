dnl SPDX-License-Identifier: BSD-3-Clause
dnl HL_LIB_CUPTI: NVIDIA's headers. Nothing of CUDA is linked: CUPTI and the driver are found at run
dnl time. --with-cupti=DIR names the toolkit (DIR/include/cupti.h, or DIR/extras/CUPTI/include in
dnl older toolkits). Sets hl_with_cupti, CUPTI_CPPFLAGS, HAVE_CUPTI, and CUPTI_LIBDIR: a directory
dnl that ends in '/', where CUPTI is searched among others.
AC_DEFUN([HL_LIB_CUPTI], [
  AC_ARG_WITH([cupti],
    [AS_HELP_STRING([--with-cupti@<:@=DIR|no@:>@],
      [NVIDIA's CUDA toolkit with CUPTI, 12.4 or later, GPU events])], [], [with_cupti=check])
  hl_with_cupti=no CUPTI_CPPFLAGS= CUPTI_LIBDIR=
  AS_IF([test "x$with_cupti" != xno], [
    AS_CASE([$with_cupti],
      [yes|check], [hl_places="$CUDA_HOME $CUDA_PATH /usr/local/cuda /opt/cuda /usr"],
      [hl_places=$with_cupti])
    AC_MSG_CHECKING([for CUPTI's headers])
    for hl_place in $hl_places; do
      for hl_more in "" "-isystem $hl_place/extras/CUPTI/include"; do
        hl_saved_cppflags=$CPPFLAGS
        hl_try="-isystem $hl_place/include $hl_more"
        AS_IF([test "x$hl_place" = x/usr], [hl_try=])
        CPPFLAGS="$CPPFLAGS $hl_try"
        AC_PREPROC_IFELSE([AC_LANG_SOURCE([[
#include <cuda.h>
#include <cupti.h>
#if CUPTI_API_VERSION < 22
#error too old
#endif
]])], [hl_with_cupti=yes CUPTI_CPPFLAGS=$hl_try])
        CPPFLAGS=$hl_saved_cppflags
        AS_IF([test $hl_with_cupti = yes], [break 2])
      done
    done
    AC_MSG_RESULT([$hl_with_cupti${CUPTI_CPPFLAGS:+, $CUPTI_CPPFLAGS}])
    AS_IF([test $hl_with_cupti = yes], [
      for hl_each in lib64 extras/CUPTI/lib64 lib; do
        AS_IF([test -e "$hl_place/$hl_each/libcupti.so.13" ||
          test -e "$hl_place/$hl_each/libcupti.so.12"],
          [CUPTI_LIBDIR=$hl_place/$hl_each/; break])
      done
      AC_DEFINE([HAVE_CUPTI], [1], [CUPTI's headers, GPU events of NVIDIA])
    ], [test "x$with_cupti" != xcheck], [
      hl_missing="CUPTI 12.4 or later was not found (headers: cuda.h cupti.h)."
      AC_MSG_ERROR([$hl_missing Install the CUDA toolkit or point --with-cupti=DIR at it.])
    ])
  ])
  AC_SUBST([CUPTI_CPPFLAGS])
  AC_SUBST([CUPTI_LIBDIR])
  AM_CONDITIONAL([HAVE_CUPTI], [test $hl_with_cupti = yes])
])
