internal import RunLoops

extension ExponentialBackoff {
    /// The pause before a listener is watched again that was out of descriptors for a connection.
    ///
    /// A listener with a waiting connection stays readable, so a loop that went on watching it would spin. The client loses
    /// nothing by the pause: its connection is in the kernel's queue, and the packets that it sends are kept. A spare
    /// descriptor, released to accept and close the connection, would turn honest clients away instead.
    static var accepting: ExponentialBackoff { ExponentialBackoff(from: .milliseconds(10), to: .seconds(1)) }

    /// The pause between two tries to send while the kernel is out of resources.
    static var sending: ExponentialBackoff {
        ExponentialBackoff(from: .microseconds(100), to: .milliseconds(20))
    }

    /// The pause of a connection that was held back because of its descriptors, before it is read again.
    static var holdingBack: ExponentialBackoff {
        ExponentialBackoff(from: .milliseconds(1), to: .milliseconds(100))
    }

    /// The pause between two tries to send replies of a backlog while the kernel is out of resources.
    static var resending: ExponentialBackoff { ExponentialBackoff(from: .milliseconds(1), to: .seconds(1)) }
}
