import TestSupport
import Testing

@testable import RunLoops

/// The descriptors of a library, and the changes of the kernel's epoll set.
@Suite struct DescriptorGroupTests {
    private typealias Answer = DescriptorGroup.Answer
    private typealias Kind = DescriptorGroup.Change.Kind

    /// A class around a group, so that expectations can mutate it.
    private final class Group {
        private var group = DescriptorGroup()
        var count: Int { group.count }
        var hasRefused: Bool { group.hasRefused }
        func setInterest(_ interest: DescriptorSource.Interest, of descriptor: CInt) -> Bool {
            group.setInterest(interest, of: descriptor)
        }
        func nextChange() -> DescriptorGroup.Change? { group.nextChange() }
        func note(_ answer: Answer, to change: DescriptorGroup.Change) -> DescriptorGroup.Change? {
            group.note(answer, to: change)
        }
        func isKnown(_ token: UInt64) -> Bool { group.isKnown(token) }
        func descriptor(of token: UInt64) -> CInt? { group.descriptor(of: token)?.descriptor }
        func takeRefused() -> CInt? { group.takeRefused() }

        /// Takes out all changes, and answers each with success.
        func changes() -> [(kind: Kind, descriptor: CInt, interest: DescriptorSource.Interest)] {
            var changes: [(kind: Kind, descriptor: CInt, interest: DescriptorSource.Interest)] = []
            while let change = nextChange() {
                changes.append((change.kind, change.descriptor, change.interest))
                #expect(note(.done, to: change) == nil)
            }
            return changes
        }
    }

    @Test func `the kernel gets the last of several changes, and none that changes nothing`() {
        let group = Group()
        #expect(!group.setInterest([], of: 5))
        #expect(group.setInterest(.read, of: 5))
        #expect(!group.setInterest(.write, of: 5))
        #expect(!group.setInterest(.read, of: 6))
        #expect(group.changes().map(\.descriptor).sorted() == [5, 6])
        #expect(!group.setInterest(.write, of: 5))
        #expect(group.setInterest(.read, of: 5))
        _ = group.setInterest(.write, of: 5)
        #expect(group.changes().isEmpty)
        _ = group.setInterest([.read, .write], of: 5)
        let modified = group.changes()
        #expect(
            modified.count == 1 && modified[0].kind == .modify && modified[0].interest == [.read, .write])
        _ = group.setInterest([], of: 5)
        #expect(group.count == 2)
        let removed = group.changes()
        #expect(removed.count == 1 && removed[0].kind == .remove)
        #expect(group.count == 1)
        _ = group.setInterest(.read, of: 7)
        _ = group.setInterest([], of: 7)
        #expect(group.changes().isEmpty)
        #expect(group.count == 1)
    }

    @Test func `a number that was let go of and is wanted again may be another file's`() throws {
        let group = Group()
        _ = group.setInterest(.read, of: 5)
        let added = try #require(group.nextChange())
        #expect(group.note(.done, to: added) == nil)
        _ = group.setInterest([], of: 5)
        _ = group.setInterest(.read, of: 5)
        #expect(group.descriptor(of: added.token) == nil)
        let modify = try #require(group.nextChange())
        #expect(modify.kind == .modify && modify.token != added.token)
        let add = try #require(group.note(.notInSet, to: modify))
        #expect(add.kind == .add && add.token == modify.token)
        #expect(group.note(.done, to: add) == nil)
        #expect(!group.isKnown(added.token) && group.isKnown(add.token))
        #expect(group.descriptor(of: add.token) == 5)
    }

    @Test func `a kernel that contradicts itself is asked twice, and then the descriptor is refused`() throws
    {
        for (first, second) in [(Answer.inSet, Answer.notInSet), (.inSet, .inSet)] {
            let group = Group()
            _ = group.setInterest(.read, of: 5)
            let add = try #require(group.nextChange())
            let modify = try #require(group.note(first, to: add))
            #expect(group.note(second, to: modify) == nil)
            #expect(group.takeRefused() == 5)
            #expect(group.takeRefused() == nil)
        }
    }

    @Test func `a descriptor that was refused is told once, and tried again when it is set again`() throws {
        let group = Group()
        for _ in 0..<3 {
            _ = group.setInterest(.read, of: 5)
            let add = try #require(group.nextChange())
            #expect(add.kind == .add)
            #expect(group.note(.refused, to: add) == nil)
            #expect(group.hasRefused)
            #expect(group.takeRefused() == 5)
            #expect(!group.hasRefused)
        }
        // Set again before the report, and refused again: reported once.
        for _ in 0..<2 {
            _ = group.setInterest(.write, of: 6)
            let add = try #require(group.nextChange())
            #expect(group.note(.closed, to: add) == nil)
        }
        #expect(group.takeRefused() == 6)
        #expect(group.takeRefused() == nil)
        // The interest is removed before the report: never reported.
        _ = group.setInterest(.read, of: 6)
        let add = try #require(group.nextChange())
        #expect(group.note(.refused, to: add) == nil)
        _ = group.setInterest([], of: 6)
        #expect(group.takeRefused() == nil)
    }

    // Guarantees: A report of a descriptor that is no longer watched is dropped.
    @Test func `every sequence of six steps with one descriptor keeps the rules`() {
        var count = 0
        visit(DescriptorGroupModel(), numbers: [5], depth: 6, &count)
        #expect(count > 50_000)
    }

    @Test func `every sequence of four steps with two descriptors keeps the rules`() {
        var count = 0
        visit(DescriptorGroupModel(), numbers: [5, 6], depth: 4, &count)
        #expect(count > 10_000)
    }

    private func visit(_ model: DescriptorGroupModel, numbers: [CInt], depth: Int, _ count: inout Int) {
        count += 1
        if depth == 0 { return }
        for step in DescriptorGroupModel.Step.allCases {
            for number in step == .flush || step == .serve ? numbers.prefix(1) : numbers[...] {
                var next = model
                if next.take(step, number) { visit(next, numbers: numbers, depth: depth - 1, &count) }
            }
        }
    }

    @Test(arguments: 0..<20) func `long random sequences keep the rules`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var model = DescriptorGroupModel()
        for _ in 0..<300 {
            let step = DescriptorGroupModel.Step.allCases.randomElement(using: &random) ?? .serve
            _ = model.take(step, CInt.random(in: 5..<9, using: &random))
        }
        _ = model.take(.serve, 5)
        model.expectStaleReportsAreDropped()
    }
}
