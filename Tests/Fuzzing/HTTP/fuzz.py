"""Sends mutated requests to a server, and compares what it saw with what h11 and haproxy see.

The server is a program that prints "L PORT", and then a line for each header (H PORT METHOD TARGET), for each of its fields
(F PORT NAME VALUE), and for each end of a body (E PORT COUNT FIRST-BYTES), of which PORT is the client's and bytes are hexadecimal.
"""

import argparse
import collections
import os
import re
import subprocess
import sys

import differences
import inputs
import oracles
import peers

BATCH = 64


class Server:
    """The program under test."""

    def __init__(self, program):
        self.process = subprocess.Popen(program, stdout=subprocess.PIPE, bufsize=0)
        self.address = "127.0.0.1", int(self.process.stdout.readline().split()[1])
        self.records = peers.Records(self.process.stdout.fileno())

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self):
        self.process.kill()
        self.process.wait()


class Judge:
    """Sends inputs to the server and to haproxy, and says what is wrong about each."""

    def __init__(self, program):
        self.counts = collections.Counter()
        self.server, self.proxy = Server(program), oracles.Proxy()
        self.forwarded = peers.Records(self.proxy.records)

    def is_alive(self):
        return peers.is_answered(self.server.address, self.server.records)

    def faults(self, cases):
        """The faults of each case: data, its cuts, and whether its connection is reset. A fault is a kind and a text."""
        sent = [(inputs.pieces(data, cuts), resets) for data, cuts, resets in cases]
        mine, silent = peers.run(self.server.address, sent, self.server.records)
        found = [[("silence", "the connection stays open, and nothing comes")] if one in silent else [] for one in mine]
        if not self.is_alive():
            found[-1].append(("deaf", "an honest request behind these inputs is not answered"))
        theirs = peers.ask(self.proxy.address, sent, self.forwarded)
        by_server, by_proxy = self.server.records.take(), self.forwarded.take()
        for case, faults, exchange, other in zip(cases, found, mine, theirs):
            self.counts["inputs"] += 1
            if not case[2]:
                faults += self.compare(case[0], exchange, by_server.get(exchange.port, []), by_proxy.get(other.port, []), other)
        return found

    def compare(self, data, exchange, seen, forwarded, proxied):
        h11_seen, h11_refused = oracles.by_h11(data)
        statuses = peers.responses(exchange.received, seen)
        self.counts["requests"] += len(seen)
        for name, others in ("h11", h11_seen), ("haproxy", forwarded):
            problem = differences.problem(seen, others)
            if problem is None:
                continue
            difference = differences.reason(data, seen, name, problem)
            if difference:
                self.counts[f"accepted, {difference}"] += 1
            else:
                yield f"{name}: {problem[0]}", f"request {problem[1]} of {seen}, {statuses}; {name}: {others}"
        if statuses is None:
            yield "response", f"no well-formed responses: {shown(exchange.received)}"
            return
        complete = [request for request in seen if request.body is not None]
        if len(complete) > len(statuses):
            yield "no answer", f"{seen}, {statuses}"
        if len(statuses) > len(seen) + 1:
            yield "too many answers", f"{seen}, {statuses}"
        proxy_refused = re.search(rb"HTTP/1.[01] (400|5..)", proxied.received)
        by_both = []
        for one, other in zip(h11_seen, forwarded):
            if one.body is None or one.body != other.body:
                break
            by_both.append(one)
        if len(complete) < len(by_both) and not h11_refused and not proxy_refused:
            refusal = differences.refusal(data, complete, by_both)
            self.counts[f"refused, {refusal}"] += 1
            if refusal is None:
                yield "refused", f"{seen}, {statuses}; both oracles: {by_both}"

    def shrink(self, data, kind):
        """A short input that has the same kind of fault."""
        step = len(data) // 2
        while step:
            shorter = [data[:at] + data[at + step:] for at in range(0, len(data), step)]
            for start in range(0, len(shorter), BATCH):
                batch = shorter[start:start + BATCH]
                kinds = self.faults([(one, [], False) for one in batch])
                hits = [one for one, faults in zip(batch, kinds) if any(fault[0] == kind for fault in faults)]
                if hits:
                    data = hits[0]
                    break
            else:
                step //= 2
                continue
            step = min(step, max(len(data) // 2, 1))
        return data

    def end(self):
        self.server.end()
        self.proxy.end()


def shown(data):
    """Bytes as text; long runs of one byte are cut."""
    text = repr(re.sub(rb"(?s)(.)\1{40,}", rb"\1\1\1...\1", bytes(data)))
    return text if len(text) < 1_500 else text[:1_500] + "..."


def run(judge, options):
    """Returns the number of faults."""
    count = 0

    def report(kind, text, index, data):
        nonlocal count
        count += 1
        print(f"FAULT {kind} (--seed {options.seed} --first {index} --count 1)\n    {text}", flush=True)
        if data is not None:
            print(f"    {shown(data)}", flush=True)
            if options.shrink and kind not in ("deaf", "silence"):
                print(f"    shortest: {shown(judge.shrink(data, kind))}", flush=True)

    for _ in range(100):
        if peers.is_answered(judge.proxy.address, judge.forwarded):
            break
    if not judge.is_alive():
        report("deaf", "no answer at the beginning", 0, None)
    before = judge.server.descriptors()
    last = options.first + options.count
    kinds = collections.Counter()
    for start in range(options.first, last, BATCH):
        indices = range(start, min(start + BATCH, last))
        # One connection of sixteen ends with a reset. Only the honest request behind the batch says what that did.
        cases = [inputs.made(options.seed, index) + (index % 16 == 15,) for index in indices]
        for index, case, faults in zip(indices, cases, judge.faults(cases)):
            for kind, text in faults:
                kinds[kind] += 1
                if kinds[kind] <= options.of_a_kind:
                    report(kind, text, index, case[0])
        if count >= options.faults:
            break
    # The server may notice the end of its last connection a moment later than its client.
    if not all(judge.is_alive() for _ in range(3)):
        report("deaf", "no answer at the end", last, None)
    if judge.server.descriptors() > before + 1:
        report("descriptors", f"{before} at the beginning, {judge.server.descriptors()} at the end", last, None)
    for kind, number in sorted(kinds.items()):
        print(f"fault {kind}: {number}")
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", nargs="+", help="the program and its arguments")
    parser.add_argument("--count", type=int, default=20_000, help="inputs (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="index of the first input")
    parser.add_argument("--faults", type=int, default=20, help="ends at this number of faults (%(default)s)")
    parser.add_argument("--of-a-kind", type=int, default=5, help="faults of one kind that are shown (%(default)s)")
    parser.add_argument("--shrink", action="store_true", help="looks for a short input with the same fault")
    options = parser.parse_args()
    judge = Judge(options.server)
    try:
        faults = run(judge, options)
    finally:
        judge.end()
    for name, number in sorted(judge.counts.items()):
        print(f"{name}: {number}")
    print(f"faults: {faults}")
    sys.exit(1 if faults else 0)


main()
