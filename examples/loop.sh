# Ten thousand rounds of a shell builtin, for each argument if there are any; starts no process.
for round in "${@:-once}"; do
    for a in 0 1 2 3 4 5 6 7 8 9; do
        for b in 0 1 2 3 4 5 6 7 8 9; do
            for c in 0 1 2 3 4 5 6 7 8 9; do
                for d in 0 1 2 3 4 5 6 7 8 9; do
                    true
                done
            done
        done
    done
done
