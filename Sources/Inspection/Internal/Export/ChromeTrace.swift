internal import RunLoops

/// A recording, converted to the JSON that Chrome's trace viewer reads.
struct ChromeTrace {
    let text: String

    init(_ trace: Trace) {
        var json = JSONText()
        json.object { json in
            json.pair("displayTimeUnit", "ns")
            json.key("traceEvents")
            json.array { json in
                ChromeTrace.name("process_name", trace.program, trace, thread: 0, &json)
                for (index, lane) in trace.threads.enumerated() {
                    let thread = lane.id == 0 ? Int32(index) : lane.id
                    let name = lane.name + (lane.hasEnded ? " (ended)" : "")
                    ChromeTrace.name("thread_name", name, trace, thread: thread, &json)
                    for item in lane.items { ChromeTrace.item(item, trace, thread, &json) }
                }
                json.newLine()
            }
        }
        text = json.text + "\n"
    }

    private static func name(
        _ kind: String, _ name: String, _ trace: Trace, thread: Int32, _ json: inout JSONText
    ) {
        json.newLine()
        json.object { json in
            json.pair("name", kind)
            json.pair("ph", "M")
            place(trace, thread, &json)
            json.key("args")
            json.object { $0.pair("name", name) }
        }
    }

    private static func place(_ trace: Trace, _ thread: Int32, _ json: inout JSONText) {
        json.pair("pid", trace.process)
        json.pair("tid", thread)
    }

    private static func item(_ item: Trace.Item, _ trace: Trace, _ thread: Int32, _ json: inout JSONText) {
        json.newLine()
        json.object { json in
            json.pair("name", item.event.title)
            json.pair("cat", item.event.kind.word)
            json.pair("ph", item.end == nil ? "i" : "X")
            json.key("ts")
            json.microseconds(item.start - trace.begin)
            if let end = item.end {
                json.key("dur")
                json.microseconds(end - item.start)
            } else {
                json.pair("s", "t")
            }
            place(trace, thread, &json)
            arguments(item, &json)
        }
        guard let flow = item.flow else { return }
        // The item belongs to an arrow, which leads from the posting of a message to its handler.
        let isPost = item.event.kind.isInstant
        json.newLine()
        json.object { json in
            json.pair("name", "message")
            json.pair("cat", "message")
            json.pair("ph", isPost ? "s" : "f")
            if !isPost { json.pair("bp", "e") }
            json.pair("id", String(flow, radix: 16))
            json.key("ts")
            json.microseconds(item.start - trace.begin)
            place(trace, thread, &json)
        }
    }

    private static func arguments(_ item: Trace.Item, _ json: inout JSONText) {
        let particulars = item.particulars
        if particulars.isEmpty { return }
        json.key("args")
        json.object { json in
            for (name, value) in particulars {
                json.key(name)
                switch value {
                case .number(let number): json.number(number)
                case .text(let text): json.string(text)
                }
            }
        }
    }
}
