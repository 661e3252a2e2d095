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

EXTRA_DIST += packaging/check-dist.sh
