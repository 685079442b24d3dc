"""Connections that send inputs in pieces, many at a time, and the records of those who got them."""

import os
import select
import socket

from oracles import Seen

SILENCE = 20.0
"""How long a connection may say nothing, in seconds, before it counts as silent. It only catches hangs."""


class Records:
    """The lines that a recording process writes: what it has seen on each connection, by the port of its client."""

    def __init__(self, descriptor):
        self.descriptor, self.rest, self.seen = descriptor, b"", {}
        self.refused = set()

    def read(self):
        data = os.read(self.descriptor, 1 << 20)
        if not data:
            raise SystemExit("a recording process has ended")
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            kind, port, *words = line.split(b" ")
            port = int(port)
            if kind == b"H":
                self.seen.setdefault(port, []).append(Seen(words[0], bytes.fromhex(words[1].decode())))
            elif kind == b"F":
                seen = self.seen[port][-1]
                seen.fields = (seen.fields or []) + [tuple(bytes.fromhex(word.decode()) for word in words[:2])]
            elif kind == b"E":
                self.seen[port][-1].body = int(words[0]), bytes.fromhex(words[1].decode())

    def take(self):
        seen, self.seen = self.seen, {}
        return seen


class Exchange:
    """A connection that sends an input: its pieces, and the bytes that came back."""

    def __init__(self, address, parts, resets=False):
        self.socket = socket.create_connection(address)
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port = self.socket.getsockname()[1]
        self.parts, self.unsent, self.received, self.resets = list(parts), b"", bytearray(), resets
        self.is_open = True

    def send(self):
        """Sends the next piece, or what the kernel did not take before. Returns false at the end."""
        if not self.unsent:
            if not self.parts:
                return False
            self.unsent = self.parts.pop(0)
        try:
            self.unsent = self.unsent[self.socket.send(self.unsent):]
        except BlockingIOError:
            pass
        except OSError:  # The server has closed; what it has said is still read.
            self.parts, self.unsent = [], b""
        return True

    def finish(self):
        if self.resets:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self.close()
            return
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def receive(self):
        try:
            data = self.socket.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.received += data
        if not data:
            self.close()

    def close(self):
        self.is_open = False
        self.socket.close()


HONEST = b"GET /honest HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


class Batch:
    """Inputs on connections of their own, sent piece by piece in turn: the others' pieces let the server read each by itself."""

    def __init__(self, address, inputs, records):
        self.address, self.records = address, records
        self.poll = select.epoll()
        self.poll.register(records.descriptor, select.EPOLLIN)
        self.open = {}
        self.exchanges = [self.begin(parts, resets) for parts, resets in inputs]

    def begin(self, parts, resets=False):
        exchange = Exchange(self.address, parts, resets)
        self.open[exchange.socket.fileno()] = exchange
        self.poll.register(exchange.socket.fileno(), select.EPOLLIN)
        return exchange

    def serve(self, timeout):
        """Reads what has come. Returns the connections on which something has happened."""
        happened = []
        events = self.poll.poll(timeout)
        for descriptor, _ in events:
            if descriptor == self.records.descriptor:
                self.records.read()
            else:
                exchange = self.open[descriptor]
                exchange.receive()
                happened.append(exchange)
                if not exchange.is_open:
                    del self.open[descriptor]
        return happened if events else None

    def send(self, ends):
        """Sends all pieces, and then ends the sending sides, or resets."""
        sending = list(self.exchanges)
        while sending:
            going_on = []
            for exchange in sending:
                descriptor = exchange.socket.fileno()
                if exchange.is_open and exchange.send():
                    going_on.append(exchange)
                elif exchange.is_open and (ends or exchange.resets):
                    exchange.finish()
                    if not exchange.is_open:
                        del self.open[descriptor]
            sending = going_on
            self.serve(0)

    def wait(self):
        """Waits until all connections are closed, and returns those that stay silent."""
        while self.open and self.serve(SILENCE) is not None:
            pass
        return self.close()

    def settle(self):
        """Waits until twice nothing happens on any connection while an honest request is answered; then closes all."""
        quiet = 0
        while self.open and quiet < 2:
            honest = self.begin([HONEST])
            honest.send()
            quiet += 1
            while honest.is_open:
                happened = self.serve(SILENCE)
                if happened is None:
                    raise SystemExit("haproxy is silent")
                if any(exchange is not honest for exchange in happened):
                    quiet = 0
        self.close()

    def close(self):
        rest = list(self.open.values())
        for exchange in rest:
            exchange.close()
        self.open = {}
        self.poll.close()
        return rest


def run(address, inputs, records):
    """Sends inputs, and ends the sending sides. Returns the connections, and those that the server leaves open in silence."""
    batch = Batch(address, inputs, records)
    batch.send(ends=True)
    return batch.exchanges, batch.wait()


def ask(address, inputs, records):
    """Sends inputs, and closes the connections only when nothing happens any more: with its end, haproxy may drop waiting requests."""
    batch = Batch(address, inputs, records)
    batch.send(ends=False)
    batch.settle()
    is_answered(address, records)
    return batch.exchanges


def is_answered(address, records):
    """Whether an honest request on a new connection gets an answer. What was recorded before it has been read then."""
    exchanges, silent = run(address, [([HONEST], False)], records)
    return not silent and exchanges[0].received.startswith(b"HTTP/1.1 200 ")


def responses(data, seen):
    """The statuses of the final responses in bytes that a server has sent; None if the bytes are something else.

    - seen: the requests that were answered, for their methods.
    """
    statuses, rest = [], bytes(data)
    while rest:
        head, end, rest = rest.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        if not end or not lines[0].startswith(b"HTTP/1.1 ") or not lines[0][9:12].isdigit():
            return None
        status = int(lines[0][9:12])
        if status == 100:
            continue
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines[1:])}
        method = seen[len(statuses)].method if len(statuses) < len(seen) else b"GET"
        statuses.append(status)
        if method == b"HEAD" or status in (204, 304):
            continue
        if status == 101:
            return statuses
        if b"transfer-encoding" in fields:
            return None
        count = int(fields.get(b"content-length", b"0"))
        if len(rest) < count:
            return None
        rest = rest[count:]
    return statuses
