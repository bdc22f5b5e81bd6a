#!/bin/sh
# Trainers' libraries with adapters for OpenEnv, each where it does not disturb ours: consumer_peers.sh NAME [PYTHON].
# Quick when it is there.
#
#     build/peers/verifiers/bin/python   verifiers 0.4.0: drives servers by OpenEnv's client
#     build/peers/nemo-gym/bin/python    nemo-gym 0.4.0: imports `Environment` classes; needs Python 3.12 or newer
#
# Both with openenv 0.10.0 without what it asks for but they never import; verifiers wants another version of mcp.
# To begin anew, remove the folder. A change of this script installs again what it lists.
set -eu
cd "$(dirname "$0")/.."
name=$1
python=${2:-python3}
folder=build/peers/$name
stock="openenv==0.10.0"
case $name in
verifiers) wanted="verifiers==0.4.0 fastmcp>=4 fastapi>=0.116 pyyaml>=6 requests>=2.25 websockets>=15.0.1 huggingface_hub jsonschema" ;;
nemo-gym) wanted="nemo-gym==0.4.0 fastmcp>=3,<4 websockets>=15.0.1 pyyaml>=6 numba msgspec typer rich zstandard httptools starlette uvicorn pathspec" ;;
*)
    echo "expected verifiers or nemo-gym, got $name" >&2
    exit 1
    ;;
esac
[ "$(cat "$folder/.installed" 2>/dev/null)" = "$wanted $stock" ] && exit
mkdir -p build/peers
# One at a time: tests that run at once may both want them.
if command -v flock >/dev/null 2>&1; then
    exec 9>"build/peers/$name.lock"
    flock 9
fi
[ "$(cat "$folder/.installed" 2>/dev/null)" = "$wanted $stock" ] && exit
sh scripts/venv.sh "$python" "$folder"
echo "Installing $wanted into $folder ..."
# Words, not one word: each requirement is an argument.
# shellcheck disable=SC2086
"$folder/bin/python" scripts/uv.py pip install -q $wanted
"$folder/bin/python" scripts/uv.py pip install -q --no-deps "$stock"
echo "$wanted $stock" >"$folder/.installed"
