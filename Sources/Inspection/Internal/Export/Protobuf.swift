/// A builder of one message in the protocol-buffers encoding.
struct Protobuf {
    private(set) var bytes: [UInt8] = []

    mutating func number(_ field: Int, _ value: UInt64) {
        varint(UInt64(field) << 3)
        varint(value)
    }

    mutating func fixed(_ field: Int, _ value: UInt64) {
        varint(UInt64(field) << 3 | 1)
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    mutating func string(_ field: Int, _ value: String) { data(field, Array(value.utf8)) }

    mutating func message(_ field: Int, _ body: (inout Protobuf) -> Void) {
        var inner = Protobuf()
        body(&inner)
        data(field, inner.bytes)
    }

    private mutating func data(_ field: Int, _ data: [UInt8]) {
        varint(UInt64(field) << 3 | 2)
        varint(UInt64(data.count))
        bytes += data
    }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
