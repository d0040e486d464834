"""TLS on both sides of a gateway: certificates of the test's own, clients that trust them, and an
upstream that speaks it.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import stack

Certificate = tuple[Path, Path]  # and its key
Serve = Callable[[socket.socket], None]  # one connection


def make_certificate(folder: Path, name: str) -> Certificate:
    """One that signs itself."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split(),
            *f"-subj /CN=test -addext subjectAltName={name} -keyout".split(),
            key,
            "-out",
            certificate,
        ],
        check=True,
        capture_output=True,
        timeout=30,
    )
    return certificate, key


def settings(certificate: Certificate) -> str:
    return f"  tls: {{ certificate: {certificate[0]}, key: {certificate[1]} }}"


def connect(gateway: stack.Gateway, certificate: Certificate, source: str = "") -> ssl.SSLSocket:
    trusting = ssl.create_default_context(cafile=str(certificate[0]))
    trusting.set_alpn_protocols(["http/1.1"])
    return trusting.wrap_socket(gateway.connect(source), server_hostname="127.0.0.1")


def spoken(certificate: Certificate, speak: Serve) -> Serve:
    """The same within TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):  # who does not trust us ends the greeting
            speak(context.wrap_socket(connection, server_side=True))

    return serve


def upstream(certificate: Certificate) -> stack.Upstream:
    made = stack.Upstream()
    made.serve = spoken(certificate, made.serve)
    return made
