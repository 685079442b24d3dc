internal import RunLoops

/// A recording, converted to the track events that Perfetto reads.
///
/// The field numbers are those of `perfetto/trace/trace_packet.proto` and of the files next to it.
struct PerfettoTrace {
    private var trace = Protobuf()
    private let source: Trace

    var bytes: [UInt8] { trace.bytes }

    private enum Packet {
        static let field = 1
        static let timestamp = 8
        static let sequence = 10
        static let trackEvent = 11
        static let sequenceFlags = 13
        static let trackDescriptor = 60
    }

    private enum Event {
        static let annotation = 4
        static let type = 9
        static let track = 11
        static let name = 23
        static let category = 22
        static let flow = 47
        static let endingFlow = 48
        static let begin: UInt64 = 1
        static let end: UInt64 = 2
        static let instant: UInt64 = 3
    }

    /// The ID of the packet sequence to which all packets belong, because they come from one writer.
    private static let sequence: UInt64 = 1

    init(_ trace: Trace) {
        source = trace
        describeProcess()
        for (index, lane) in trace.threads.enumerated() {
            describe(lane, index)
            write(lane, track: PerfettoTrace.track(of: index))
        }
    }

    /// Returns the number of a thread's track; the numbers begin with 2, because the track of the process has number 1.
    private static func track(of index: Int) -> UInt64 { UInt64(index) + 2 }

    private mutating func packet(_ body: (inout Protobuf) -> Void) {
        trace.message(Packet.field) { packet in
            packet.number(Packet.sequence, PerfettoTrace.sequence)
            body(&packet)
        }
    }

    private mutating func describeProcess() {
        let source = source
        packet { packet in
            // The flag tells Perfetto that the incremental state of the packet sequence begins with this packet.
            packet.number(Packet.sequenceFlags, 1)
            packet.message(Packet.trackDescriptor) { track in
                track.number(1, 1)
                track.message(3) { process in
                    process.number(1, UInt64(source.process))
                    process.string(6, source.program)
                }
            }
        }
    }

    private mutating func describe(_ lane: Trace.Lane, _ index: Int) {
        let process = UInt64(source.process)
        packet { packet in
            packet.message(Packet.trackDescriptor) { track in
                track.number(1, PerfettoTrace.track(of: index))
                track.number(5, 1)
                track.message(4) { thread in
                    thread.number(1, process)
                    thread.number(2, UInt64(lane.id == 0 ? Int32(index) : lane.id))
                    thread.string(5, lane.name)
                }
            }
        }
    }

    private mutating func write(_ lane: Trace.Lane, track: UInt64) {
        var open: [Int64] = []
        for item in lane.items {
            while open.count > item.depth, let end = open.popLast() { writeEnd(at: end, track) }
            write(item, track)
            if let end = item.end { open.append(end) }
        }
        while let end = open.popLast() { writeEnd(at: end, track) }
    }

    private mutating func writeEnd(at time: Int64, _ track: UInt64) {
        packet { packet in
            packet.number(Packet.timestamp, UInt64(max(0, time)))
            packet.message(Packet.trackEvent) { event in
                event.number(Event.type, Event.end)
                event.number(Event.track, track)
            }
        }
    }

    private mutating func write(_ item: Trace.Item, _ track: UInt64) {
        packet { packet in
            packet.number(Packet.timestamp, UInt64(max(0, item.start)))
            packet.message(Packet.trackEvent) { event in
                event.number(Event.type, item.end == nil ? Event.instant : Event.begin)
                event.number(Event.track, track)
                event.string(Event.name, item.event.title)
                event.string(Event.category, item.event.kind.word)
                if let flow = item.flow {
                    event.fixed(item.event.kind.isInstant ? Event.flow : Event.endingFlow, flow)
                }
                for (name, value) in item.particulars {
                    event.message(Event.annotation) { annotation in
                        annotation.string(10, name)
                        switch value {
                        case .number(let number): annotation.number(4, UInt64(bitPattern: number))
                        case .text(let text): annotation.string(6, text)
                        }
                    }
                }
            }
        }
    }
}
