"""What is counted of a tree of processes without a control group."""

import subprocess
import sys

import pytest

from ludus.sandbox.tree import EMPTY_FILE_BYTES, names_in_memory

MOUNTS = """
set -e
mkdir outer outer/inner other other/inner memory
mount -t tmpfs none memory; touch memory/1 memory/2 memory/3
mount -t tmpfs none outer/inner
mount --bind other outer
echo ready; read -r _
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mounts of Linux")
def test_names_in_a_folder_that_another_mount_hides_are_none_in_memory(tmp_path):
    """Asked for by its place, the hidden one answers with what lies over it: all files of a disk."""
    words = ["unshare", "--mount", "--map-root-user", "sh", "-c", MOUNTS]
    with subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        found = names_in_memory(process.pid)
        process.communicate("")
    assert found == 4 * EMPTY_FILE_BYTES  # three files, and the folder itself
