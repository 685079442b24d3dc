"""What others see in the bytes that the server gets: h11, and haproxy in front of a server that records what it forwards."""

import os
import selectors
import socket
import subprocess
import tempfile

import h11


class Seen:
    """One request that somebody has seen: method, target, fields if they are known, and the body, if it was complete."""

    __slots__ = ("method", "target", "fields", "body")

    def __init__(self, method, target):
        self.method, self.target, self.fields, self.body = method, target, None, None

    def __repr__(self):
        return f"{self.method.decode()} {self.target!r} " + ("without end" if self.body is None else f"body of {self.body[0]}")


def summary(body):
    return len(body), bytes(body[:256])


def by_h11(data):
    """What h11 sees in bytes whose sender then ends its side; and whether it found an error.

    Each request gets a parser of its own, so that empty lines between requests are skipped, and HTTP/1.0 can keep a connection: h11
    would end there, and what is behind could not be compared.
    """
    requests = []
    data = data.lstrip(b"\r\n")
    while data:
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
        connection.receive_data(data)
        connection.receive_data(b"")
        body = bytearray()
        try:
            while not isinstance(event := connection.next_event(), h11.EndOfMessage):
                if isinstance(event, h11.Request):
                    requests.append(Seen(event.method, event.target))
                    requests[-1].fields = list(event.headers)
                    keeps_open = keeps_connection(event)
                elif isinstance(event, h11.Data):
                    body += event.data
                else:
                    return requests, False
        except h11.RemoteProtocolError:
            return requests, True
        requests[-1].body = summary(body)
        if not keeps_open:
            break
        data = connection.trailing_data[0].lstrip(b"\r\n")
    return requests, False


def keeps_connection(request):
    options = {option.strip().lower() for name, value in request.headers if name == b"connection" for option in value.split(b",")}
    return b"close" not in options and (request.http_version != b"1.0" or b"keep-alive" in options)


CONFIGURATION = """
global
    maxconn 4000
    tune.bufsize 262144
    tune.maxrewrite 4096
    tune.http.maxhdr 3000
    nbthread 1
defaults
    mode http
    timeout client 20s
    timeout server 20s
    timeout connect 20s
    timeout http-request 20s
    retries 0
    option http-keep-alive
    option disable-h2-upgrade
    http-reuse always
frontend front
    bind fd@{front}
    http-request set-header X-Fuzz-Number %[src_port]
    default_backend back
backend back
    server recorder {place}/back
"""


class Proxy:
    """haproxy with its defaults, larger buffers aside, in front of a process that records the requests it gets."""

    def __init__(self):
        self.place = tempfile.mkdtemp(prefix="fuzz-")
        back = socket.socket(socket.AF_UNIX)
        back.bind(self.place + "/back")
        back.listen(4_000)
        self.records, write_end = os.pipe()
        self.recorder = os.fork()
        if self.recorder == 0:
            os.close(self.records)
            record(back, write_end)
            os._exit(0)
        back.close()
        os.close(write_end)
        front = socket.socket()
        front.bind(("127.0.0.1", 0))
        front.listen(4_000)
        self.address = front.getsockname()
        front.set_inheritable(True)
        with open(self.place + "/haproxy.cfg", "w") as file:
            file.write(CONFIGURATION.format(place=self.place, front=front.fileno()))
        self.process = subprocess.Popen(
            ["haproxy", "-q", "-db", "-f", self.place + "/haproxy.cfg"], pass_fds=[front.fileno()], stderr=subprocess.DEVNULL)
        front.close()

    def end(self):
        self.process.kill()
        self.process.wait()
        os.kill(self.recorder, 9)
        os.waitpid(self.recorder, 0)
        subprocess.run(["rm", "-rf", self.place], check=True)


def record(listener, output):
    """Answers what haproxy forwards, and writes down each header and each end of a body."""
    selector = selectors.DefaultSelector()
    listener.setblocking(False)
    selector.register(listener, selectors.EVENT_READ, None)
    while True:
        for key, _ in selector.select():
            if key.data is None:
                try:
                    connection, _ = listener.accept()
                except BlockingIOError:
                    continue
                connection.setblocking(False)
                selector.register(connection, selectors.EVENT_READ, Forwarded(connection, output))
            elif not key.data.read():
                selector.unregister(key.fileobj)
                key.fileobj.close()


class Forwarded:
    """A connection of haproxy. What haproxy sends is well-formed, so that a short parser is enough."""

    def __init__(self, connection, output):
        self.connection, self.output, self.buffer = connection, output, bytearray()
        self.number = None

    def read(self):
        try:
            data = self.connection.recv(1 << 20)
        except ConnectionError:
            return False
        self.buffer += data
        while data and self.step():
            pass
        return bool(data)

    def write(self, line):
        os.write(self.output, line + b"\n")

    def step(self):
        if self.number is None:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return False
            lines = bytes(self.buffer[:end]).split(b"\r\n")
            del self.buffer[:end + 4]
            self.method, target, _ = lines[0].split(b" ", 2)
            fields = [(name.lower(), value.strip()) for name, _, value in (line.partition(b":") for line in lines[1:])]
            found = dict(fields)
            self.number = found[b"x-fuzz-number"]
            self.write(b"H %b %b %b" % (self.number, self.method, target.hex().encode()))
            self.chunked = b"transfer-encoding" in found
            self.missing = int(found.get(b"content-length", b"0"))
            self.body = bytearray()
        if self.chunked:
            while True:
                end = self.buffer.find(b"\r\n")
                if end < 0:
                    return False
                size = int(self.buffer[:end], 16)
                if size == 0:
                    end = self.buffer.find(b"\r\n\r\n")
                    if end < 0:
                        return False
                    del self.buffer[:end + 4]
                    break
                if len(self.buffer) < end + 4 + size:
                    return False
                self.body += self.buffer[end + 2:end + 2 + size]
                del self.buffer[:end + 4 + size]
        else:
            taken = self.buffer[:self.missing]
            self.body += taken
            del self.buffer[:len(taken)]
            self.missing -= len(taken)
            if self.missing:
                return False
        count, first = summary(self.body)
        self.write(b"E %b %d %b" % (self.number, count, first.hex().encode()))
        status = b"405 No" if self.method == b"CONNECT" else b"200 OK"
        self.number = None
        try:
            self.connection.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n")
        except OSError:
            return False
        return True
