# Reads a file as a whole, again and again, in the way that the first word says: `line` is <> without a line end, `all` one
# sysread of the size of the file, a number a loop of sysreads of so many KiB.
use strict;
use Fcntl;
my ($way, $file, $rounds) = @ARGV;

sub line {
    open my $input, '<', $file or die "$file: $!\n";
    local $/;
    my $text = <$input>;
    return length $text;
}

sub all {
    sysopen my $input, $file, O_RDONLY or die "$file: $!\n";
    sysread $input, my $text, -s $input;
    return length $text;
}

sub blocks {
    my ($bytes) = @_;
    sysopen my $input, $file, O_RDONLY or die "$file: $!\n";
    my $text = '';
    1 while sysread $input, $text, $bytes, length $text;
    return length $text;
}

my %ways = (line => \&line, all => \&all);
my $read = $ways{$way} || sub { blocks(1024 * $way) };
my $bytes;
$bytes = $read->() for 1 .. $rounds;
print "$bytes bytes\n";
