internal import RunLoops

extension ExponentialBackoff {
    /// The pause before a loop accepts connections again, after accepting one has failed, usually for lack of a free descriptor.
    ///
    /// A listener stays readable while a connection waits, so a loop that kept watching the listener would spin. The client loses
    /// nothing by the pause: the kernel queues its connection and its packets. A loop could also release a spare descriptor, to
    /// accept the connection and close it. But that would turn honest clients away.
    static var accepting: ExponentialBackoff { ExponentialBackoff(from: .milliseconds(10), to: .seconds(1)) }

    /// The pause between two attempts to send while the kernel is out of resources.
    static var sending: ExponentialBackoff {
        ExponentialBackoff(from: .microseconds(100), to: .milliseconds(20))
    }

    /// The pause before the next attempt to read a connection that is held back.
    ///
    /// A port holds back a connection, that is, does not read it, while its next packet carries more descriptors than the port may
    /// receive now: see ``DescriptorQuota``.
    static var holdingBack: ExponentialBackoff {
        ExponentialBackoff(from: .milliseconds(1), to: .milliseconds(100))
    }

    /// The pause between two attempts to send the packets of a ``PacketBacklog`` while the kernel is out of resources.
    static var resending: ExponentialBackoff { ExponentialBackoff(from: .milliseconds(1), to: .seconds(1)) }
}
