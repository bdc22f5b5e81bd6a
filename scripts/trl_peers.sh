#!/bin/sh
# TRL and transformers, with torch for the processor, where they do not disturb ours: trl_peers.sh [PYTHON]. Quick when
# they are there.
#
#     build/peers/trl/bin/python
#
# To begin anew, remove the folder. A change of this script installs again what it lists.
set -eu
cd "$(dirname "$0")/.."
python=${1:-python3}
folder=build/peers/trl
# torch first and by its version: what TRL asks for by itself is a build of gigabytes.
wanted="torch==2.13.0 trl==1.16.0 transformers==5.22.2 numba msgspec pyyaml typer rich websockets zstandard"
[ "$(cat "$folder/.installed" 2>/dev/null)" = "$wanted" ] && exit
mkdir -p build/peers
# One at a time: tests that run at once may both want them.
if command -v flock >/dev/null 2>&1; then
    exec 9>build/peers/trl.lock
    flock 9
fi
[ "$(cat "$folder/.installed" 2>/dev/null)" = "$wanted" ] && exit
sh scripts/venv.sh "$python" "$folder"
echo "Installing $wanted into $folder ..."
"$folder/bin/python" scripts/uv.py pip install -q torch==2.13.0
# Words, not one word: each requirement is an argument.
# shellcheck disable=SC2086
"$folder/bin/python" scripts/uv.py pip install -q $wanted
echo "$wanted" >"$folder/.installed"
