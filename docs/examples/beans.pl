use strict;
use warnings;

sub brew {
    my ($cups) = @_;
    my $per_cup = 8;
    return $cups * $per_cup;
}

my $left = 100;
$left -= brew(1);
print "$left beans are left\n";
