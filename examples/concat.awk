# One string that grows once for every number up to the argument.
BEGIN {
    for (i = 0; i < ARGV[1]; i++)
        text = text "line " i "\n"
    print length(text)
}
