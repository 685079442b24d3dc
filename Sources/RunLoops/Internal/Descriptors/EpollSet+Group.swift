internal import CLibEvent
internal import Glibc

extension EpollSet {
    /// Applies to this epoll set a change that a ``DescriptorGroup`` has returned.
    ///
    /// - Returns: The kernel's answer.
    func make(_ change: DescriptorGroup.Change) -> DescriptorGroup.Answer {
        do throws(SystemError) {
            switch change.kind {
            case .add: try add(change.descriptor, Interest(change.interest), token: change.token)
            case .modify: try self.change(change.descriptor, Interest(change.interest), token: change.token)
            case .remove: remove(change.descriptor)
            }
        } catch {
            switch error.code {
            case ENOENT: return .notInSet
            case EEXIST: return .inSet
            case EBADF: return .closed
            default: return .refused
            }
        }
        return .done
    }
}

extension EpollSet.Interest {
    init(_ interest: DescriptorSource.Interest) {
        self = []
        if interest.contains(.read) { insert(.reading) }
        if interest.contains(.write) { insert(.writing) }
    }

    /// Converts epoll's events to readiness.
    ///
    /// The result contains `.readable` and `.writable` only if the interest asks for them. A hang-up or an error is in the result
    /// even if the interest does not ask for it.
    func readiness(of interest: DescriptorSource.Interest) -> DescriptorSource.Readiness {
        var readiness: DescriptorSource.Readiness = []
        if rawValue & EPOLLIN.rawValue != 0 && interest.contains(.read) { readiness.insert(.readable) }
        if rawValue & EPOLLOUT.rawValue != 0 && interest.contains(.write) { readiness.insert(.writable) }
        if rawValue & (EPOLLHUP.rawValue | EPOLLRDHUP.rawValue) != 0 { readiness.insert(.hangUp) }
        if rawValue & EPOLLERR.rawValue != 0 { readiness.insert(.error) }
        return readiness
    }
}
