#!/bin/sh
# A bill of materials (CycloneDX, JSON) of what an installation with the usual extras has: sbom.sh PYTHON WHEEL OUTPUT.
set -eu
python=$1 wheel=$2 output=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/subject"
"$folder/subject/bin/python" -m pip install -qq "$wheel[serve,sign,video]"
# The tool has an environment of its own: what it needs is no part of what we ship.
"$python" -m venv "$folder/tool"
"$folder/tool/bin/python" -m pip install -qq cyclonedx-bom==7.1.0
"$folder/tool/bin/cyclonedx-py" environment --output-format JSON --output-file "$output" "$folder/subject/bin/python"
