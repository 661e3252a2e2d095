# SPDX-License-Identifier: BSD-3-Clause
# The release archive, packages made of it, and what a site installs beside the tools.

# make dist writes the same bytes for the same commit and the same autotools. Files bear the time of
# the commit; in an unpacked archive that is the time of NEWS. Test: make check-dist.
dist_epoch = $${SOURCE_DATE_EPOCH:-$$(if test -e $(srcdir)/.git; \
	then git -C $(srcdir) log -1 --format=%ct; else stat -c %Y $(srcdir)/NEWS; fi)}
am__tar = LC_ALL=C $${TAR-tar} --format=posix --sort=name --mtime=@$(dist_epoch) \
	--owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
	--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime -chf - "$$tardir"
check-dist:
	$(SHELL) $(srcdir)/packaging/check-dist.sh $(srcdir) $(PACKAGE_VERSION)
.PHONY: check-dist

# For programs that call hpctoolkit_sampling_start() and for users of environment modules. They name
# directories, and so they are made when the directories are final: make install may be given others
# than configure.
pkgconfigdir = $(libdir)/pkgconfig
modulefilesdir = $(datadir)/modulefiles/$(PACKAGE)
pkgconfig_file = $(DESTDIR)$(pkgconfigdir)/hpctoolkit-lite.pc
modulefile = $(DESTDIR)$(modulefilesdir)/$(PACKAGE_VERSION)
install_names = sed -e 's|@prefix[@]|$(prefix)|g' -e 's|@bindir[@]|$(bindir)|g' \
	-e 's|@libdir[@]|$(libdir)|g' -e 's|@includedir[@]|$(includedir)|g' \
	-e 's|@version[@]|$(PACKAGE_VERSION)|g'
install-data-local:
	$(MKDIR_P) $(DESTDIR)$(pkgconfigdir) $(DESTDIR)$(modulefilesdir)
	$(install_names) $(srcdir)/packaging/hpctoolkit-lite.pc.in >$(pkgconfig_file)
	$(install_names) $(srcdir)/packaging/modulefile.in >$(modulefile)
	chmod 644 $(pkgconfig_file) $(modulefile)
uninstall-local:
	rm -f $(pkgconfig_file) $(modulefile)

# Debian packages, in build/deb. check-deb installs them in a fresh Debian, as root.
deb: dist
	$(SHELL) $(srcdir)/packaging/deb.sh $(distdir).tar.xz $(srcdir)/packaging/debian deb
check-deb:
	$(SHELL) $(srcdir)/packaging/check-deb.sh deb
.PHONY: deb check-deb

# The binary tarball, in build/tarball, made in a root of Debian 11: as root.
tarball: dist
	$(SHELL) $(srcdir)/packaging/tarball.sh $(distdir).tar.xz tarball $(dist_epoch) \
		$(tarball_includes)
if HAVE_CUPTI
tarball_includes = `echo $(CUPTI_CPPFLAGS) | sed 's/-isystem//g'`
endif
.PHONY: tarball

# Recipes for Spack and EasyBuild, in build/recipes: they have the hash of the release archive.
recipe_names = -e 's|@version[@]|$(PACKAGE_VERSION)|g' -e "s|@sha256[@]|$$hash|g"
recipe_spack = recipes/spack_repo/hpctoolkit_lite
recipes: dist
	$(MKDIR_P) $(recipe_spack)/packages/hpctoolkit_lite
	hash=`sha256sum <$(distdir).tar.xz | cut -d ' ' -f 1` && \
	sed $(recipe_names) $(srcdir)/packaging/package.py.in \
		>$(recipe_spack)/packages/hpctoolkit_lite/package.py && \
	sed $(recipe_names) $(srcdir)/packaging/hpctoolkit-lite.eb.in \
		>recipes/hpctoolkit-lite-$(PACKAGE_VERSION)-GCCcore-14.3.0.eb
	printf 'repo:\n  namespace: hpctoolkit_lite\n  api: v2.0\n' >$(recipe_spack)/repo.yaml
	cp $(distdir).tar.xz recipes/
.PHONY: recipes

EXTRA_DIST += packaging/check-deb.sh packaging/check-dist.sh packaging/deb.sh packaging/debian \
	packaging/hpctoolkit-lite.eb.in packaging/hpctoolkit-lite.pc.in packaging/modulefile.in \
	packaging/package.py.in packaging/roots.sh packaging/tarball-check.sh \
	packaging/tarball-inside.sh packaging/tarball-try.sh packaging/tarball.sh
