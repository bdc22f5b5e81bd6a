#!/bin/sh
# The libraries that read and write what `ludus.trajectory` exports and imports, each where it does not disturb ours:
# trajectory_peers.sh [PYTHON]. Quick when they are there.
#
#     build/peers/formats/bin/python    minari, h5py, pyarrow, pandas
#     build/peers/inspect/bin/python    inspect-ai
#     build/peers/torch/bin/python      torch
#
# To begin anew, remove the folder. A change of this script installs again what it lists.
set -eu
cd "$(dirname "$0")/.."
python=${1:-python3}
own="numba msgspec pyyaml typer rich websockets zstandard"

install() {
    folder=build/peers/$1
    shift
    [ "$(cat "$folder/.installed" 2>/dev/null)" = "$*" ] && return
    sh scripts/venv.sh "$python" "$folder"
    echo "Installing $* into $folder ..."
    "$folder/bin/python" scripts/uv.py pip install -q "$@"
    echo "$*" >"$folder/.installed"
}

mkdir -p build/peers
# One at a time: tests that run at once may both want them.
if command -v flock >/dev/null 2>&1; then
    exec 9>build/peers/trajectory.lock
    flock 9
fi
# Words, not one word: each requirement is an argument.
# shellcheck disable=SC2086
{
    install formats "minari[hdf5]==0.5.4" h5py pyarrow pandas pillow $own
    install inspect inspect-ai==0.3.285
    install torch torch==2.13.0 $own
}
