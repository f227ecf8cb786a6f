# A hundred children of the shell that run nothing.
i=0
while [ $i -lt 100 ]; do
    ( : )
    i=$((i + 1))
done
