# shellcheck shell=sh
# For the scripts that build fuzzers, in the folder of the project: the properties of tests/support/properties.def, and
# what each is compiled of.

# "NAME PATTERN…" a line: which files of tests/data the property is about.
list_properties() {
    sed -n 's/^PROPERTY(\([a-z0-9_]*\), "\(.*\)")$/\1 \2/p' tests/support/properties.def
}

# Flags and sources of one, beside its entry in this folder. A format's properties may stand on each other.
property_inputs() {
    echo "-std=c11 -Iinclude -Isrc -Itests -DPROPERTY=${1}_property -include support/${1}_round.h"
    find tests/support -name "${1%%_*}*_round.c" -o -name "${1}_brute.c" -o -name pipelines.c -o -name sweep.c | sort
}
