dnl SPDX-License-Identifier: BSD-3-Clause
dnl HL_WITH(NAME, HEADER, LIBRARY, FUNCTION, EXTRA-LIBS, NEED, HELP, [INCLUDE-SUBDIRS])
dnl --with-NAME[=DIR|no] has three states: not given: used if found; given: must be found; no: not
dnl used. NEED is "required" for a library that the project cannot do without. Sets hl_with_NAME,
dnl NAME_CPPFLAGS, NAME_LIBS, HAVE_NAME.
AC_DEFUN([HL_WITH], [
  AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1@<:@=DIR|no@:>@], [$7])], [], [with_$1=check])
  AS_VAR_PUSHDEF([result], [hl_with_$1])
  result=no
  m4_toupper($1)_CPPFLAGS= m4_toupper($1)_LIBS= m4_toupper($1)_LDFLAGS=
  AS_IF([test "x$with_$1" != xno], [
    AS_CASE([$with_$1],
      [yes|check], [m4_toupper($1)_CPPFLAGS="m4_foreach_w([hl_each_subdir], [$8],
        [-isystem /usr/include/hl_each_subdir ])"],
      [m4_toupper($1)_CPPFLAGS="-I$with_$1/include m4_foreach_w([hl_each_subdir], [$8],
        [-I$with_$1/include/hl_each_subdir ])"
       m4_toupper($1)_LDFLAGS="-L$with_$1/lib -Wl,-rpath,$with_$1/lib"])
    hl_saved_cppflags=$CPPFLAGS hl_saved_ldflags=$LDFLAGS hl_saved_libs=$LIBS
    CPPFLAGS="$CPPFLAGS $m4_toupper($1)_CPPFLAGS"
    LDFLAGS="$LDFLAGS $m4_toupper($1)_LDFLAGS"
    hl_found=yes
    m4_foreach_w([hl_each_header], [$2], [AC_CHECK_HEADER(hl_each_header, [], [hl_found=no],
      [#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>])
    ])
    AS_IF([test $hl_found = yes], [AC_CHECK_LIB([$3], [$4], [], [hl_found=no], [$5])])
    CPPFLAGS=$hl_saved_cppflags LDFLAGS=$hl_saved_ldflags LIBS=$hl_saved_libs
    AS_IF([test $hl_found = yes], [
      result=yes
      m4_toupper($1)_LIBS="$m4_toupper($1)_LDFLAGS -l$3 $5"
      AC_DEFINE([HAVE_]m4_toupper($1), [1], [$7])
    ], [test "x$with_$1" != xcheck || test "x$6" = xrequired], [
      hl_missing="$1 was not found, or is too old"
      hl_missing="$hl_missing (m4_ifval([$2], [headers: $2; ])library: $3 with $4)."
      AC_MSG_ERROR([$hl_missing Install it or point --with-$1=DIR at it.])
    ])
  ], [test "x$6" = xrequired], [AC_MSG_ERROR([$1 cannot be left out])])
  AC_SUBST(m4_toupper($1)_CPPFLAGS)
  AC_SUBST(m4_toupper($1)_LIBS)
  AM_CONDITIONAL([HAVE_]m4_toupper($1), [test $result = yes])
  AS_VAR_POPDEF([result])
])

AC_DEFUN([HL_LIB_ZLIB],
  [HL_WITH([z], [zlib.h], [z], [inflate], [], [required], [zlib, compressed sections])])
AC_DEFUN([HL_LIB_ELF],
  [HL_WITH([elf], [libelf.h gelf.h], [elf], [elf_begin], [], [required],
    [libelf, reads ELF files])])
