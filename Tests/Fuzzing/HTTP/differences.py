"""How the server may differ from the oracles, each with the reason."""

import re

METHODS = b"GET HEAD POST PUT DELETE OPTIONS PATCH TRACE".split()


def origin_form(target):
    """The path and query of a target, whatever its form."""
    match = re.match(rb"(?i)https?://[^/?#]*", target)
    if match:
        target = target[match.end():]
        if not target.startswith(b"/"):
            target = b"/" + target
    return target.partition(b"#")[0]


def known_fields(request):
    """The fields of a request as the server shows them: without the host, whose rules are its own, and with repaired UTF-8."""
    fields = [(name.lower(), value.decode(errors="replace")) for name, value in request.fields or [] if name.lower() != b"host"]
    # h11 writes the name of a coding in small letters.
    return [(name, value.lower() if name == b"transfer-encoding" else value) for name, value in fields]


def problem(seen, others):
    """The first request of the server that differs from what the oracle saw, as a kind and an index; None if there is none."""
    for index, mine in enumerate(seen):
        if index >= len(others):
            return "not seen", index
        other = others[index]
        if mine.method != other.method:
            return "another method", index
        if origin_form(mine.target) != origin_form(other.target):
            return "another target", index
        if other.fields is not None and known_fields(mine) != known_fields(other):
            return "other fields", index
        if mine.body is not None and mine.body != other.body:
            return "another body" if other.body else "no end", index
    return None


def reason(data, seen, name, problem):
    """Why the server may accept a request that the oracle does not see; None if it may not."""
    kind, index = problem
    if name == "h11" and kind == "no end" and re.search(rb"(?m)^[0-9a-fA-F]{21}", data):
        return "h11: the size of a chunk with more than 20 digits"
    if kind != "not seen":
        return None
    mine = seen[index]
    if re.search(rb" (RTSP|ICE)/1\.0\r", data):
        return f"{name}: RTSP and ICE, which llhttp takes for HTTP/1.0"
    if name == "h11":
        if re.search(re.escape(mine.method) + rb"(  +" + re.escape(mine.target) + rb"| " + re.escape(mine.target) + rb"  )", data):
            return "h11: two blanks in a request line"
        return None
    # It forwards a header only once it has the first line of chunks. Nobody has the request without its end.
    if mine.body is None and index == len(seen) - 1:
        return "haproxy: a header whose body is refused or cut"
    # It reads the query as a part of the authority.
    if re.match(rb"(?i)https?://[^/?#]*[?#]", mine.target):
        return "haproxy: an absolute target without a path"
    # It wants both to be the same, where the rule is that the authority counts.
    match = re.match(rb"(?i)https?://([^/?#]*)", mine.target)
    if match and any(host.strip().lower() != match[1].lower() for host in re.findall(rb"(?im)^host:(.*)$", data)):
        return "haproxy: a host other than the authority of the target"
    # It looks into the hand-shake.
    if re.search(rb"(?i)upgrade:[ \t]*websocket", data):
        return "haproxy: a hand-shake of WebSocket without its key"
    if mine.method in (b"GET", b"HEAD", b"DELETE") and mine.body != (0, b"") and b"HTTP/1.0" in data:
        return "haproxy: a body of HTTP/1.0 that old servers do not read"
    if re.search(rb"n{150}", data):
        return "haproxy: a long name of a field"
    # llhttp skips line breaks of all kinds in front of a request, and no body ends with them.
    start = rb"([\r\n]*)" + re.escape(mine.method) + rb" +" + re.escape(mine.target) + rb" "
    if any(breaks.replace(b"\r\n", b"") for breaks in re.findall(start, data)):
        return "haproxy: bare CR or LF in front of a request"
    return None


def refusal(data, complete, by_both):
    """Why the server refuses what both oracles accept; None if there is no reason."""
    refused = by_both[len(complete)]
    checks = [
        ("a method that the parser does not know, or CONNECT", refused.method not in METHODS),
        ("a bare LF or CR", re.search(rb"(?:^|[^\r])\n|\r(?!\n)", data)),
        ("an expectation other than 100-continue", re.search(rb"(?i)expect:(?![ \t]*100-continue[ \t]*\r)", data)),
        ("a folded field", re.search(rb"\n[ \t]", data)),
        ("a length beside chunks", re.search(rb"(?i)content-length", data) and re.search(rb"(?i)transfer-encoding", data)),
        ("two lengths", len(re.findall(rb"(?i)content-length", data)) > 1),
        ("a list of lengths", re.search(rb"(?i)content-length:[^\r]*,", data)),
        ("a version other than 1.0 and 1.1", re.search(rb" HTTP/(?!1\.[01]\r)", data)),
        ("a control character in a field", re.search(rb"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]", data)),
        ("a long header", re.search(rb"n{4000}|v{4000}|p{4000}", data) or data.count(b"\nX-") > 60),
        ("a Proxy-Connection that closes, which llhttp takes for Connection", re.search(rb"(?i)proxy-connection:.*close", data)),
        ("a wrong host or authority", any(name == b"host" and value != b"a" for name, value in refused.fields) or b"http://" in data),
        ("a target with a byte outside ASCII", any(byte > 126 for byte in refused.target)),
        ("a target that is no path", refused.target[:1] != b"/" or b"#" in refused.target),
        ("chunks of HTTP/1.0", re.search(rb"(?i) HTTP/1\.0(?s:.*)transfer-encoding", data)),
        ("an upgrade, behind which the connection ends", re.search(rb"(?i)upgrade", data)),
        ("white space or an extension behind a chunk's size", re.search(rb"(?m)^[0-9a-fA-F]+([ \t]|;)", data)),
        ("a tab in a framing field", re.search(rb"(?i)(content-length|transfer-encoding)[^\n]*\t", data)),
    ]
    return next((name for name, holds in checks if holds), None)
