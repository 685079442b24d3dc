import Glibc
import MessagePorts
import RunLoops
import TestSupport
import Testing

/// A list of descriptors closes all that are not taken out.
@Suite struct OwnedDescriptorsTests {
    @Test func `a list closes the descriptors that are still in it`() throws {
        let wires = try (0..<3).map { _ in try Wire.sockets() }
        defer { for wire in wires { wire.close() } }
        let first = takeFirst(of: wires)
        #expect(!wires[0].isNearClosed() && wires[1].nearCloses() && wires[2].nearCloses())
        _ = consume first
        #expect(wires[0].nearCloses())
    }

    @Test func `a list that is released closes nothing`() throws {
        let wire = try Wire.sockets()
        defer { wire.close() }
        var list = OwnedDescriptors()
        list.append(OwnedDescriptor(wire.giveAwayNear()))
        let numbers = list.release()
        #expect(numbers == [wire.near])
        #expect(!wire.isNearClosed())
        close(wire.near)
        var empty = OwnedDescriptors()
        let isEmpty = empty.isEmpty
        #expect(isEmpty)
        if let taken = empty.takeFirst() { Issue.record("there was none, and not \(taken.descriptor)") }
    }
}

/// Makes a list of the near ends, takes the first one out, and destroys the list.
private func takeFirst(of wires: [Wire]) -> OwnedDescriptor? {
    var list = OwnedDescriptors()
    for wire in wires { list.append(OwnedDescriptor(wire.giveAwayNear())) }
    let (count, numbers) = (list.count, list.numbers)
    #expect(count == 3 && numbers == wires.map(\.near))
    let first = list.takeFirst()
    let rest = list.numbers
    #expect(rest == wires.dropFirst().map(\.near))
    return first
}
