import Glibc
import Testing

@testable import RunLoops

/// A kernel with few descriptors, one set, and files that are ready or not: what `DescriptorGroup` changes and is told.
struct ModelKernel {
    struct Entry: Hashable {
        let number: CInt
        let file: Int
    }

    /// The open file of each number.
    var files: [CInt: Int] = [:]
    /// Files of which a copy is open for good.
    var copied: Set<Int> = []
    /// The files that the kernel does not watch.
    var refused: Set<Int> = []
    var set: [Entry: (interest: DescriptorSource.Interest, token: UInt64)] = [:]
    private var lastFile = 0

    mutating func open(_ number: CInt, isRegular: Bool) {
        lastFile += 1
        files[number] = lastFile
        if isRegular { refused.insert(lastFile) }
    }

    /// Closes a number; the kernel forgets a file whose last copy is closed.
    mutating func close(_ number: CInt) {
        guard let file = files.removeValue(forKey: number), !copied.contains(file) else { return }
        set[Entry(number: number, file: file)] = nil
    }

    mutating func make(_ change: DescriptorGroup.Change) -> DescriptorGroup.Answer {
        guard let file = files[change.descriptor] else { return .closed }
        let entry = Entry(number: change.descriptor, file: file)
        switch change.kind {
        case .remove:
            set[entry] = nil
            return .done
        case .add:
            if refused.contains(file) { return .refused }
            if set[entry] != nil { return .inSet }
        case .modify:
            if set[entry] == nil { return .notInSet }
        }
        set[entry] = (change.interest, change.token)
        return .done
    }
}

/// A library and a group over a model kernel, and the rules that hold for them.
///
/// The library lets go of a number before it opens it again, and is otherwise as careless as can be.
struct DescriptorGroupModel {
    /// The steps.
    enum Step: CaseIterable { case open, openRegular, close, copy, read, write, letGo, flush, serve }

    private typealias Interest = DescriptorSource.Interest

    private var kernel = ModelKernel()
    private var group = DescriptorGroup()
    private var wanted: [CInt: Interest] = [:]
    /// The file that each number had when the library began to want it; nil if it was closed.
    private var meant: [CInt: Int?] = [:]
    /// Numbers with an interest that was refused, and that were told; wanted since nothing else.
    private var told: Set<CInt> = []
    /// Numbers whose interest was set since the kernel was last told.
    private var set: Set<CInt> = []
    private(set) var path: [String] = []

    /// Takes a step, if it is possible, and checks the rules.
    ///
    /// - Returns: False if the step is not possible or changes nothing.
    mutating func take(_ step: Step, _ number: CInt) -> Bool {
        path.append("\(step) \(number)")
        switch step {
        case .open, .openRegular:
            // The library lets go first.
            if kernel.files[number] != nil || wanted[number] != nil { return false }
            kernel.open(number, isRegular: step == .openRegular)
        case .close:
            if kernel.files[number] == nil { return false }
            kernel.close(number)
        case .copy:
            guard let file = kernel.files[number] else { return false }
            return kernel.copied.insert(file).inserted
        case .read: want(.read, number)
        case .write: want(.write, number)
        case .letGo: want([], number)
        case .flush: flush()
        case .serve: serve()
        }
        return true
    }

    private mutating func want(_ interest: Interest, _ number: CInt) {
        let had = group.hasChanges
        let isFirst = group.setInterest(interest, of: number)
        #expect(isFirst == (!had && group.hasChanges), "\(path)")
        if interest.isEmpty {
            wanted[number] = nil
        } else {
            if wanted[number] == nil { meant[number] = .some(kernel.files[number]) }
            if wanted[number] != interest { set.insert(number) }
            if told.contains(number) { set.insert(number) }
            wanted[number] = interest
        }
        told.remove(number)
    }

    private mutating func flush() {
        var count = 0
        while let change = group.nextChange() {
            var next: DescriptorGroup.Change? = change
            while let change = next {
                count += 1
                next = group.note(kernel.make(change), to: change)
            }
        }
        #expect(count <= 12, "\(path)")
        #expect(!group.hasChanges, "\(path)")
        while let refused = group.takeRefused() {
            // Only what is wanted, cannot be watched, and was set since the last time: each once.
            let isNew = told.insert(refused).inserted
            #expect(wanted[refused] != nil && isNew && set.contains(refused), "\(path)")
            let file = kernel.files[refused]
            #expect(file == nil || kernel.refused.contains(file ?? 0), "\(path)")
        }
        #expect(!group.hasRefused)
        set = []
        expectWatched()
        if wanted.isEmpty { #expect(group.count == 0, "\(path)") }
    }

    /// The kernel watches each open file that the library means, for what it wants.
    private func expectWatched() {
        for (number, interest) in wanted where !told.contains(number) {
            // Closed without a word: it may have been forgotten, or is reported through its copy.
            guard let file = kernel.files[number] else { continue }
            let entry = kernel.set[ModelKernel.Entry(number: number, file: file)]
            #expect(entry?.interest == interest, "\(path)")
            #expect(entry.map { group.isKnown($0.token) } == true, "\(path)")
        }
    }

    /// The kernel reports all that it has, and each is judged.
    private mutating func serve() {
        flush()
        var isStale = false
        for (entry, value) in kernel.set {
            guard group.isKnown(value.token) else {
                isStale = true
                // Of a file that the library does not mean by this number, or of one that it has let go of.
                #expect(
                    wanted[entry.number] == nil || meant[entry.number] != entry.file
                        || told.contains(entry.number),
                    "\(path)")
                continue
            }
            let known = group.descriptor(of: value.token)
            #expect(known?.descriptor == entry.number && known?.interest == wanted[entry.number], "\(path)")
            #expect(meant[entry.number] == entry.file, "\(path)")
        }
        if !isStale { return }
        kernel.set = [:]
        let (before, beforeTold) = (wanted, told)
        group.restore()
        set = []
        flush()
        // What was closed is forgotten in silence.
        for (number, _) in before where kernel.files[number] == nil && !told.contains(number) {
            wanted[number] = nil
        }
        #expect(told == beforeTold, "\(path)")
        for value in kernel.set.values { #expect(group.isKnown(value.token), "\(path)") }
        expectWatched()
    }

    /// Takes reports of before, and lets go of each number: none of them counts any more.
    mutating func expectStaleReportsAreDropped() {
        let tokens = kernel.set.map { (entry: $0.key, token: $0.value.token) }
        for (entry, token) in tokens {
            _ = group.setInterest([], of: entry.number)
            #expect(group.descriptor(of: token) == nil, "\(path)")
            _ = group.setInterest(.read, of: entry.number)
            #expect(group.descriptor(of: token) == nil, "\(path)")
        }
    }
}
