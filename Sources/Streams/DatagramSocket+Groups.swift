internal import CRunLoops
internal import Glibc
public import RunLoops

extension DatagramSocket {
    /// Joins a multicast group, so that the socket also receives the datagrams that are sent to the group.
    ///
    /// The socket leaves all groups when it ends.
    ///
    /// - Parameters:
    ///   - group: The numeric address of the group, such as `239.1.2.3` or `ff02::fb`.
    ///   - interface: The name of the network interface, such as `eth0`; nil for the one that the system chooses.
    /// - Throws: ``/RunLoops/SystemError`` if the address is not one of a group (`EINVAL`), there is no such interface (`ENODEV`),
    ///   the socket is a member already (`EADDRINUSE`), has too many groups (`ENOBUFS`, `ENOMEM`) or has ended (`EBADF`).
    public func joinGroup(_ group: String, interface: String? = nil) throws(SystemError) {
        requireOwnThread("DatagramSocket.joinGroup")
        try changeGroup(group, interface, joins: true)
    }

    /// Leaves a multicast group.
    ///
    /// - Parameters:
    ///   - group: The numeric address of the group.
    ///   - interface: The interface that the group was joined at; nil if none was named.
    /// - Throws: ``/RunLoops/SystemError`` if the socket is not a member of the group there (`EADDRNOTAVAIL`), or for the reasons
    ///   of ``joinGroup(_:interface:)``.
    public func leaveGroup(_ group: String, interface: String? = nil) throws(SystemError) {
        requireOwnThread("DatagramSocket.leaveGroup")
        try changeGroup(group, interface, joins: false)
    }

    private func changeGroup(_ group: String, _ interface: String?, joins: Bool) throws(SystemError) {
        guard let descriptor, let address = SocketAddress(host: group, port: 0) else {
            throw SystemError(call: "setsockopt", code: isOpen ? EINVAL : EBADF)
        }
        let index = try OpenedDatagramSocket.index(of: interface) ?? 0
        _ = try systemCall("setsockopt") {
            // Safe: the C function only reads the address.
            unsafe runloops_change_group(
                descriptor, address.bytes, UInt32(address.bytes.count), CUnsignedInt(index), joins)
        }
    }
}
