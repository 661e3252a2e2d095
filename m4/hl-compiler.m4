dnl SPDX-License-Identifier: BSD-3-Clause
dnl Warnings, language level, sanitizers, platform.

dnl HL_TRY_CFLAG(FLAG): adds FLAG to HL_CFLAGS if the compiler accepts it.
AC_DEFUN([HL_TRY_CFLAG], [
  AS_VAR_PUSHDEF([cv], [hl_cv_cflag_$1])
  AC_CACHE_CHECK([whether $CC takes $1], [cv], [
    hl_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS -Werror $1"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int main(void) { return 0; }]])],
      [AS_VAR_SET([cv], [yes])], [AS_VAR_SET([cv], [no])])
    CFLAGS=$hl_saved_cflags])
  AS_VAR_IF([cv], [yes], [HL_CFLAGS="$HL_CFLAGS $1"])
  AS_VAR_POPDEF([cv])
])

AC_DEFUN([HL_COMPILER_FLAGS], [
  HL_CFLAGS="-std=gnu11 -fno-common"
  m4_foreach_w([hl_each_flag], [-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -Wold-style-definition -Wpointer-arith -Wwrite-strings -Wvla -Wformat=2 -Wundef
    -Wnull-dereference -Wimplicit-fallthrough -Wunused-parameter],
    [HL_TRY_CFLAG(hl_each_flag)])
  dnl Outputs are the same to the last digit for each -march: gcc would round a * b + c once where
  dnl the processor has fused multiply-add, and twice elsewhere.
  HL_TRY_CFLAG([-ffp-contract=off])
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])],
    [AS_IF([test "x$enableval" = xyes], [HL_CFLAGS="$HL_CFLAGS -Werror"])])
  AC_SUBST([HL_CFLAGS])
])

AC_DEFUN([HL_SANITIZER], [
  AC_ARG_ENABLE([sanitizer],
    [AS_HELP_STRING([--enable-sanitizer=LIST],
      [build the tools and tests with -fsanitize=LIST, for example address,undefined (never the
       run-time library)])],
    [], [enable_sanitizer=no])
  HL_SANITIZE_CFLAGS=
  AS_CASE([$enable_sanitizer],
    [no], [],
    [yes],
    [AC_MSG_ERROR([--enable-sanitizer needs a list, as in --enable-sanitizer=address,undefined])],
    [HL_SANITIZE_CFLAGS="-DSANITIZED -fsanitize=$enable_sanitizer -fno-omit-frame-pointer"
     HL_SANITIZE_CFLAGS="$HL_SANITIZE_CFLAGS -fno-sanitize-recover=all"
     hl_saved_cflags=$CFLAGS
     CFLAGS="$CFLAGS $HL_SANITIZE_CFLAGS"
     AC_LINK_IFELSE([AC_LANG_PROGRAM], [],
       [AC_MSG_ERROR([$CC cannot link with -fsanitize=$enable_sanitizer])])
     CFLAGS=$hl_saved_cflags])
  AC_SUBST([HL_SANITIZE_CFLAGS])
  AM_CONDITIONAL([SANITIZER], [test "x$enable_sanitizer" != xno])
])

dnl The run time needs Linux and glibc, on a processor that common/machine knows. Before glibc 2.34
dnl threads, dlsym and timers are in libraries of their own: tools and tests need them, the run-time
dnl libraries must not (GNUmakefile.in).
AC_DEFUN([HL_PLATFORM], [
  AC_CANONICAL_HOST
  AS_CASE([$host], [x86_64-*-linux-gnu*|aarch64-*-linux-gnu*], [],
    [AC_MSG_ERROR([hpctoolkit-lite runs on Linux with glibc on x86-64 and aarch64, not on $host])])
  AM_CONDITIONAL([MACHINE_AARCH64], [test "x$host_cpu" = xaarch64])
  AC_SEARCH_LIBS([dlsym], [dl])
  AC_SEARCH_LIBS([timer_create], [rt])
  AC_CHECK_LIB([pthread], [pthread_create])
])

AC_DEFUN([HL_SUMMARY], [
cat <<EOF

  $PACKAGE_NAME $PACKAGE_VERSION
  ------------------------------------------------------------
  C compiler                     $CC
  sanitizer                      $enable_sanitizer
  libelf    (hpcstruct-lite)     yes
  libdwarf  (hpcstruct-lite)     yes
  libiberty (demangling)         $hl_with_iberty
  Zydis     (loops, code)       $hl_with_zydis
  zstd      (GPU code)           $hl_with_zstd
  LZ4       (GPU code)           $hl_with_lz4
  PAPI      (counter events)     $hl_with_papi
  OTF2      (--to otf2)          $hl_with_otf2
  SQLite    (--to sqlite)        $hl_with_sqlite3
  OpenCL    (GPU events)         $hl_with_opencl
  CUPTI     (GPU events)         $hl_with_cupti
  libunwind (--attach)           $hl_with_attach
  libunwind (test only)          $hl_with_unwind
  libdw     (test only)          $hl_with_dw
  cmocka    (unit tests)         $hl_with_cmocka
  MPI       (hpcprof-lite, test) $hl_with_mpi_lib
  OpenMP    (mini-application)   $hl_with_openmp
  ------------------------------------------------------------

EOF
])
