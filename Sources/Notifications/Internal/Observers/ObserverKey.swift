/// A key under which a map registers observations: a name, ``EveryName``, or a type of messages.
protocol ObserverKey: Hashable, Sendable {
    /// A hash that every post reads, so reading it must be cheap.
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

/// The key of observations that match every name.
///
/// These observations have a map of their own, which contains only this key.
struct EveryName: ObserverKey {
    var shardHash: Int { 0 }
}
