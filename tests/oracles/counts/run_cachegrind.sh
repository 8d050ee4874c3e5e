#!/bin/sh
# Count the misses of skewed_reads with cachegrind (valgrind), and print the reference CSV. What the program does before and
# after its loop is taken off: it is run once without reads.
# usage: sh run_cachegrind.sh [READS] > cachegrind.csv
set -eu
reads=${1:-2000000}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -O2 -o "$work/skewed_reads" "$here/skewed_reads.c"

# Data reads, first-level and last-level read misses.
totals() {
    valgrind --tool=cachegrind --cache-sim=yes --I1=32768,8,64 --D1=16384,4,64 --LL=2097152,8,64 \
        --cachegrind-out-file="$work/out" "$work/skewed_reads" "$1" 2> /dev/null
    awk '/^events:/ { for (i = 2; i <= NF; i++) place[$i] = i }
         /^summary:/ { print $place["Dr"], $place["D1mr"], $place["DLmr"] }' "$work/out"
}

version=$(valgrind --version)
set -- $(totals 0) $(totals "$reads")
echo "simulator,trace,accesses,L1_misses,LL_misses"
echo "cachegrind ($version),skewed_reads,$(($4 - $1)),$(($5 - $2)),$(($6 - $3))"
