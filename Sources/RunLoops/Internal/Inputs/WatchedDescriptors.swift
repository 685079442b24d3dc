internal import Glibc

/// The descriptors that sources of one loop watch: their trigger, and the open file that each number stood for when its first
/// source joined the loop.
///
/// A number that was closed stands for another file as soon as it is given out again, and nothing in the file tells: kinds
/// that are no sockets or pipes share one inode, and a terminal that is opened again has its old one. The kernel's epoll
/// sets know a file by number and file together. So a set that no thread waits for is the memory: of a number that was
/// closed, or stands for another file by now, it has no entry.
///
/// > Thread safety: the loop's own thread only.
struct WatchedDescriptors {
    private struct Entry {
        /// The kernel knows one for all that watch a descriptor in one loop.
        let trigger: DescriptorSource.Trigger
        var sources: Int
    }

    private var entries: [CInt: Entry] = [:]

    /// The number of descriptors that several sources watch; mostly 0, so that asking for one costs no look-up.
    private var shared = 0

    /// Each descriptor from when its first source joins the loop until its last one leaves, whatever the mode.
    ///
    /// Made with the loop's first source.
    private var files: EpollSet?

    /// The answer to a source that wants to watch a descriptor.
    enum Admission {
        case admitted
        /// Other sources of the loop watch it with another trigger.
        case otherTrigger
        /// Other sources of the loop watch a file that had the number before.
        case otherFile
    }

    /// Counts one more source, if it is admitted.
    ///
    /// - Returns: The answer.
    /// - Throws: `SystemError` as epoll refuses the descriptor: libevent, asked first, would write a warning of its own.
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
            // The other sources watched a file that epoll takes.
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

    /// True if several sources watch a descriptor.
    func isShared(_ descriptor: CInt) -> Bool { shared > 0 && (entries[descriptor]?.sources ?? 0) > 1 }

    /// True if the number of a source's descriptor stands for the file that it stood for when the source joined.
    func holds(_ descriptor: CInt) -> Bool {
        guard let files else { return false }
        do throws(SystemError) { try files.change(descriptor, [], token: 0) } catch { return false }
        return true
    }

    /// Counts one source less.
    ///
    /// - Returns: False if the descriptor was closed before.
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

    /// Closes the descriptor that it has opened: the loop ends.
    mutating func end() {
        entries = [:]
        shared = 0
        files = nil
    }
}
