extension Mailbox {
    /// The value of a mailbox's atomic word: several parts in 64 bits.
    ///
    /// | bits | part |
    /// |---|---|
    /// | 0–41 | the newest node, or the node that the mailbox is armed with: an address without its six low bits, which are 0 |
    /// | 42–61 | the room that is left, modulo 2²⁰ |
    /// | 62 | armed |
    /// | 63 | closed |
    ///
    /// The *room* is the number of nodes that senders may still push. In a loop's mailbox, all pushes ignore the room. It then
    /// wraps around, and only its changes have a meaning.
    struct Word: Equatable {
        let bits: UInt64

        private static let addressShift: UInt64 = 6
        private static let addressMask: UInt64 = 1 << 42 - 1
        private static let roomShift: UInt64 = 42
        static let roomMask: UInt64 = 1 << 20 - 1
        private static let armedBit: UInt64 = 1 << 62
        private static let closedBit: UInt64 = 1 << 63

        static let closed = Word(bits: closedBit)

        var isClosed: Bool { bits & Word.closedBit != 0 }
        var isArmed: Bool { bits & Word.armedBit != 0 }

        /// The node that was pushed last; in an armed word, the node that the mailbox is armed with.
        var node: Node? {
            // Safe: this was the address of a node when it was stored. If the word has changed since then, the exchange that would
            // pass the node to the caller fails.
            unsafe UnsafeMutableRawPointer(bitPattern: UInt(bits & Word.addressMask) << Word.addressShift)
                .map { unsafe Node($0) }
        }

        /// The number of nodes that senders may still push, modulo 2²⁰.
        var room: UInt64 { bits >> Word.roomShift & Word.roomMask }

        /// The total number of nodes that were pushed, modulo 2²⁰.
        ///
        /// This is the correct number only if the mailbox was created with a room of 0.
        var sequence: UInt64 { (0 &- room) & Word.roomMask }

        func pushing(_ chain: Chain) -> Word {
            Word(room: room &- UInt64(chain.count), node: chain.newest)
        }

        var emptied: Word { Word(room: room) }

        func armed(with signal: Node?) -> Word {
            Word(bits: Word(room: room, node: signal).bits | Word.armedBit)
        }

        func adding(room count: UInt64) -> Word {
            // There is no carry into the flags, because the room that is left and the room that is returned together never exceed
            // the limit.
            Word(bits: bits &+ count << Word.roomShift)
        }

        init(bits: UInt64) { self.bits = bits }

        init(room: UInt64, node: Node? = nil) {
            let address = unsafe UInt64(UInt(bitPattern: node?.address))
            bits = address >> Word.addressShift | (room & Word.roomMask) << Word.roomShift
        }

        /// True if a word can contain a node's address.
        ///
        /// The address must have at most 48 bits, and be a multiple of 64.
        static func canHold(_ address: UnsafeMutableRawPointer) -> Bool {
            UInt64(UInt(bitPattern: address)) & ~(addressMask << addressShift) == 0
        }
    }
}
