/// Which trigger the sources of each descriptor have: the kernel knows one for all that watch it in one loop.
///
/// A value, for one thread.
struct WatchedTriggers {
    private struct Entry {
        let trigger: DescriptorSource.Trigger
        var sources: Int
    }

    private var entries: [CInt: Entry] = [:]

    /// Whether a source may watch a descriptor so: nobody watches it otherwise.
    func admits(_ trigger: DescriptorSource.Trigger, of descriptor: CInt) -> Bool {
        entries[descriptor].map { $0.trigger == trigger } ?? true
    }

    /// Counts one more source.
    mutating func join(_ descriptor: CInt, _ trigger: DescriptorSource.Trigger) {
        entries[descriptor, default: Entry(trigger: trigger, sources: 0)].sources += 1
    }

    /// Counts one source less.
    mutating func leave(_ descriptor: CInt) {
        guard let rest = entries[descriptor].map({ $0.sources - 1 }) else { return }
        if rest > 0 { entries[descriptor]?.sources = rest } else { entries[descriptor] = nil }
    }
}
