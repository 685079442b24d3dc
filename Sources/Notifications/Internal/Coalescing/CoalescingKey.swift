/// The rule for matching two notifications under a mask: the properties that the mask selects must be equal.
extension NotificationQueue.NotificationCoalescing {
    /// The index of the mask: 0 if it compares only names, 1 if only senders, 2 if both; nil for an empty mask.
    var index: Int? { rawValue & 3 == 0 ? nil : Int(rawValue & 3) - 1 }

    /// Makes the mask that has an index.
    init(index: Int) { self.init(rawValue: UInt(index) + 1) }

    @inline(__always)
    private var comparesName: Bool { rawValue & 1 != 0 }
    @inline(__always)
    private var comparesSender: Bool { rawValue & 2 != 0 }

    /// True if, under this mask, `notification` matches a notification with the given name and sender.
    @inline(__always)
    func matches(_ notification: Notification, name: Notification.Name?, sender: ObjectIdentifier?) -> Bool {
        (!comparesName || notification.name == name) && (!comparesSender || notification.sender == sender)
    }

    /// Returns a hash that is the same for all notifications that match each other under this mask.
    @inline(__always)
    func hash(_ notification: Notification) -> UInt32 {
        var hash: UInt = 0
        if comparesName { hash = UInt(bitPattern: notification.name.shardHash) }
        if comparesSender, let sender = notification.sender {
            hash = hash &* 0x9E37_79B9_7F4A_7C15 &+ UInt(bitPattern: sender)
        }
        // Takes the high bits of the product, because the low bits of addresses are all alike.
        return UInt32(truncatingIfNeeded: (hash &* 0x9E37_79B9_7F4A_7C15) >> 32)
    }

    /// Returns the key of a notification under this mask.
    func key(_ notification: Notification) -> CoalescingKey {
        CoalescingKey(
            name: comparesName ? notification.name : nil, sender: comparesSender ? notification.sender : nil)
    }
}

/// The key of a notification under a mask; two notifications match if their keys are equal.
///
/// The key contains the properties that the mask selects.
struct CoalescingKey: Hashable {
    let name: Notification.Name?
    let sender: ObjectIdentifier?
}
