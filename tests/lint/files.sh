# Which files the checks look at, and how they say what they found. Read by each of them.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Files of our own with one of these endings, in the whole tree.
files () {
    local ending names=()
    for ending; do
        names+=(-o -name "*.$ending")
    done
    find . \( -name .git -o -name 'build' -o -name 'build-*' -o -name node_modules -o -name .agsup \) -prune \
        -o -type f \( "${names[@]:1}" \) -print | sed 's|^\./||' | sort
}

# Code that runs in production: not the tests beside the modules, not those under tests/.
is_test () {
    [[ $1 == tests/* || $1 == *_test.c || $1 == *_test.h ]]
}

# Programs with a shell's name in their first line.
scripts () {
    find . \( -name .git -o -name 'build' -o -name 'build-*' -o -name node_modules -o -name .agsup \) -prune \
        -o -type f \( -perm -u+x -o -name '*.sh' \) -print | sed 's|^\./||' | sort \
        | while read -r file; do
            if [[ $file == *.sh ]] || head -c 64 "$file" | head -1 | grep -aqE '^#!.*\b(ba)?sh\b'; then
                echo "$file"
            fi
        done
}

found=0
offence () {
    echo "$*"
    found=$((found + 1))
}

# The last line of a check, and its exit status.
verdict () {
    if ((found)); then
        echo "$found found"
        exit 1
    fi
    echo "$*"
}

# Leave when a tool is missing: that is no failure, but it is said.
tool () {
    command -v "$1" >/dev/null || { echo "skipped: $1 is not installed"; exit 77; }
}
