"""The inputs of the fuzzer: valid requests of many shapes, and what changes them. A seed and an index repeat an input."""

import random

HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
"""A request that is the body of another one. Who loses count of a body sees it."""

METHODS = [b"GET", b"POST", b"PUT", b"DELETE", b"HEAD", b"OPTIONS", b"PATCH"]
TARGETS = [b"/", b"/a", b"/a/b?c=d&e", b"/%41%2f..", b"http://a/b?c", b"http://a", b"http://a?x", b"/a//b/../c", b"/?"]
FIELDS = [
    b"Accept: */*", b"X: 1", b"X-Empty:", b"User-Agent: a b\tc", b"Cookie: a=b; c=\"d, e\"", b"Accept-Encoding: gzip, br",
    b"Connection: keep-alive", b"X-Obs: \xe4\xff", b"Content-Type: text/plain; charset=utf-8", b"TE: trailers", b"X:\t v \t",
]
VALUES = [
    b"", b"chunked", b"Chunked", b"chunked ", b"\tchunked", b"\x0bchunked", b"chunked, identity", b"identity, chunked", b"xchunked",
    b"chunked;a=b", b"chunked,", b",chunked", b"chunked, chunked", b"gzip, chunked", b"\"chunked\"", b"identity", b"gzip", b"chun\x00ked",
    b"chunked\r\n x", b"close", b"keep-alive", b"upgrade", b"close, keep-alive", b"Transfer-Encoding", b"Content-Length", b"a, b",
    b"0", b"1", b"5", b"35", b"+5", b"-1", b"05", b"0x5", b"5 5", b"5,5", b"5, 6", b"5\x00", b"5;", b"1e1", b"\xb2", b"5.0", b"_5", b"1_0",
    b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"18446744073709551621", b"99999999999999999999999",
    b"100-continue", b"100-Continue", b"websocket", b"h2c", b"a:80", b"a b", b"a/b", b"a@b", b"[::1]", b"a:99999", b"a,b",
]
NAMES = [
    b"Host", b"Content-Length", b"content-length", b"CONTENT-LENGTH", b"Content_Length", b"Transfer-Encoding", b"transfer-encoding",
    b"Transfer_Encoding", b"Connection", b"Upgrade", b"Expect", b"Trailer", b"X", b"Content-Length ", b" Content-Length", b"\tHost",
    b"Transfer-Encoding\t", b"Content-Length\x00", b"Content\xadLength", b"", b"X(y)", b"X\x7f", b"Content-Length\x0b", b"Sec-WebSocket-Key",
    b"Keep-Alive", b"Proxy-Connection", b"HTTP2-Settings", b"TE", b"Transfer-Encoding:", b"Content-Length\r",
]
SIZES = [
    b"0", b"00", b"000000000", b"5", b"05", b"0000000000000000000000005", b"+5", b"-5", b"0x5", b"5x", b"5 ", b" 5", b"\t5", b"5\t", b"5;", b"5;a",
    b"5;a=b", b"5;a=\"b\"", b"5;a=\"\r\n\"", b"5;a=\"\\\"", b"5; a = b", b"5 ;a", b"5;a;b=c", b"5;\n", b"5;\x00", b"5;\r", b"5;a\nb", b"5;a\rb", b"5;;",
    b"5;=", b"5;a=", b"5;a=\"b", b"5,5", b"A", b"a", b"g", b"", b";a", b"5\x00", b"5.", b"5_0", b"7fffffff", b"80000000", b"ffffffff",
    b"100000005", b"7fffffffffffffff", b"8000000000000000", b"ffffffffffffffff", b"10000000000000000", b"10000000000000005",
    b"fffffffffffffffffffffffff", b"5" + b";x" * 40, b"5;" + b"y" * 300, b"5;a=\"\xff\"", b"5;a\x7f", b"\xef\xbc\x95",
]
ENDS = [b"\r\n", b"\n", b"\r", b"\r\r\n", b"\n\r", b"\r\n\r\n", b"\n\n", b"", b" \r\n", b"\r\n ", b"\r\n\t", b"\x00\r\n", b"\x0b", b"\x0c", b"\x85", b"\r\x00\n"]
ODD = [bytes([byte]) for byte in b"\x00\x01\x08\t\n\x0b\x0c\r\x1b \x22#%(),/:;<=>?@[\\]{}\x7f\x80\x85\xa0\xff"]
LINES = [
    b"GET / HTTP/1.0", b"GET /", b"GET", b"", b"get / HTTP/1.1", b"GET  / HTTP/1.1", b"GET / HTTP/1.1 ", b" GET / HTTP/1.1", b"GET\t/ HTTP/1.1",
    b"GET / HTTP/1.2", b"GET / HTTP/2.0", b"GET / HTTP/11.1", b"GET / HTTP/1.10", b"GET / http/1.1", b"GET / HTTP/ 1.1", b"GET / HTTP/1", b"GET / HTTP/0.9",
    b"GET /a b HTTP/1.1", b"GET /\xff HTTP/1.1", b"GET * HTTP/1.1", b"OPTIONS * HTTP/1.1", b"CONNECT a:80 HTTP/1.1", b"CONNECT / HTTP/1.1",
    b"GET a:80 HTTP/1.1", b"GET a HTTP/1.1", b"GET //a/b HTTP/1.1", b"GET http:///b HTTP/1.1", b"GET http://b/ HTTP/1.1", b"GET http://a:80/ HTTP/1.1",
    b"GET HTTP://A/ HTTP/1.1", b"GET ftp://a/ HTTP/1.1", b"GET http://u@a/ HTTP/1.1", b"GET /#f HTTP/1.1", b"GET http://a#f HTTP/1.1", b"G\x00T / HTTP/1.1",
    b"PRI * HTTP/2.0", b"M-SEARCH * HTTP/1.1", b"GET / ICE/1.0", b"SOURCE / ICE/1.0", b"GET / RTSP/1.0", b"QUERY / HTTP/1.1", b"FOO / HTTP/1.1", b"G@T / HTTP/1.1",
    b"PURGE / HTTP/1.1", b"ANNOUNCE / HTTP/1.1", b"GET / HTTP/1.1\x00", b"GET /\x7f HTTP/1.1", b"GET ?a HTTP/1.1", b"GET http:/b HTTP/1.1", b"GET \xe4 HTTP/1.1",
]


