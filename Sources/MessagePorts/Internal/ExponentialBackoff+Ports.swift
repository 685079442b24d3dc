internal import RunLoops

extension ExponentialBackoff {
    /// The pause between two looks for a descriptor for a connection.
    ///
    /// A listener with a waiting connection stays readable, so a loop that watched it on would spin. The client loses nothing by the
    /// pause: its connection is in the kernel's queue, and what it sends is kept. A spare descriptor, given up to accept and
    /// close, would turn honest clients away instead.
    static var accepting: ExponentialBackoff { ExponentialBackoff(from: .milliseconds(10), to: .seconds(1)) }

    /// The pause between two tries to send while the kernel is out of resources.
    static var sending: ExponentialBackoff {
        ExponentialBackoff(from: .microseconds(100), to: .milliseconds(20))
    }

    /// The pause after which a connection may be read again that was held back for its descriptors.
    static var holdingBack: ExponentialBackoff {
        ExponentialBackoff(from: .milliseconds(1), to: .milliseconds(100))
    }

    /// The pause between two tries to send replies that were kept because the kernel was out of resources.
    static var resending: ExponentialBackoff { ExponentialBackoff(from: .milliseconds(1), to: .seconds(1)) }
}
