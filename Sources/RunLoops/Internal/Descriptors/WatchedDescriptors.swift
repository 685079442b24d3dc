internal import Glibc

/// The descriptors that the sources of one loop watch, each with its trigger and its original open file.
///
/// The original file is the file that the number referred to when the descriptor's first source joined the loop. After a descriptor
/// was closed, the kernel can give its number to another file. This table detects that change.
///
/// The inode does not show the change: files that are neither sockets nor pipes can share one inode, and a terminal that is opened
/// again has its old inode. But the kernel's epoll sets identify an entry by number and file together. So the table keeps an epoll
/// set that no thread waits for. This set has no entry for a number that was closed or that now refers to another file.
///
/// > Thread safety: the loop's own thread only.
struct WatchedDescriptors {
    private struct Entry {
        /// The trigger of all sources that watch the descriptor.
        ///
        /// The kernel keeps only one trigger for each descriptor and loop.
        let trigger: DescriptorSource.Trigger
        var sources: Int
    }

    private var entries: [CInt: Entry] = [:]

    /// The number of descriptors that more than one source watches.
    ///
    /// It is usually 0, and then ``isShared(_:)`` needs no look-up.
    private var shared = 0

    /// The epoll set of all descriptors that have at least one source in the loop, in any mode.
    ///
    /// The set is made for the loop's first source.
    private var files: EpollSet?

    /// The answer to a source that wants to watch a descriptor.
    enum Admission {
        case admitted
        /// Other sources of the loop watch the descriptor with another trigger.
        case otherTrigger
        /// Other sources of the loop watch a file that had the same descriptor number before.
        case otherFile
    }

    /// Counts one more source of a descriptor, if the source is admitted.
    ///
    /// - Returns: `admitted`, or the reason why the source is not admitted.
    /// - Throws: `SystemError` if epoll refuses the descriptor. This check is made before libevent gets the descriptor, because
    ///   libevent would report its own warning about the refusal.
    mutating func join(
        _ descriptor: CInt, _ trigger: DescriptorSource.Trigger
    ) throws(SystemError) -> Admission {
        let files: EpollSet
        if let set = self.files { files = set } else { files = try EpollSet() }
        self.files = files
        let known = entries[descriptor]
        do throws(SystemError) { try files.add(descriptor, [], token: 0) } catch {
            switch error.code {
            case EEXIST: break
            // The other sources watched a file that epoll accepts, so their descriptor was closed, or its number now refers to
            // another file.
            case EBADF, EPERM: if known != nil { return .otherFile } else { throw error }
            default: throw error
            }
            guard let known, known.trigger != trigger else {
                entries[descriptor, default: Entry(trigger: trigger, sources: 0)].sources += 1
                if known?.sources == 1 { shared += 1 }
                return .admitted
            }
            return .otherTrigger
        }
        if known != nil { return .otherFile }
        entries[descriptor] = Entry(trigger: trigger, sources: 1)
        return .admitted
    }

    /// True if more than one source watches a descriptor.
    func isShared(_ descriptor: CInt) -> Bool { shared > 0 && (entries[descriptor]?.sources ?? 0) > 1 }

    /// True if a descriptor's number still refers to the same file as when the descriptor's first source joined the loop.
    func holds(_ descriptor: CInt) -> Bool {
        guard let files else { return false }
        do throws(SystemError) { try files.change(descriptor, [], token: 0) } catch { return false }
        return true
    }

    /// Subtracts one source from the count of a descriptor's sources.
    ///
    /// - Returns: False if the descriptor had already been closed.
    mutating func leave(_ descriptor: CInt) -> Bool {
        guard let known = entries[descriptor] else { return true }
        if known.sources > 1 {
            entries[descriptor]?.sources -= 1
            if known.sources == 2 { shared -= 1 }
            return holds(descriptor)
        }
        entries[descriptor] = nil
        return files?.remove(descriptor) ?? true
    }

    /// Closes the epoll set of this table, because the loop ends.
    mutating func end() {
        entries = [:]
        shared = 0
        files = nil
    }
}
