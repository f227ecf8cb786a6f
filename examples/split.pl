# Splits a record again and again; the argument is the number of rounds.
my $record = join ",", 1 .. 8;
my $fields = 0;
for (1 .. shift) {
    my @fields = split /,/, $record;
    $fields += @fields;
}
print "$fields\n";
