#!/bin/sh
# Read by scripts that build for other machines, with the compiler that the package ziglang of build/venv-wheel holds.

zig_python=$PWD/build/venv-wheel/bin/python

zig_install() { "$zig_python" -m pip -q --disable-pip-version-check install ziglang==0.17.1; }

# The compiler for one target, under names that CMake takes: zig_tools TARGET FOLDER.
zig_tools() {
    mkdir -p "$2"
    for tool in cc ar; do
        flags=
        if [ $tool = cc ]; then flags="-target $1"; fi
        printf '#!/bin/sh\nexec "%s" -m ziglang %s %s "$@"\n' "$zig_python" $tool "$flags" >"$2/$tool"
        chmod +x "$2/$tool"
    done
}
