# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""The files that make an sshd a fake node, and the port it may have."""

import os
import socket
import warnings

from cluster_options import ClusterError

# SHLVL goes because bash reads .bashrc for a command only where it seems the first shell.
LOGIN = """#!/bin/sh
# What a login of this fake node runs: the node's environment, then the node's shell.
. {env}
cd "$HOME" || exit 1
unset SHLVL OLDPWD
if [ "${{SSH_ORIGINAL_COMMAND+given}}" ]; then
  command=$SSH_ORIGINAL_COMMAND
  unset SSH_ORIGINAL_COMMAND
  exec "$SHELL" -c "$command"
fi
exec "$SHELL" -l
"""


def write_file(path, text, mode=0o600):
    """Writes by rename, so that a reader sees the old or the new text, whole."""
    part = f"{path}.part"
    with open(
        os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8"
    ) as file:
        file.write(text)
    os.chmod(part, mode)
    os.rename(part, path)


def reserve_port(host):
    """A port of `host` that is ours until the returned socket is closed, whether sshd is up or not.

    A socket that is bound and never listens keeps others away and refuses connections; sshd, which
    sets SO_REUSEADDR, may listen beside it once it has the option too. The kernel picks the port,
    so two benches at once never meet.
    """
    holder = socket.socket()
    holder.bind((host, 0))
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return holder


def sshd_config(node, port):
    """The text of a node's sshd_config."""
    options = node.options
    accepts = {"key": ("yes", "no"), "password": ("no", "yes"), "both": ("yes", "yes")}
    if options.auth not in accepts:
        raise ClusterError(f"auth '{options.auth}'; there are: {', '.join(accepts)}")
    key, password = accepts[options.auth]
    return (
        "\n".join(
            [
                f"ListenAddress {node.host}:{port}",
                f"HostKey {node.folder}/host_key",
                f"AuthorizedKeysFile {node.folder}/authorized_keys",
                "PidFile none",
                "LogLevel VERBOSE",
                "StrictModes no",
                "UsePAM no",
                "UseDNS no",
                "PermitRootLogin yes",
                f"PubkeyAuthentication {key}",
                f"PasswordAuthentication {password}",
                "KbdInteractiveAuthentication no",
                "X11Forwarding no",
                "PrintMotd no",
                "PrintLastLog no",
                # The default key exchange costs 70 ms more of CPU a login.
                "KexAlgorithms curve25519-sha256",
                f"MaxSessions {options.max_sessions}",
                f"MaxStartups {options.max_startups}",
                f"Banner {node.folder}/banner",
                "Subsystem sftp /usr/lib/openssh/sftp-server",
                # The account's own shell runs first; in an empty home it has nothing to read.
                f"SetEnv HOME={node.folder}/void",
                f"ForceCommand {node.folder}/login",
                *options.sshd_lines,
            ]
        )
        + "\n"
    )


def shadow_line(user, options):
    """What the node's own /etc/shadow says of the user: the password, or that there is none."""
    if options.auth == "key":
        return f"{user}:*:20000:0:99999:7:::\n"
    with warnings.catch_warnings():
        # Deprecated, and gone in Python 3.13; only passwords need it.
        warnings.simplefilter("ignore", DeprecationWarning)
        import crypt
    hashed = crypt.crypt(options.password, crypt.METHOD_SHA256)
    return f"{user}:{hashed}:20000:0:99999:7:::\n"
