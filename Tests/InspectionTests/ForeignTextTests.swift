import RunLoops
import TestSupport
import Testing

@testable import Inspection

/// Texts of other processes.
@Suite struct ForeignTextTests {
    @Test(
        arguments: [
            ("plain, ä€😀 \\ \"", "plain, ä€😀 \\ \""), ("\u{1B}]0;OWNED\u{7}", "\\u{1b}]0;OWNED\\u{7}"),
            ("a\r\nb\tc\u{0}", "a\\u{d}\\u{a}b\\u{9}c\\u{0}"),
            ("\u{7F}\u{9B}31m\u{85}", "\\u{7f}\\u{9b}31m\\u{85}"),
            ("\u{202E}\u{2066}\u{200F}\u{FEFF}", "\\u{202e}\\u{2066}\\u{200f}\\u{feff}"),
            ("\u{2028}\u{2029}\u{E0041}", "\\u{2028}\\u{2029}\\u{e0041}"), ("", ""),
        ])
    func `what a terminal, a log or a reader could take for something else is replaced`(
        text: String, shown: String
    ) {
        let foreign = ForeignText(text)
        #expect(foreign.description == shown && "\(foreign)" == shown && String(reflecting: foreign) == shown)
        #expect(ForeignText(utf8: Array(text.utf8)) == foreign)
        #expect(ForeignText(shown) == foreign, "a second replacement changes nothing")
    }

    @Test func `a long text is cut, and bytes that are no text become a mark`() {
        #expect(ForeignText("abcdef", atMost: 3).description == "abc…")
        #expect(ForeignText("abc", atMost: 3).description == "abc")
        #expect(ForeignText(utf8: [0x61, 0xff, 0x9b], atMost: .max).description == "a\u{FFFD}\u{FFFD}")
        #expect(ForeignText(utf8: Array(repeating: 0x61, count: 9_000)).description.count == 1_001)
    }

    @Test(
        arguments: [
            ("[]", "[]"), ("{\"a\":-1}", "{\"a\":-1}"), ("[\"\\u001b[2J\"]", "[\"\\\\u{1b}[2J\"]"),
            ("[\"\u{9B}\u{202E}\"]", "[\"\\\\u{9b}\\\\u{202e}\"]"),
            ("[\"\\n\\\"\\\\\\/\"]", "[\"\\\\u{a}\\\"\\\\/\"]"),
            ("[\"\\ud83d\\ude00ä\"]", "[\"😀ä\"]"), ("[\"\\udb40\\udc41\"]", "[\"\\\\u{e0041}\"]"),
            ("[\"\\ud83d\"]", nil), ("[\"\\x\"]", nil), ("[\"open", nil), ("[\"\\u00", nil), ("[\"\\", nil),
            (String(repeating: "[", count: 33), nil),
            (String(repeating: "[", count: 32), String(repeating: "[", count: 32)),
        ] as [(String, String?)])
    func `JSON of another process has harmless strings, or is refused`(text: String, checked: String?) {
        func check(_ bytes: [UInt8]) -> String? {
            do { return String(decoding: try ForeignJSON.check(bytes), as: UTF8.self) } catch { return nil }
        }
        #expect(check(Array(text.utf8)) == checked)
        #expect(check([0x22, 0xff, 0x22]) == nil)
        let long = Array("\"\(String(repeating: "a", count: 5_000))\"".utf8)
        #expect(check(long) == "\"\(String(repeating: "a", count: 999))…\"")
    }
}
