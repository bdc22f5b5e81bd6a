#!/bin/sh
# What agents bring along and environments can use, where it does not disturb ours: agent_peers.sh [PYTHON]. Quick when
# it is there.
#
#     build/peers/agents/bin/python   smolagents and transformers, without torch
#
# To begin anew, remove the folder. A change of this script installs again what it lists.
set -eu
cd "$(dirname "$0")/.."
python=${1:-python3}
folder=build/peers/agents
wanted="smolagents==1.26.0 transformers==5.22.2 jinja2 numba msgspec pyyaml typer rich websockets zstandard"
[ "$(cat "$folder/.installed" 2>/dev/null)" = "$wanted" ] && exit
mkdir -p build/peers
# One at a time: tests that run at once may both want them.
if command -v flock >/dev/null 2>&1; then
    exec 9>build/peers/agents.lock
    flock 9
fi
[ "$(cat "$folder/.installed" 2>/dev/null)" = "$wanted" ] && exit
sh scripts/venv.sh "$python" "$folder"
echo "Installing $wanted into $folder ..."
# Words, not one word: each requirement is an argument.
# shellcheck disable=SC2086
"$folder/bin/python" scripts/uv.py pip install -q $wanted
echo "$wanted" >"$folder/.installed"
