import RunLoops
import TestSupport
import Testing

@testable import MessagePorts

/// The texts that are names of ports.
@Suite struct PortNameTests {
    @Test(arguments: [
        "clock", "org.example.clock", "a", "a b", "Uhr–zwölf", "a.", "@org.example.clock", "@.a", "@@", "a@b",
        String(repeating: "x", count: 80), "@" + String(repeating: "x", count: 80),
    ])
    func `a name is described as it was given`(text: String) throws {
        let name = try PortName(text)
        #expect(name.description == text && name.isAbstract == text.hasPrefix("@"))
        #expect(try name == PortName(text) && name != PortName("other"))
    }

    @Test(arguments: [
        ("", "it is empty"), ("@", "it is empty"), ("a/b", "it has a slash"), ("@a/b", "it has a slash"),
        ("..", "it begins with a dot"), (".a", "it begins with a dot"),
        ("a\0", "it has a control character"), ("@a\n", "it has a control character"),
        ("a\u{7F}", "it has a control character"),
        (String(repeating: "x", count: 81), "it has 81 bytes, more than 80"),
        (String(repeating: "ö", count: 41), "it has 82 bytes, more than 80"),
    ])
    func `a text that cannot be a name is refused, with the reason`(text: String, reason: String) {
        let error = PortNameError(.malformed, name: text, details: reason)
        #expect(throws: error) { try PortName(text) }
        #expect("\(error)" == "\"\(text)\" cannot be the name of a port: \(reason)")
    }

    @Test func `names that look the same but differ in bytes are different`() throws {
        let composed = try PortName("caf\u{E9}")
        let decomposed = try PortName("cafe\u{301}")
        #expect(composed.description == decomposed.description)
        #expect(composed != decomposed)
        #expect(try PortName("a") != PortName("@a"))
    }

    @Test func `errors state the reason`() throws {
        let name = try PortName("clock")
        #expect("\(PortNameError.taken(name))" == "a live port has the name clock")
        #expect("\(PortNameError.unknown(name))" == "no port has the name clock")
        #expect(
            "\(PortNameError.timedOut(name))" == "the port clock accepted no connection before the deadline")
        let error = SystemError(call: "open", code: 13)
        #expect("\(PortNameError.refused(error))" == "\(error)")
        #expect(
            "\(PortNameError.unsafeDirectory("/tmp", "it is public"))"
                == "the directory is not safe for names of ports: /tmp: it is public; remove it, or use PortNames(directory:)"
        )
    }

    @Test func `a taken name and an unknown one say which port failed`() throws {
        let (names, name) = (try OwnNames(), try PortName("clock"))
        let port = try MessagePort(named: name, in: names.names)
        let taken = refusal { () throws(MessagePortError) in
            _ = try MessagePort(named: name, in: names.names, fileID: "Shop/Clock.swift", line: 7)
        }
        let made = "made at Shop/Clock.swift:7"
        #expect(taken.map { "\($0)" } == "message port \"clock\" \(made): a live port has the name clock")
        port.invalidate()
        let unknown = refusal { () throws(MessagePortError) in
            _ = try RemotePort(named: name, in: names.names, fileID: "Shop/Clock.swift", line: 7)
        }
        #expect(unknown.map { "\($0)" } == "remote port \"clock\" \(made): no port has the name clock")
    }
}
