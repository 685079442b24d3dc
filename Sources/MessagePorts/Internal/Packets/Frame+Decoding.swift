extension Frame {
    /// What is wrong with a packet.
    enum Fault: Error, Hashable, Sendable {
        /// It is shorter than a head.
        case tooShort(length: Int)
        /// It does not begin as one of ours.
        case foreign(mark: UInt16)
        /// It is of another version.
        case unknownVersion(UInt8)
        /// Its kind does not exist.
        case unknownKind(UInt8)
        /// It has flags, of which there are none.
        case unknownFlags(UInt16)
        /// It says that its body is so long, and it is not.
        case wrongLength(said: Int, found: Int)
        /// It says that so many descriptors come with it, and others came.
        case wrongDescriptorCount(said: Int, found: Int)
        /// A request or a reply without the request's number, or something else with one.
        case wrongNumber(Kind, UInt64)
        /// Its kind has no body.
        case strayBody(Kind, length: Int)
        /// Its kind carries no descriptors.
        case strayDescriptors(Kind, count: Int)
        /// Its kind has no number for programs, or not this one.
        case wrongID(Kind, UInt32)
    }

    /// Takes the head of a packet apart, and compares it with what has come.
    ///
    /// - Parameters:
    ///   - packet: The whole packet, however it is aligned.
    ///   - descriptors: How many descriptors have come with it.
    /// - Throws: The first thing that is wrong with it.
    init(decoding packet: UnsafeRawBufferPointer, descriptors: Int) throws(Fault) {
        if packet.count < Frame.headLength { throw .tooShort(length: packet.count) }
        // Safe, all three: the packet is as long as a head at least.
        let first = UInt64(littleEndian: unsafe packet.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
        let number = UInt64(littleEndian: unsafe packet.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        let third = UInt64(littleEndian: unsafe packet.loadUnaligned(fromByteOffset: 16, as: UInt64.self))

        let mark = UInt16(truncatingIfNeeded: first)
        if mark != Frame.mark { throw .foreign(mark: mark) }
        let version = UInt8(truncatingIfNeeded: first >> 16)
        if version != Frame.version { throw .unknownVersion(version) }
        let rawKind = UInt8(truncatingIfNeeded: first >> 24)
        guard let kind = Kind(rawValue: rawKind) else { throw .unknownKind(rawKind) }
        let flags = UInt16(truncatingIfNeeded: third >> 48)
        if flags != 0 { throw .unknownFlags(flags) }
        let length = Int(UInt32(truncatingIfNeeded: third))
        let found = packet.count - Frame.headLength
        if length != found { throw .wrongLength(said: length, found: found) }
        let count = Int(UInt16(truncatingIfNeeded: third >> 32))
        if count != descriptors { throw .wrongDescriptorCount(said: count, found: descriptors) }

        self.init(
            kind: kind, id: UInt32(truncatingIfNeeded: first >> 32), number: number, bodyLength: length,
            descriptorCount: count)
        try checkKind()
    }

    /// Whether the rest says what its kind may say.
    private func checkKind() throws(Fault) {
        switch kind {
        case .message: if number != 0 { throw .wrongNumber(kind, number) }
        case .request, .reply: if number == 0 { throw .wrongNumber(kind, number) }
        case .noReply:
            if number == 0 { throw .wrongNumber(kind, number) }
            if id != 0 { throw .wrongID(kind, id) }
            try checkBare()
        case .hello, .welcome:
            if number > UInt32.max { throw .wrongNumber(kind, number) }
            if id > Frame.mostDescriptors { throw .wrongID(kind, id) }
            try checkBare()
        case .refusal:
            if number != 0 { throw .wrongNumber(kind, number) }
            if Refusal(rawValue: id) == nil { throw .wrongID(kind, id) }
            try checkBare()
        }
    }

    private func checkBare() throws(Fault) {
        if bodyLength != 0 { throw .strayBody(kind, length: bodyLength) }
        if descriptorCount != 0 { throw .strayDescriptors(kind, count: descriptorCount) }
    }
}

extension Frame.Fault: CustomStringConvertible {
    /// What is wrong, in words.
    var description: String {
        switch self {
        case .tooShort(let length): "\(length) bytes are no whole head, which has \(Frame.headLength)"
        case .foreign(let mark): "it begins with 0x\(String(mark, radix: 16)), as no packet of a port does"
        case .unknownVersion(let version): "it is of version \(version), and this is version \(Frame.version)"
        case .unknownKind(let kind): "there is no kind \(kind)"
        case .unknownFlags(let flags): "there are no flags 0x\(String(flags, radix: 16))"
        case .wrongLength(let said, let found):
            "it says that its body has \(said) bytes, and there are \(found)"
        case .wrongDescriptorCount(let said, let found):
            "it says that it carries \(said) descriptors, and \(found) have come"
        case .wrongNumber(let kind, let number): "a \(kind) cannot have the number \(number)"
        case .strayBody(let kind, let length): "a \(kind) cannot have a body of \(length) bytes"
        case .strayDescriptors(let kind, let count): "a \(kind) cannot carry \(count) descriptors"
        case .wrongID(let kind, let id): "a \(kind) cannot be of the kind \(id)"
        }
    }
}
