import CRunLoops
import TestSupport
import Testing

@testable import Streams

/// Written bytes are sent once, in order, however many bytes the kernel accepts at a time.
@Suite struct OutputQueueTests {
    // Guarantees: Each byte is given to the handlers once and in order, and each byte that was written is sent once and in order,
    // until the connection ends.
    @Test(arguments: 0..<300) func `bytes are sent in the order in which they were written`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = OutputQueue()
        var written: [UInt8] = []
        var sent: [UInt8] = []
        for _ in 0..<60 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                let bytes = [UInt8](
                    repeating: UInt8(written.count & 255), count: Int.random(in: 0...3000, using: &random))
                queue.append(bytes)
                written += bytes
            case 1:
                let bytes = (0..<Int.random(in: 0...20, using: &random)).map { UInt8($0) }
                unsafe queue.append(bytes.span.bytes)
                written += bytes
            case 2:
                queue.append("a constant text")
                written += Array("a constant text".utf8)
            case 3:
                queue.append(String(repeating: "é", count: 3)[...])
                written += Array("ééé".utf8)
            default:
                let most = Int.random(in: 0...4000, using: &random)
                let result = unsafe queue.send { parts, count in
                    var taken = 0
                    for index in 0..<Int(count) where taken < most {
                        let part = unsafe parts[index]
                        let bytes = unsafe UnsafeRawBufferPointer(start: part.bytes, count: part.count)
                        let piece = unsafe Array(bytes.prefix(most - taken))
                        sent += piece
                        taken += piece.count
                    }
                    return taken
                }
                #expect(result <= most)
            }
            #expect(queue.count == written.count - sent.count)
            #expect(queue.isEmpty == (sent.count == written.count))
        }
        #expect(sent == Array(written.prefix(sent.count)))
    }

    @Test func `an error of the kernel removes nothing`() {
        var queue = OutputQueue()
        queue.append("text")
        let result = unsafe queue.send { _, _ in -1 }
        #expect(result == -1)
        #expect(queue.count == 4)
    }

    @Test func `one call sends at most as many parts as the kernel takes`() {
        var queue = OutputQueue()
        for _ in 0..<200 { queue.append([UInt8](repeating: 1, count: OutputQueue.keptSize)) }
        let result = unsafe queue.send { _, count in
            #expect(count == runloops_most_parts)
            return 0
        }
        #expect(result == 0)
        #expect(queue.count == 200 * OutputQueue.keptSize)
    }
}
