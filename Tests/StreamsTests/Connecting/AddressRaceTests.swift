import RunLoops
import Testing

@testable import Streams

/// The addresses of a host are tried in the order of RFC 8305.
@Suite struct AddressRaceTests {
    private let start = Moment.now()

    private func address(_ host: String) throws -> SocketAddress {
        try #require(SocketAddress(host: host, port: 1))
    }

    private func after(_ milliseconds: Int64) -> Moment { start.advanced(by: milliseconds * 1_000_000) }

    @Test func `the families take turns, beginning with the first address`() throws {
        let six = try ["::1", "::2", "::3"].map(address)
        let four = try ["10.0.0.1"].map(address)
        var race = AddressRace(six + four)
        var order: [SocketAddress] = []
        while let next = race.takeNext(at: start) {
            order.append(next)
            race.didFail()
        }
        #expect(order == [six[0], four[0], six[1], six[2]])
        #expect(race.isLost)
    }

    @Test func `a second attempt waits a quarter of a second for the first one`() throws {
        let addresses = try ["::1", "10.0.0.1"].map(address)
        var race = AddressRace(addresses)
        #expect(race.takeNext(at: start) == addresses[0])
        #expect(race.takeNext(at: after(249)) == nil)
        #expect(race.nextStart == after(250))
        #expect(race.takeNext(at: after(250)) == addresses[1])
        #expect(race.nextStart == nil)
        #expect(!race.isLost)
    }

    @Test func `a busy address is tried again a little later`() throws {
        let addresses = try ["10.0.0.1"].map(address)
        var race = AddressRace(addresses)
        #expect(race.takeNext(at: start) == addresses[0])
        race.isBusy(addresses[0], at: start)
        #expect(!race.isLost)
        #expect(race.takeNext(at: after(9)) == nil)
        #expect(race.nextStart == after(10))
        #expect(race.takeNext(at: after(10)) == addresses[0])
        race.didFail()
        #expect(race.isLost)
    }

    @Test func `an attempt begins at once when one has failed`() throws {
        let addresses = try ["::1", "10.0.0.1", "::2"].map(address)
        var race = AddressRace(addresses)
        #expect(race.takeNext(at: start) == addresses[0])
        race.didFail()
        #expect(race.takeNext(at: after(1)) == addresses[1])
        #expect(race.takeNext(at: after(2)) == nil)
        race.didFail()
        #expect(!race.isLost)
        #expect(race.takeNext(at: after(3)) == addresses[2])
        race.didFail()
        #expect(race.isLost)
    }

    @Test func `no address is a lost race`() { #expect(AddressRace([]).isLost) }
}
