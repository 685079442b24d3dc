extension Frame {
    /// The reason that a packet is malformed.
    enum Fault: Error, Hashable, Sendable {
        /// The packet is shorter than a head.
        case tooShort(length: Int)
        /// The packet does not begin with ``Frame/mark``, the two bytes that begin every packet of a port.
        case foreign(mark: UInt16)
        /// The packet is of another version of the protocol.
        case unknownVersion(UInt8)
        /// The packet's kind is not one of ``Frame/Kind``.
        case unknownKind(UInt8)
        /// A flag is set, although no flags are defined.
        case unknownFlags(UInt16)
        /// The length in the head differs from the length of the body that arrived.
        case wrongLength(said: Int, found: Int)
        /// The number of descriptors in the head differs from the number that arrived.
        case wrongDescriptorCount(said: Int, found: Int)
        /// The packet lacks the request number that its kind needs, or has a number that its kind does not allow.
        case wrongNumber(Kind, UInt64)
        /// The packet has a body, although packets of its kind have none.
        case strayBody(Kind, length: Int)
        /// The packet carries descriptors, although packets of its kind carry none.
        case strayDescriptors(Kind, count: Int)
        /// The packet has an ID although its kind carries none, or has an ID that its kind does not allow.
        case wrongID(Kind, UInt32)
    }

    /// Decodes the head of a packet, and checks it against the length of the packet and the number of its descriptors.
    ///
    /// - Parameters:
    ///   - packet: The whole packet, with any alignment.
    ///   - descriptors: The number of descriptors that arrived with it.
    /// - Throws: The first fault that is found.
    init(decoding packet: UnsafeRawBufferPointer, descriptors: Int) throws(Fault) {
        if packet.count < Frame.headLength { throw .tooShort(length: packet.count) }
        // Safe, all three: the packet is at least as long as a head.
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

    /// Throws if a field has a value that the packet's kind does not allow.
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
    /// The fault in words, for a log.
    var description: String {
        switch self {
        case .tooShort(let length): "it has \(length) bytes, and a head alone has \(Frame.headLength)"
        case .foreign(let mark):
            "it begins with 0x\(String(mark, radix: 16)), not with the mark of a port's packet"
        case .unknownVersion(let version): "it is of version \(version), and this is version \(Frame.version)"
        case .unknownKind(let kind): "its kind is \(kind), which does not exist"
        case .unknownFlags(let flags): "its flags are 0x\(String(flags, radix: 16)), and no flags are defined"
        case .wrongLength(let said, let found):
            "its head states a body of \(said) bytes, and it has \(found)"
        case .wrongDescriptorCount(let said, let found):
            "its head states \(said) descriptors, and \(found) arrived"
        case .wrongNumber(let kind, let number): "a \(kind) cannot have the number \(number)"
        case .strayBody(let kind, let length): "a \(kind) cannot have a body of \(length) bytes"
        case .strayDescriptors(let kind, let count): "a \(kind) cannot carry \(count) descriptors"
        case .wrongID(let kind, let id): "a \(kind) cannot have the ID \(id)"
        }
    }
}
