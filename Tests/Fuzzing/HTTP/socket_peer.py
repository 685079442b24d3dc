"""Speaks to the WebSockets of a server with the package websockets: socket_peer.py SERVER, a program that prints "L PORT" and echoes at /echo."""

import subprocess
import sys

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

CASES = ["", "a", "grüß", "€" * 41, "😀" * 20_000] + ["x" * count for count in (125, 126, 127, 65_535, 65_536, 1 << 20)]


def code(socket):
    """The code with which the server closes."""
    try:
        socket.recv(timeout=20)
    except ConnectionClosed as error:
        return error.rcvd and error.rcvd.code
    return "a message"


def check(url):
    with connect(url, max_size=None, compression=None) as socket:
        for text in CASES:
            for message in (text, text.encode()[:1 << 20]):
                socket.send(message)
                assert socket.recv(timeout=20) == message, len(message)
        for text in CASES[:-1]:
            # Each piece is a frame. Some are cut inside a character.
            data = text.encode()
            socket.send([data[start:start + 997] for start in range(0, len(data), 997)] or [b""], text=True)
            assert socket.recv(timeout=20) == text
        assert socket.ping(b"are you there").wait(20)
        for number in range(2_000):
            socket.send(str(number))
        for number in range(2_000):
            assert socket.recv(timeout=20) == str(number)
        socket.close(4000, "bye")
        assert socket.protocol.close_rcvd.code == 4000
    wrong = [("too long", b"x" * ((1 << 20) + 1), None, 1009), ("not UTF-8", b"caf\xe9", True, 1007)]
    for name, message, is_text, expected in wrong:
        with connect(url, compression=None) as socket:
            socket.send(message, text=is_text)
            assert code(socket) == expected, name
    # An offer to compress is not taken.
    with connect(url) as socket:
        socket.send("plain")
        assert socket.recv(timeout=20) == "plain" and not socket.protocol.extensions


server = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
try:
    check(f"ws://127.0.0.1:{int(server.stdout.readline().split()[1])}/echo")
finally:
    server.kill()
print("WebSockets: as the package websockets expects")