class Request:
    """A request whose parts can be changed one by one: a line, lines of fields, and pieces of the body."""

    def __init__(self, line, fields, body=(), end=b"\r\n"):
        self.line, self.fields, self.body, self.end = line, list(fields), list(body), end

    def bytes(self):
        return self.line + b"\r\n" + b"".join(field + b"\r\n" for field in self.fields) + self.end + b"".join(self.body)


def chunk(size, data, end=b"\r\n"):
    return [size, b"\r\n", data, end]


def valid(r):
    """A valid request."""
    shape = r.randrange(12)
    fields = [b"Host: a"] + r.sample(FIELDS, r.randrange(4))
    method, target = r.choice(METHODS), r.choice(TARGETS)
    line = method + b" " + target + b" HTTP/1.1"
    if shape < 3:
        return Request(line, fields)
    if shape == 3:
        return Request(r.choice([b"GET", b"HEAD", b"POST"]) + b" /old HTTP/1.0", fields[r.randrange(2):] + [b"Connection: keep-alive"] * r.randrange(2))
    if shape == 4:
        upgrade = [b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
        return Request(b"GET /ws HTTP/1.1", fields + upgrade)
    if shape == 5:
        return Request(r.choice([b"OPTIONS * HTTP/1.1", b"CONNECT a:80 HTTP/1.1", b"OPTIONS http://a HTTP/1.1"]), fields)
    content = r.choice([b"", b"hello", HIDDEN, HIDDEN + b"x", b"0\r\n\r\n" + HIDDEN, b"x" * r.choice([1, 15, 16, 17, 255, 4_000])])
    expect = [b"Expect: 100-continue"] * (r.randrange(8) == 0)
    if shape < 8:
        return Request(b"POST " + target + b" HTTP/1.1", fields + expect + [b"Content-Length: %d" % len(content)], [content])
    body, rest = [], content
    while rest:
        count = r.randint(1, len(rest))
        size = b"%x" % count if r.randrange(2) else b"%X" % count
        body += chunk(size + r.choice([b"", b"", b";a", b";a=b", b";a=\"b c\""]), rest[:count])
        rest = rest[count:]
    trailers = r.choice([[], [], [b"X-End: 1\r\n"], [b"A: b\r\n", b"C: d\r\n"]])
    return Request(
        b"POST " + target + b" HTTP/1.1", fields + expect + [b"Transfer-Encoding: chunked"], body + [b"0", b"\r\n"] + trailers + [b"\r\n"])


def changed(request, r):
    """Changes one part of a request."""
    kind = r.randrange(16)
    fields, body = request.fields, request.body
    if kind == 0:
        request.line = r.choice(LINES)
    elif kind == 1:
        fields.insert(r.randint(0, len(fields)), r.choice(NAMES) + b": " + r.choice(VALUES))
    elif kind == 2:
        framing = [i for i, field in enumerate(fields) if field[:2] in (b"Co", b"Tr", b"Ho")]
        index = r.choice(framing) if framing else 0
        if fields:
            fields[index] = fields[index].partition(b":")[0] + r.choice([b":", b": ", b":\t", b" :", b"\t: ", b"::", b" "]) + r.choice(VALUES)
    elif kind == 3 and fields:
        fields.insert(r.randint(0, len(fields)), r.choice(fields))
    elif kind == 4 and fields:
        del fields[r.randrange(len(fields))]
    elif kind == 5 and fields:
        index = r.randrange(len(fields))
        at = r.randint(0, len(fields[index]))
        fields[index] = fields[index][:at] + r.choice(ENDS + ODD) + fields[index][at:]
    elif kind == 6 and fields:
        index = r.randrange(len(fields))
        name, _, value = fields[index].partition(b":")
        fields[index] = r.choice([
            name + b":\r\n " + value, name + b":" + value + b"\r\n\t", name + b" :" + value, b" " + fields[index], name + b"\r\n:" + value, name + b"\n:" + value,
            name + b":" + value + r.choice(ENDS) + r.choice(FIELDS), name, name + b";" + value, name.swapcase() + b":" + value,
        ])
    elif kind == 7:
        fields.insert(r.randint(0, len(fields)), b"Content-Length: " + r.choice([b"%d" % r.randrange(60), r.choice(VALUES)]))
    elif kind == 8:
        name = r.choice([b"Transfer-Encoding", b"transfer-encoding", b"Transfer-Encoding ", b"Transfer-Encoding\x00", b"X-Transfer-Encoding"])
        fields.insert(r.randint(0, len(fields)), name + b":" + r.choice(VALUES))
    elif kind == 9:
        request.end = r.choice(ENDS)
    elif kind in (10, 11, 12) and len(body) > 1:
        index = r.randrange(len(body))
        piece = body[index]
        if piece in (b"\r\n", b"\n"):
            body[index] = r.choice(ENDS)
        elif len(piece) < 12 or piece[:1].isalnum() and b";" in piece[:4]:
            body[index] = r.choice(SIZES)
        else:
            body[index] = piece[r.randint(0, 2):] + b"x" * r.randrange(2)
    elif kind == 13 and body:
        index = r.randrange(len(body))
        if r.randrange(2):
            del body[index]
        else:
            body.insert(index, r.choice(SIZES + ENDS + [HIDDEN]))
    elif kind == 14:
        long = r.choice([200, 4_000, 9_000, 40_000, 90_000])
        place = r.randrange(4)
        if place == 0:
            fields.append(b"X-Long: " + b"v" * long)
        elif place == 1:
            request.line = b"GET /" + b"p" * long + b" HTTP/1.1"
        elif place == 2:
            fields.append(b"n" * long + b": 1")
        else:
            fields += [b"X-%d: 1" % i for i in range(long // 40)]
    else:
        request.line = request.line.replace(b"POST", r.choice(METHODS)).replace(b"1.1", r.choice([b"1.1", b"1.0"]))


def made(seed, index):
    """One input: bytes, and the places at which they are cut into several writes."""
    r = random.Random(seed * 1_000_003 + index)
    requests = [valid(r) for _ in range(r.choice([1, 1, 1, 2, 2, 3]))]
    for _ in range(r.choice([0, 1, 1, 1, 1, 2, 3])):
        changed(r.choice(requests), r)
    data = b"".join(request.bytes() for request in requests)
    kind = r.randrange(20)
    if kind < 3 and data:  # One byte.
        at = r.randrange(len(data))
        data = data[:at] + r.choice(ODD + ENDS) + data[at + r.randrange(2):]
    elif kind == 3:  # The end is missing.
        data = data[:r.randint(0, len(data))]
    elif kind == 4:  # The beginning of one input, the end of another.
        other = valid(r).bytes()
        data = data[:r.randint(0, len(data))] + other[r.randint(0, len(other)):]
    elif kind == 5:  # A part twice.
        first, last = sorted((r.randint(0, len(data)), r.randint(0, len(data))))
        data = data[:last] + data[first:]
    elif kind == 6:
        data = r.choice([b"\r\n", b"\n", b"\r", b" ", b"\x00", b"\xef\xbb\xbf", b"\r\n\r\n\r\n"]) + data
    if r.randrange(2):
        data += HIDDEN.replace(b"hidden", b"last")
    cuts = sorted({r.randint(1, len(data)) for _ in range(r.choice([0, 1, 2, 5, 5]))}) if data else []
    return data, cuts


def pieces(data, cuts):
    return [data[start:end] for start, end in zip([0] + cuts, cuts + [len(data)]) if start < end]
