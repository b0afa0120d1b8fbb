# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the nvidb authors
"""A slow network link: a TCP proxy that hands on every byte half a round trip later, each way.

The kernels this must run on often lack `tc netem`, so the delay is made here. It delays data only:
a TCP connect is answered at once. A change of the delay reaches open connections too; bytes never
overtake each other. Started by cluster_init.py; reads `{"delay_ms": N}` lines from stdin, answers
`ok`, and ends when stdin closes.
"""

import asyncio
import json
import os
import sys

CHUNK_BYTES = 16384
CHUNKS_IN_FLIGHT = 512  # with CHUNK_BYTES: at most 8 MiB a direction


class Link:
    def __init__(self, target):
        self.target = target
        self.delay_s = 0.0
        self.tasks = set()

    async def _carry(self, reader, writer):
        loop = asyncio.get_running_loop()
        queue = asyncio.Queue(CHUNKS_IN_FLIGHT)

        async def take():
            try:
                while data := await reader.read(CHUNK_BYTES):
                    await queue.put((loop.time() + self.delay_s, data))
            except OSError:
                pass
            await queue.put((loop.time() + self.delay_s, None))

        async def give():
            while True:
                due, data = await queue.get()
                await asyncio.sleep(max(0.0, due - loop.time()))
                if data is None:
                    if writer.can_write_eof():
                        writer.write_eof()
                    return
                writer.write(data)
                await writer.drain()

        taking = asyncio.create_task(take())
        try:
            await give()
        except OSError:
            writer.close()
        finally:
            taking.cancel()

    async def serve(self, reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection(*self.target)
        except OSError:
            writer.close()
            return
        try:
            await asyncio.gather(self._carry(reader, far_writer), self._carry(far_reader, writer))
        finally:
            writer.close()
            far_writer.close()


async def main(host, port, target_port, delay_ms):
    link = Link((host, target_port))
    link.delay_s = delay_ms / 2000
    await asyncio.start_server(link.serve, host, port, backlog=128)
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(commands), sys.stdin
    )
    while line := await commands.readline():
        link.delay_s = json.loads(line)["delay_ms"] / 2000
        os.write(1, b"ok\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
