import Glibc
import Testing

@testable import RunLoops

/// A kernel with few descriptors, one epoll set, and its answers to the changes of a `DescriptorGroup`.
struct ModelKernel {
    struct Entry: Hashable {
        let number: CInt
        let file: Int
    }

    /// The open file of each number.
    var files: [CInt: Int] = [:]
    /// The files of which a copy stays open.
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

    /// Closes a number; when the last copy of a file is closed, the kernel forgets the file.
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

/// A library and a group with a model kernel, and the rules that hold for them.
///
/// The library removes its interest in a number before it opens the number again. Apart from that, it can make any mistake.
struct DescriptorGroupModel {
    enum Step: CaseIterable { case open, openRegular, close, copy, read, write, letGo, flush, serve }

    private typealias Interest = DescriptorSource.Interest

    private var kernel = ModelKernel()
    private var group = DescriptorGroup()
    private var wanted: [CInt: Interest] = [:]
    /// The file of each number at the time when the library set its first interest, or nil if the number was closed.
    private var meant: [CInt: Int?] = [:]
    /// The numbers whose interest was refused and reported, and has not been set since.
    private var told: Set<CInt> = []
    /// The numbers whose interest was set since the last changes of the kernel's set.
    private var set: Set<CInt> = []
    private(set) var path: [String] = []

    /// Takes a step, if it is possible, and checks the rules.
    ///
    /// - Returns: False if the step is impossible or changes nothing.
    mutating func take(_ step: Step, _ number: CInt) -> Bool {
        path.append("\(step) \(number)")
        switch step {
        case .open, .openRegular:
            // The library removes its interest first.
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
            // Each of these is of interest, cannot be watched, was set since the last report, and is reported once.
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

    /// Expects that the kernel watches each open file of the library with the right interest.
    private func expectWatched() {
        for (number, interest) in wanted where !told.contains(number) {
            // The number was closed silently: its file is forgotten, or is reported through a copy.
            guard let file = kernel.files[number] else { continue }
            let entry = kernel.set[ModelKernel.Entry(number: number, file: file)]
            #expect(entry?.interest == interest, "\(path)")
            #expect(entry.map { group.isKnown($0.token) } == true, "\(path)")
        }
    }

    /// Reports all that the kernel's set contains, and checks each report.
    private mutating func serve() {
        flush()
        var isStale = false
        for (entry, value) in kernel.set {
            guard group.isKnown(value.token) else {
                isStale = true
                // The file is not that of the library's interest, or the interest was removed or refused.
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
        // Closed numbers are forgotten silently.
        for (number, _) in before where kernel.files[number] == nil && !told.contains(number) {
            wanted[number] = nil
        }
        #expect(told == beforeTold, "\(path)")
        for value in kernel.set.values { #expect(group.isKnown(value.token), "\(path)") }
        expectWatched()
    }

    /// Expects that earlier reports do not count after the interest in their numbers was removed.
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
