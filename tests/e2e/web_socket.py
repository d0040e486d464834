"""A WebSocket client (RFC 6455) of a few lines: texts in both directions, and how it was closed."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from typing import Any

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
HANDSHAKE_BYTES_MAX = 65_536


class WebSocket:
    def __init__(self, address: str, path: str, time_limit: float = 15.0) -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=time_limit)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.head = b""
        while b"\r\n\r\n" not in self.head and len(self.head) < HANDSHAKE_BYTES_MAX:
            self.head += self._take(1)
        self.status = int(self.head.split()[1])

    def _take(self, count: int) -> bytes:
        taken = b""
        while len(taken) < count:
            more = self.socket.recv(count - len(taken))
            if not more:
                raise ConnectionError("the other side has left")
            taken += more
        return taken

    def send(self, opcode: int, payload: bytes) -> None:
        mask = os.urandom(4)
        size = len(payload)
        length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.socket.sendall(bytes([0x80 | opcode]) + length + mask + masked)

    def say(self, message: str | dict[str, Any]) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        self.send(TEXT, text.encode())

    def receive(self) -> tuple[int, bytes]:
        first, size = self._take(2)
        if size == 126:
            [size] = struct.unpack(">H", self._take(2))
        elif size == 127:
            [size] = struct.unpack(">Q", self._take(8))
        return first & 0x0F, self._take(size)

    def hear(self) -> Any:
        """The next text, as JSON where it is some."""
        opcode, payload = self.receive()
        assert opcode == TEXT, (opcode, payload)
        return json.loads(payload) if payload[:1] in b"{[" else payload.decode()

    def close_code(self) -> int:
        """Of the close that comes next."""
        opcode, payload = self.receive()
        assert opcode == CLOSE, (opcode, payload)
        return int.from_bytes(payload[:2], "big")

    def is_quiet(self, seconds: float) -> bool:
        """Does nothing come for so long?"""
        before = self.socket.gettimeout()
        self.socket.settimeout(seconds)
        try:
            return self.socket.recv(1, socket.MSG_PEEK) == b"never"
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(before)

    def close(self) -> None:
        self.socket.close()
