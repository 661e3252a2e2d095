# SPDX-License-Identifier: BSD-3-Clause
# What a Perl script does: hashes, regular expressions, a pipe from a child, a signal handler, die with a status.
use strict;
use warnings;

my %count;
my $word = 'a';
for my $i (1 .. 1500000) {
	$count{length $word}++;
	$word =~ s/z$/za/;
	$word++ if $word =~ /^[a-z]+$/;
	$word = 'a' if length $word > 6;
}
print "$_ $count{$_}\n" for sort { $a <=> $b } keys %count;
open my $pipe, '-|', 'sh', '-c', 'echo one; echo two; exit 9' or die;
print "child says $_" while <$pipe>;
close $pipe;
print 'child ended with ', $? >> 8, "\n";
local $SIG{USR1} = sub { print "signal arrived\n" };
kill USR1 => $$;
$! = 5;
die "the end\n";
