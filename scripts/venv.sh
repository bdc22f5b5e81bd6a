#!/bin/sh
# Create a virtual environment with pip in it, or keep the one that works: venv.sh PYTHON FOLDER
# Debian and Ubuntu ship python3 without ensurepip; root gets the missing package, others are told its name.
set -eu
python=$1
folder=$2

if "$folder/bin/python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
    exit 0
fi
if ! command -v "$python" >/dev/null 2>&1; then
    echo "expected a Python interpreter, found no '$python'; install python3, or run: make PYTHON=/path/to/python3" >&2
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "expected Python 3.11 or newer, got $("$python" -V 2>&1); run: make PYTHON=python3.12 (any from 3.11 on)" >&2
    exit 1
fi

if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    package=$("$python" -c 'import sys; print("python{}.{}-venv".format(*sys.version_info))')
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "$python has no ensurepip: installing $package ..."
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$package" >/dev/null
    else
        echo "$python cannot create virtual environments: it has no ensurepip." >&2
        echo "Install it as root (Debian, Ubuntu: apt-get install $package), then run make again." >&2
        exit 1
    fi
fi

echo "Creating $folder ..."
"$python" -m venv --clear "$folder"
