import Foundation
import RunLoops
import TestSupport
import Testing

@testable import Inspection

/// Recordings as files.
@Suite(.disabled(if: ForcedRecording.isOn)) struct ExportTests {
    /// A recording of two loops that send each other blocks, with nested runs, intervals and marks.
    ///
    /// In the memory of one byte, the loops overwrite their first events.
    private static func recording(atMost bytes: Int = 8 << 20) throws -> FlightRecorder.Snapshot {
        let recorder = try FlightRecorder(byteLimit: bytes, detail: .everything)
        defer { recorder.stop() }
        let threads = try ["left", "right"].map { try RunLoopThread(name: $0) }
        let done = Gate()
        @Sendable func bounce(_ count: Int, to index: Int) {
            threads[index].runLoop.perform {
                if count == 0 { return done.open() }
                recorder.interval("work") {
                    recorder.mark("</script><b>&\"\\")
                    threads[index].runLoop.perform {}
                    RunLoop.current.run(until: ContinuousClock.now)
                }
                bounce(count - 1, to: 1 - index)
            }
        }
        bounce(bytes == 1 ? 200 : 50, to: 0)
        #expect(done.wait())
        let snapshot = recorder.snapshot()
        threads.forEach { $0.stop() }
        return snapshot
    }

    // Guarantees: In a recording that is written, slices are nested, and every arrow has both ends.
    @Test(arguments: [8 << 20, 1])
    func `slices are nested, and lie within those around them`(bytes: Int) throws {
        let trace = Trace(try ExportTests.recording(atMost: bytes))
        #expect(trace.threads.contains { $0.lacksEvents } == (bytes == 1))
        #expect(trace.threads.contains { $0.items.contains { $0.depth >= 4 } })
        for lane in trace.threads {
            var around: [Trace.Item] = []
            for item in lane.items {
                #expect(item.depth <= around.count)
                around.removeLast(around.count - item.depth)
                for outer in around {
                    #expect(outer.start <= item.start)
                    #expect(item.end ?? item.start <= outer.end ?? .max)
                }
                if let end = item.end {
                    #expect(end >= item.start)
                    around.append(item)
                }
            }
            #expect(lane.items.map(\.start) == lane.items.map(\.start).sorted())
        }
    }

    // Guarantees: In a recording that is written, slices are nested, and every arrow has both ends.
    @Test(arguments: [8 << 20, 1])
    func `every arrow has both ends, and a post without a handler is marked`(bytes: Int) throws {
        let trace = Trace(try ExportTests.recording(atMost: bytes))
        let items = trace.threads.flatMap(\.items)
        let begun = Set(items.filter { $0.end == nil }.compactMap(\.flow))
        let ended = Set(items.filter { $0.end != nil }.compactMap(\.flow))
        #expect(begun == ended)
        #expect(begun.count >= (bytes == 1 ? 10 : 50))
        for item in items where item.event.flow != nil && item.end == nil {
            #expect(item.isFlowOpen == (item.flow == nil))
        }
    }

    @Test func `Chrome's form is JSON, with a name for each thread`() throws {
        let snapshot = try ExportTests.recording()
        let decoded = try JSONSerialization.jsonObject(with: Data(snapshot.bytes(as: .chromeJSON)))
        let events = try #require((decoded as? [String: Any])?["traceEvents"] as? [[String: Any]])
        let names = events.filter { $0["name"] as? String == "thread_name" }
        #expect(names.count == snapshot.threads.count)
        #expect(events.contains { $0["name"] as? String == "</script><b>&\"\\" })
        #expect(events.allSatisfy { $0["ph"] as? String != "X" || $0["dur"] is NSNumber })
    }

    @Test(arguments: [8 << 20, 1])
    func `Perfetto's form has as many ends as beginnings, in the order of time`(bytes: Int) throws {
        let snapshot = try ExportTests.recording(atMost: bytes)
        var depth: [UInt64: Int] = [:]
        var last: [UInt64: UInt64] = [:]
        var count = 0
        for packet in ProtobufReader(snapshot.bytes(as: .perfetto)).fields where packet.number == 1 {
            let fields = ProtobufReader(packet.bytes).fields
            guard let event = fields.first(where: { $0.number == 11 }) else { continue }
            let time = try #require(fields.first { $0.number == 8 }).value
            let parts = ProtobufReader(event.bytes).fields
            let track = try #require(parts.first { $0.number == 11 }).value
            let type = try #require(parts.first { $0.number == 9 }).value
            #expect(time >= last[track, default: 0])
            last[track] = time
            if type == 1 { depth[track, default: 0] += 1 }
            if type == 2 { depth[track, default: 0] -= 1 }
            #expect(depth[track, default: 0] >= 0)
            count += 1
        }
        #expect(count > 200)
        #expect(depth.values.allSatisfy { $0 == 0 })
    }

    // Guarantees: The text of a mark cannot change the page that shows the mark.
    @Test func `the page loads nothing, and a mark cannot break out of its script`() throws {
        let page = String(decoding: try ExportTests.recording().bytes(as: .page), as: UTF8.self)
        #expect(page.contains("default-src 'none'"))
        #expect(!page.contains("http:") && !page.contains("https:") && !page.contains("src="))
        #expect(page.components(separatedBy: "</script>").count == 3)
        #expect(page.contains("\\u003c/script>\\u003cb>&\\\"\\\\"))
    }

    @Test func `what the disk does not take is an error, and a closed descriptor, too`() throws {
        let snapshot = try ExportTests.recording()
        // Safe: the function only reads the string.
        let full = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        #expect(throws: SystemError.self) { try snapshot.write(to: full, as: .chromeJSON) }
        #expect(throws: SystemError.self) { try snapshot.write(to: -1, as: .page) }
    }

    @Test func `a pipe that is slow to be read gets all bytes`() throws {
        let snapshot = try ExportTests.recording()
        let wire = try Wire.pipe()
        let expected = snapshot.bytes(as: .page)
        let writer = try BareThread {
            try? snapshot.write(to: wire.far, as: .page)
            wire.close(wire.far)
        }
        var read: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1_000)
        while true {
            var entry = pollfd(fd: wire.near, events: Int16(POLLIN), revents: 0)
            // Safe, both: the kernel fills local variables.
            unsafe poll(&entry, 1, -1)
            let count = unsafe Glibc.read(wire.near, &buffer, buffer.count)
            if count <= 0 { break }
            read += buffer.prefix(count)
        }
        writer.join()
        wire.close()
        #expect(read == expected)
    }
}

/// The fields of a message of protocol buffers.
private struct ProtobufReader {
    struct Field {
        let number: Int
        var value: UInt64 = 0
        var bytes: [UInt8] = []
    }

    private(set) var fields: [Field] = []

    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        func varint() -> UInt64 {
            var value: UInt64 = 0
            var shift: UInt64 = 0
            while let byte = rest.popFirst() {
                value |= UInt64(byte & 0x7f) << shift
                if byte < 0x80 { break }
                shift += 7
            }
            return value
        }
        while !rest.isEmpty {
            let key = varint()
            var field = Field(number: Int(key >> 3))
            switch key & 7 {
            case 0: field.value = varint()
            case 1:
                for shift in stride(from: UInt64(0), to: 64, by: 8) {
                    field.value |= UInt64(rest.removeFirst()) << shift
                }
            default:
                let count = Int(varint())
                field.bytes = Array(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            fields.append(field)
        }
    }
}