AC_DEFUN([HL_LIB_DWARF], [
  dnl The function is of 2017: SLES 15 has an older one, RHEL 8 one of 2018.
  HL_WITH([dwarf], [libdwarf.h dwarf.h], [dwarf], [dwarf_object_init_b], [-lelf -lz], [required],
    [libdwarf, reads DWARF], [libdwarf libdwarf-2 libdwarf-0])
  hl_saved_cppflags=$CPPFLAGS
  hl_saved_libs=$LIBS
  CPPFLAGS="$CPPFLAGS $DWARF_CPPFLAGS"
  LIBS="$LIBS $DWARF_LIBS"
  AC_CHECK_FUNCS([dwarf_set_de_alloc_flag])
  AC_CHECK_TYPES([Dwarf_Obj_Access_Interface_a], [], [], [#include <libdwarf.h>])
  CPPFLAGS=$hl_saved_cppflags
  LIBS=$hl_saved_libs
])
AC_DEFUN([HL_LIB_IBERTY],
  [HL_WITH([iberty], [], [iberty], [rust_demangle], [], [optional],
    [libiberty, demangles C++ and Rust names])])
AC_DEFUN([HL_LIB_PAPI],
  [HL_WITH([papi], [papi.h], [papi], [PAPI_library_init], [], [optional], [PAPI, counter events])])
AC_DEFUN([HL_LIB_OTF2],
  [HL_WITH([otf2], [otf2/otf2.h], [otf2], [OTF2_Archive_Open], [-lm], [optional],
    [OTF2, trace output])])
AC_DEFUN([HL_LIB_SQLITE3],
  [HL_WITH([sqlite3], [sqlite3.h], [sqlite3], [sqlite3_system_errno], [], [optional],
    [SQLite, database output])])
AC_DEFUN([HL_LIB_OPENCL],
  [HL_WITH([opencl], [CL/cl.h CL/cl_icd.h CL/cl_layer.h], [OpenCL], [clGetPlatformIDs], [],
    [optional], [OpenCL, GPU events and their test programs])])
AC_DEFUN([HL_LIB_UNWIND],
  [HL_WITH([unwind], [libunwind.h], [unwind], [unw_backtrace], [], [optional],
    [libunwind, judge of our unwinder in tests])])
dnl x86-64 alone: see hpcrun-lite/launch/attach/remote.h.
AC_DEFUN([HL_LIB_UNWIND_PTRACE], [
  AS_CASE([$host_cpu], [x86_64], [], [with_attach=no])
  HL_WITH([attach], [libunwind-ptrace.h], [unwind-ptrace], [_UPT_create],
    [-lunwind-x86_64 -lunwind], [optional], [libunwind-ptrace, hpcrun-lite --attach])
])
AC_DEFUN([HL_LIB_DW],
  [HL_WITH([dw], [elfutils/libdw.h], [dw], [dwarf_linecontext], [], [optional],
    [libdw, judge of our line tables in tests])])
AC_DEFUN([HL_LIB_CMOCKA],
  [HL_WITH([cmocka], [cmocka.h], [cmocka], [_cmocka_run_group_tests], [], [optional],
    [cmocka, unit tests])])

dnl MPICC builds test programs. What it adds to a command is for hpcprof-lite-mpi.so.
AC_DEFUN([HL_PROG_MPICC], [
  AC_ARG_WITH([mpi],
    [AS_HELP_STRING([--with-mpi@<:@=MPICC|no@:>@],
      [MPI compiler: hpcprof-lite over MPI, tests])], [],
    [with_mpi=check])
  MPICC=no
  AS_IF([test "x$with_mpi" != xno], [
    AS_CASE([$with_mpi], [yes|check], [AC_PATH_PROG([MPICC], [mpicc], [no])], [MPICC=$with_mpi])])
  AC_SUBST([MPICC])
  AS_IF([test "x$MPICC" = xno], [hl_with_mpi=no], [hl_with_mpi=yes])
  AM_CONDITIONAL([HAVE_MPI], [test $hl_with_mpi = yes])
  MPI_CPPFLAGS= MPI_LIBS= hl_with_mpi_lib=no
  AS_IF([test $hl_with_mpi = yes], [
    for hl_word in `$MPICC -show 2>/dev/null`; do
      AS_CASE([$hl_word],
        [-I*|-D*], [MPI_CPPFLAGS="$MPI_CPPFLAGS $hl_word"],
        [-L*|-l*|-Wl,*], [MPI_LIBS="$MPI_LIBS $hl_word"])
    done
    hl_cppflags=$CPPFLAGS hl_libs=$LIBS
    CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS" LIBS="$LIBS $MPI_LIBS"
    AC_MSG_CHECKING([whether $CC builds what MPI needs as $MPICC does])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[MPI_Finalize();]])],
      [hl_with_mpi_lib=yes])
    AC_MSG_RESULT([$hl_with_mpi_lib])
    CPPFLAGS=$hl_cppflags LIBS=$hl_libs])
  AC_SUBST([MPI_CPPFLAGS])
  AC_SUBST([MPI_LIBS])
  AM_CONDITIONAL([HAVE_MPI_LIB], [test $hl_with_mpi_lib = yes])
])

AC_DEFUN([HL_OPENMP], [
  AC_OPENMP
  AS_IF([test "x$ac_cv_prog_c_openmp" = xunsupported], [hl_with_openmp=no], [hl_with_openmp=yes])
  AM_CONDITIONAL([HAVE_OPENMP], [test $hl_with_openmp = yes])
])
