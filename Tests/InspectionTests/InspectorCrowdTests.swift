import Foundation
import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import Inspection

/// Many who connect to an inspector, or to the page of the program, and do not read or say anything.
@Suite(.serialized, .disabled(if: ForcedRecording.isOn)) struct InspectorCrowdTests {
    private static let inspected = Program("Inspected")
    private static let unread = Program("PortPeer")

    @Test func `answers that nobody reads hold no descriptors of the process`() throws {
        try Self.inspected.whileRunning("idle") { process, _ in
            let before = try descriptors(of: process)
            var after = 0
            // Four processes with four connections each, which are all the connections that there are.
            try whileUnread(4, process) { after = try descriptors(of: process) }
            // The connections, the answers that are current, and those that were replaced.
            #expect(after <= before + 16 + 12, "\(after) descriptors, and \(before) before")
            #expect(try RemoteInspector(processID: process).report().processID == process)
        }
    }

    private func descriptors(of process: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }

    private func whileUnread(_ count: Int, _ process: Int32, _ body: () throws -> Void) throws {
        if count == 0 { return try body() }
        try Self.unread.whileRunning("unread", "\(Inspector.prefix)\(process)") { _, line in
            #expect(line == "asked on 4\n")
            try whileUnread(count - 1, process, body)
        }
    }

    @Test func `connections that say nothing do not keep a browser from the page`() throws {
        try Self.inspected.whileRunning("idle") { process, _ in
            try Program("runloop-inspect").whileRunning("\(process)", "--serve") { server, line in
                defer { kill(server, SIGKILL) }
                let address = try #require(line.firstMatch(of: /http:..127.0.0.1:([0-9]+)(\/[0-9a-z]+)/))
                let port = try #require(UInt16(address.output.1))
                var silent: [CInt] = []
                defer { for socket in silent { Loopback.close(socket) } }
                for round in 0..<300 {
                    silent.append(try Loopback.connect(to: port))
                    // More than the listener's backlog at once would be dropped by the kernel, and tried again after a second.
                    if round % 50 == 49 { try get(port, "/", expect: "404 Not Found") }
                }
                try get(port, String(address.output.2), expect: "200 OK")
            }
        }
    }

    private func get(_ port: UInt16, _ path: String, expect status: String) throws {
        let socket = try Loopback.connect(to: port)
        defer { Loopback.close(socket) }
        var request = Array("GET \(path) HTTP/1.1\r\n\r\n".utf8)[...]
        var answer: [UInt8] = []
        let deadline = ContinuousClock.now + .seconds(60)
        var isOver = false
        while !isOver, ContinuousClock.now < deadline {
            var entry = pollfd(fd: socket, events: Int16(request.isEmpty ? POLLIN : POLLOUT), revents: 0)
            // Safe: the kernel fills a local variable.
            _ = unsafe poll(&entry, 1, 1_000)
            if entry.revents == 0 { continue }
            if !request.isEmpty {
                request = request.dropFirst(try Loopback.write(request, to: socket))
            } else if let bytes = try Loopback.read(socket) {
                answer += bytes
                isOver = bytes.isEmpty
            }
        }
        #expect(isOver && answer.starts(with: "HTTP/1.1 \(status)\r\n".utf8))
    }
}
