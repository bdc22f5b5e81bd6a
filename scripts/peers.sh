#!/bin/sh
# OpenEnv's stock packages, each in a virtual environment of its own, for the tests that let its clients loose on our
# server: peers.sh [PYTHON]. Quick when they are there.
#
#     build/peers/openenv-0.10.0/bin/python   openenv 0.10.0: the live package
#     build/peers/openenv-0.3.0/bin/python    openenv-core 0.3.0: the old name, which much code is still written for
#
# Without what they ask for but their clients, servers and validator never import: gradio, which is their web page.
# To begin anew, remove the folder. A change of this script installs again what it lists.
set -eu
cd "$(dirname "$0")/.."
python=${1:-python3}

needs="fastapi>=0.116 pydantic>=2 packaging>=24.2 typing_extensions>=4 uvicorn>=0.24 requests>=2.25 typer>=0.9 rich>=13
    pyyaml>=6 huggingface_hub>=1.29 openai>=2.7.2 tomli>=2.3 tomli-w>=1.2 websockets>=15.0.1 fastmcp>=3,<4 httpx>=0.28.1
    jsonschema>=4.20"

install() {
    folder=build/peers/$1
    stamp="$2 $(echo $needs)"
    [ "$(cat "$folder/.installed" 2>/dev/null)" = "$stamp" ] && return
    sh scripts/venv.sh "$python" "$folder"
    echo "Installing $2 into $folder ..."
    # Words, not one word: each requirement is an argument.
    # shellcheck disable=SC2086
    "$folder/bin/python" scripts/uv.py pip install -q --compile-bytecode $needs
    "$folder/bin/python" scripts/uv.py pip install -q --compile-bytecode --no-deps "$2"
    "$folder/bin/python" -c 'from openenv.core.generic_client import GenericEnvClient'
    echo "$stamp" >"$folder/.installed"
}

mkdir -p build/peers
# One at a time: tests that run at once may both want them.
if command -v flock >/dev/null 2>&1; then
    exec 9>build/peers/openenv.lock
    flock 9
fi
install openenv-0.10.0 openenv==0.10.0
install openenv-0.3.0 openenv-core==0.3.0
