// A fuzzer of packets from other processes. `.ci/fuzz` builds the fuzzer with the files that decode packets, and runs it.

/// One input is all that a peer sends on one connection: for each packet its number of descriptors, its length, and its bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var rest = UnsafeRawBufferPointer(start: start, count: count)[...]
    guard let first = rest.popFirst() else { return 0 }
    let limits = Frame.Limits(bodyLength: 64, descriptorCount: 2)
    var state = ConnectionState(first & 1 == 0 ? .server : .client, limits: limits)
    while let descriptors = rest.popFirst(), let length = rest.popFirst() {
        let packet = rest.prefix(Int(length))
        rest = rest.dropFirst(Int(length))
        take(UnsafeRawBufferPointer(rebasing: packet), Int(descriptors), &state)
    }
    return 0
}

/// Receives one packet as a connection does, and checks the invariants of every packet.
private func take(_ packet: UnsafeRawBufferPointer, _ descriptors: Int, _ state: inout ConnectionState) {
    let wasOpen = state.isOpen
    do throws(Frame.Fault) {
        let frame = try Frame(decoding: packet, descriptors: descriptors)
        check(frame, packet, descriptors)
        switch state.receive(frame) {
        case .greet:
            precondition(wasOpen && state.isOpen && !state.isConnecting, "a greeting lets in")
            precondition(frame.limits.descriptorCount <= Frame.mostDescriptors, "what a packet can carry")
        case .deliver, .answer:
            precondition(
                state.isOpen && !state.isConnecting && state.limits.allow(frame), "admitted, within limits")
        case .refuse(let refusal), .close(let refusal):
            precondition(wasOpen && !state.isOpen && state.refusal == refusal, "the end, once")
        case .drop: precondition(!wasOpen, "what comes after the end is dropped")
        }
    } catch {
        precondition(!error.description.isEmpty, "each fault has words")
        precondition(state.refuse(.malformed) == (wasOpen ? .refuse(.malformed) : .drop), "the end, once")
        precondition(!state.isOpen, "the end")
    }
}

/// Checks that an accepted packet is the only encoding of its contents.
private func check(_ frame: Frame, _ packet: UnsafeRawBufferPointer, _ descriptors: Int) {
    precondition(frame.bodyLength + Frame.headLength == packet.count, "the length is true")
    precondition(frame.descriptorCount == descriptors, "the number of descriptors is true")
    let words = frame.encoded
    for index in words.indices {
        let found = packet.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
        precondition(words[index] == found, "written again it is the same")
    }
}
