# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""Login shells of a fake node and what their start-up files say.

Noise matters because sshd hands every command to the login shell, and several shells read a
start-up file even then: bash `.bashrc` (when sshd started it), zsh `.zshenv`, fish `config.fish`,
tcsh `.cshrc`. dash and busybox sh read nothing for a command, only `.profile` for a login.
"""

import os
import shutil

SHELLS = ("bash", "dash", "sh", "zsh", "fish", "tcsh", "csh", "busybox")

# The files that each family reads for a command that is not interactive.
RC_FILES = {
    "posix": (".bashrc", ".zshenv"),
    "fish": (".config/fish/config.fish",),
    "tcsh": (".cshrc",),
}
LOGIN_FILE = ".profile"

# Lines that every family understands, so that the noise stays when the shell changes.
NOISE = {
    "stdout": 'echo "WELCOME to the cluster"\n',
    "stderr": "sh -c 'echo WELCOME on stderr >&2'\n",
    "both": "echo \"WELCOME to the cluster\"\nsh -c 'echo WELCOME on stderr >&2'\n",
    # The next thing printed continues this line.
    "unterminated": "printf WELCOME\n",
    "stty": "stty erase '^H'\n",
    "big": "seq 1 50000\n",
    "slow": "sleep 1\n",
    # Reads what was meant for the command, one line of it.
    "eats-stdin": "sh -c 'read line; true'\n",
    "exit": "exit 3\n",
}

# What well-behaved files do: they speak to people only.
INTERACTIVE = {
    "posix": 'case $- in *i*) ;; *) return ;; esac\necho "WELCOME human"\n',
    "fish": 'status is-interactive; and echo "WELCOME human"\n',
    "tcsh": 'if ($?prompt) echo "WELCOME human"\n',
}


def find_shell(name, binary_folder):
    """The path of a shell, or None where it is not installed.

    busybox decides by its own name, so it gets a link called sh in `binary_folder`.
    """
    if os.path.isabs(name):
        return name if os.access(name, os.X_OK) else None
    if name not in SHELLS:
        return None
    path = shutil.which(name)
    if path and name == "busybox":
        link = os.path.join(binary_folder, "busybox-sh", "sh")
        os.makedirs(os.path.dirname(link), exist_ok=True)
        if not os.path.islink(link):
            os.symlink(path, link)
        return link
    return path


def rc_texts(noise):
    """The start-up files for a kind of noise: {path below the home: text}; empty for None.

    `noise` is a key of NOISE, "interactive", or a text of one's own with at least one newline.
    """
    if noise is None:
        return {}
    if noise == "interactive":
        texts = {file: text for family, text in INTERACTIVE.items() for file in RC_FILES[family]}
        # A login shell runs .profile with `.`, where `return` is right too.
        return {**texts, LOGIN_FILE: INTERACTIVE["posix"]}
    text = NOISE.get(noise, noise)
    if "\n" not in text:
        raise ValueError(f"no noise '{noise}'; there are: interactive {' '.join(NOISE)}")
    return {file: text for files in (*RC_FILES.values(), (LOGIN_FILE,)) for file in files}


def write_rc(home, noise):
    """Makes the start-up files of `home` say `noise`; files of an earlier noise go."""
    texts = rc_texts(noise)
    for file in (*(name for files in RC_FILES.values() for name in files), LOGIN_FILE):
        path = os.path.join(home, file)
        if file in texts:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as out:
                out.write(texts[file])
        elif os.path.exists(path):
            os.unlink(path)
