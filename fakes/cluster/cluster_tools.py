# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Which commands a node has besides the ones it chooses (python3, nvidb, nvidia-smi)."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from cluster_options import ClusterError

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# Commands that a node has or has not by choice, whatever the machine has.
NVIDIA_TOOLS = re.compile(r"nvidb|nvidia-smi")
ALL_CHOSEN_TOOLS = re.compile(r"nvidb|nvidia-smi|(python|pypy)[\d.]*(-config)?")


class Tools:
    """PATH behind a node's own folder: the machine's commands without those a node chooses."""

    def __init__(self, folder):
        self.folder = folder
        self._made = {}

    def path(self, kind, has_python):
        """PATH for `tools` = kind; the machine's own folders where they show nothing unwanted."""
        if kind not in ("full", "busybox"):
            raise ClusterError(f"tools '{kind}'; there are: full, busybox")
        key = (kind, has_python or kind == "busybox")
        if key not in self._made:
            hidden = NVIDIA_TOOLS if has_python else ALL_CHOSEN_TOOLS
            self._made[key] = self._busybox() if kind == "busybox" else self._full(hidden)
        return self._made[key]

    def _busybox(self):
        busybox = shutil.which("busybox")
        if not busybox:
            raise ClusterError("busybox is not installed")
        folder = self.folder / "tools-busybox"
        folder.mkdir()
        for applet in subprocess.run(
            [busybox, "--list"], check=True, stdout=subprocess.PIPE, text=True
        ).stdout.split():
            (folder / applet).symlink_to(busybox)
        return str(folder)

    def _full(self, hidden):
        places = []
        for place in dict.fromkeys(os.path.realpath(place) for place in SYSTEM_PATH.split(":")):
            names = os.listdir(place) if os.path.isdir(place) else []
            shown = [name for name in names if not hidden.fullmatch(name)]
            if len(shown) == len(names):
                places.append(place)
                continue
            # Links to all the others. Slow (a second for 1,000), so only where it must be.
            folder = pathlib.Path(tempfile.mkdtemp(prefix="tools-", dir=self.folder))
            for name in shown:
                (folder / name).symlink_to(os.path.join(place, name))
            places.append(str(folder))
        return ":".join(places)
