# Adds four times and prints each sum. One word says what else it does: see the other programs of this folder.
use strict;
use warnings;

$| = 1;

sub add {
    my ($first, $second) = @_;
    my $total = $first + $second;
    return $total; # mark: add
}

sub spin {
    my $count = 0;
    while (1) {
        $count = ($count + 1) % 1000000; # mark: spin
    }
}

sub talk {
    print "line $_\n" for 0 .. 499;
    print STDERR "to stderr\n";
}

sub main {
    my $word = shift // "";
    my @numbers = map { $_ * 10 } 0 .. 119;
    if ($word eq "spin") {
        print "spinning\n";
        spin();
    }
    if ($word eq "throw") {
        die "thrown\n"; # mark: throw
    }
    if ($word eq "ask") {
        my $name = <STDIN>;
        print "hello $name";
    }
    talk() if $word eq "talk";
    for my $i (0 .. 3) {
        my $total = add($i, 10); # mark: call
        if ($word =~ m{^/}) {
            open(my $file, '>', $word) or die;
        }
        print "sum $total\n";
    }
    exit 7 if $word eq "seven";
    print "done $numbers[119]\n"; # mark: end
}

main(@ARGV);
