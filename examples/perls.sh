#!/bin/sh
# Four perls of one version, from Debian's sources: with perl's own malloc or that of the system, with threads or without.
# They are FOLDER/own-no/perl, own-yes, system-no and system-yes: the interpreter without its modules.
# Takes five minutes and 600 MB; needs a compiler and a line `deb-src` for apt.
#
#     sh examples/perls.sh FOLDER
set -eu
folder=${1:?a folder to build in}
mkdir -p "$folder"
cd "$folder"
apt-get source --download-only perl
mkdir -p source
tar -C source --strip-components=1 -xf perl_*.orig.tar.xz

for malloc in own system; do
    for threads in no yes; do
        build=$malloc-$threads
        case $malloc in own) with_malloc=-Dusemymalloc ;; *) with_malloc=-Uusemymalloc ;; esac
        case $threads in yes) with_threads=-Dusethreads ;; *) with_threads=-Uusethreads ;; esac
        cp -a source "work-$build"
        (
            cd "work-$build"
            sh Configure -des -Dusedevel -Doptimize=-O2 "$with_malloc" "$with_threads"
            make miniperl
        ) > "$build.log" 2>&1 < /dev/null
        mkdir -p "$build"
        mv "work-$build/miniperl" "$build/perl"
        rm -rf "work-$build"
    done
done
