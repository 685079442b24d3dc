/// A key under which a map registers observations: a name, a mark for every name, or a type of messages.
protocol ObserverKey: Hashable, Sendable {
    /// A hash that is cheap to read, because every post needs it.
    var shardHash: Int { get }
}

extension ObserverKey {
    /// A hash whose bits are all well distributed, even if the bits of ``shardHash`` are not.
    @inline(__always)
    var spreadHash: UInt {
        let product = UInt(bitPattern: shardHash) &* 0x9E37_79B9_7F4A_7C15
        return product ^ (product >> 32)
    }
}

extension ObjectIdentifier: ObserverKey {
    var shardHash: Int { Int(bitPattern: self) }
}

extension Notification.Name: ObserverKey {}

/// The only key in the map of those observations that apply to notifications of any name.
struct EveryName: ObserverKey {
    var shardHash: Int { 0 }
}
