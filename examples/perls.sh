#!/bin/sh
# Eight perls of one version, from Debian's sources: with perl's own malloc or that of the system, with threads or without,
# and with lists that are copied when they are assigned, as perl 5.8 to 5.12 did, or moved, as all since do.
# They are FOLDER/moved-own-no/perl to copied-system-yes/perl: the interpreter without its modules.
# Takes about ten minutes and 600 MB; needs a compiler and a line `deb-src` for apt.
#
#     sh examples/perls.sh FOLDER
set -eu
folder=${1:?a folder to build in}
mkdir -p "$folder"
cd "$folder"
apt-get source --download-only perl
mkdir -p source
tar -C source --strip-components=1 -xf perl_*.orig.tar.xz

# The two places that spare a copy: a temporary value is moved into the array, and split fills the array itself.
copy_lists() {
    sed -i 's/if (SvTEMP(rsv) && .*SvREFCNT(rsv) == 1) {/if (0) {/' pp_hot.c
    sed -i 's/&& right->op_type == OP_SPLIT/\&\& 0/' op.c
}

for malloc in own system; do
    for threads in no yes; do
        build=$malloc-$threads
        case $malloc in own) with_malloc=-Dusemymalloc ;; *) with_malloc=-Uusemymalloc ;; esac
        case $threads in yes) with_threads=-Dusethreads ;; *) with_threads=-Uusethreads ;; esac
        cp -a source "work-$build"
        mkdir -p "moved-$build" "copied-$build"
        (
            cd "work-$build"
            sh Configure -des -Dusedevel -Doptimize=-O2 "$with_malloc" "$with_threads"
            make miniperl
            cp miniperl "../moved-$build/perl"
            copy_lists
            make miniperl
            cp miniperl "../copied-$build/perl"
        ) > "$build.log" 2>&1 < /dev/null
        rm -rf "work-$build"
    done
done
