import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import HTTPClients

/// Any thread can cancel a transfer, invalidate a client, and release the last reference to it.
@Suite struct ClientEndElsewhereTests {
    // Guarantees: After a cancel on any thread, no call of the transfer's handlers begins but the report of the end, which does not
    // come during the cancel.
    @Test(arguments: TransferStage.allCases, [true, false])
    func `after a cancel elsewhere a transfer calls nothing but the report of its end`(
        stage: TransferStage, isDeinitializer: Bool
    ) throws {
        let transferStage = try ClientStage(stage)
        let before = transferStage.calls.entries
        try transferStage.whileMoreWaits {
            if isDeinitializer {
                let owner = Parting { transferStage.transfer.cancel() }
                owner.hold()
            } else {
                transferStage.transfer.cancel()
            }
            #expect(!transferStage.transfer.isOpen)
        }
        waitUntil("the end is reported") { transferStage.calls.entries.count > before.count }
        try transferStage.unpause()
        try transferStage.pass()
        #expect(transferStage.calls.entries == before + ["cancelled true"])
        #expect(transferStage.releases.entries == [true])
        transferStage.stop()
        #expect(transferStage.calls.entries == before + ["cancelled true"])
    }

    // Guarantees: After a client is invalidated on any thread, no call of its handlers begins but the reports of the ends.
    @Test(arguments: TransferStage.allCases)
    func `after a client is invalidated elsewhere its transfers call nothing but their ends`(
        stage: TransferStage
    ) throws {
        let clientStage = try ClientStage(stage)
        let before = clientStage.calls.entries
        try clientStage.whileMoreWaits {
            do {
                let owner = Parting { clientStage.client.invalidate() }
                owner.hold()
            }
            #expect(!clientStage.client.isValid)
        }
        waitUntil("the end is reported") { clientStage.calls.entries.count > before.count }
        try clientStage.pass()
        #expect(clientStage.calls.entries == before + ["the client was invalidated true"])
        #expect(clientStage.releases.entries == [true])
        clientStage.stop()
    }

    @Test func `a cancel elsewhere in the transfer's own handler is followed by its end only`() throws {
        let stage = try ClientStage(.receiving) { transfer in
            nonisolated(unsafe) let transfer = transfer
            do { try BareThread { unsafe transfer.cancel() }.join() } catch { Issue.record(error) }
        }
        stage.letMoreCome()
        waitUntil("the end is reported") { stage.calls.entries.count > 2 }
        try stage.pass()
        #expect(stage.calls.entries == ["response", "data", "cancelled true"])
        stage.stop()
    }

    // Guarantees: After a client is invalidated on any thread, no call of its handlers begins but the reports of the ends.
    @Test func `a client that its own handler has invalidated elsewhere calls the ends only`() throws {
        let client = Mutexed<HTTPClient>()
        let stage = try ClientStage(.sent)
        client.set(stage.client)
        let thread = stage.thread
        let other = Log<String>()
        try thread.runLoop.performAndWait {
            stage.client.start(HTTPClient.Request(stage.server.url("/whole"))) { transfer in
                transfer.onResponse { _, _ in
                    do { try BareThread { client.value?.invalidate() }.join() } catch { Issue.record(error) }
                }
                transfer.onData { _, _ in other.add("data") }
                transfer.onEnd { _, error in other.add("\(error?.reason.description ?? "complete")") }
            }
            stage.transfer.cancel()
        }
        waitUntil("the ends are reported") { other.entries.count > 0 }
        try stage.pass()
        #expect(other.entries == ["the client was invalidated"])
        #expect(stage.calls.entries == ["cancelled true"])
        stage.stop()
    }

    // Guarantees: After a cancel on any thread, no call of the transfer's handlers begins but the report of the end, which does not
    // come during the cancel.
    @Test func `a cancel elsewhere in another transfer's handler stops what is queued`() throws {
        try withServer({ try $0.answer() }, options: .local { $0.connectionLimitPerHost = 8 }) {
            client, server in
            var transfers: [HTTPTransfer] = []
            var (datas, ends) = (0, [HTTPClientError.Reason?]())
            var isFirst = true
            for _ in 0..<8 {
                transfers.append(
                    client.start(HTTPClient.Request(server.url("/"))) { transfer in
                        transfer.onResponse { transfer, _ in
                            if !isFirst { return }
                            isFirst = false
                            nonisolated(unsafe) let others = transfers.filter { $0 !== transfer }
                            do {
                                try BareThread { for other in unsafe others { other.cancel() } }.join()
                            } catch { Issue.record(error) }
                        }
                        transfer.onData { _, _ in datas += 1 }
                        transfer.onEnd { _, error in ends.append(error?.reason) }
                    })
            }
            #expect(client.loop.run(in: .network, until: .hang) == .finished)
            #expect(datas == 1 && ends.count == 8 && ends.count { $0 == .cancelled } == 7)
        }
    }

    // Guarantees: The handlers of a transfer are released once, on the thread of the loop, whichever thread ends the transfer.
    @Test(arguments: [true, false])
    func `an end elsewhere beside the end of the loop is reported once`(isClient: Bool) throws {
        for round in 0..<30 {
            let stage = try ClientStage(round % 2 == 0 ? .receiving : .sent)
            let ending = try BareThread {
                if isClient { stage.client.invalidate() } else { stage.transfer.cancel() }
            }
            stage.stop()
            ending.join()
            #expect(stage.calls.entries.filter { $0.hasSuffix("true") }.count == 1)
            #expect(stage.releases.entries == [true])
            #expect(!stage.client.isValid && !stage.transfer.isOpen)
        }
    }

    @Test func `an end after the end of the loop does nothing`() throws {
        let stage = try ClientStage(.receiving)
        stage.stop()
        let before = stage.calls.entries
        stage.transfer.cancel()
        stage.client.invalidate()
        #expect(stage.calls.entries == before)
        stage.releaseClient()
    }

    @Test func `a client that is released elsewhere ends with its last transfer`() throws {
        for stage in [TransferStage.sent, .pausedAtEnd] {
            let clientStage = try ClientStage(stage)
            try clientStage.whileMoreWaits { clientStage.releaseClient() }
            try clientStage.pass()
            #expect(clientStage.transfer.isOpen)
            if stage == .sent { clientStage.transfer.cancel() } else { try clientStage.unpause() }
            waitUntil("the end is reported") { clientStage.releases.entries == [true] }
            waitUntil("the client has given back everything") { (try? clientStage.hasGivenBack) == true }
            #expect(
                clientStage.calls.entries.last == (stage == .sent ? "cancelled true" : "complete true"))
            clientStage.stop()
        }
    }

    @Test func `a cancelled transfer whose end nobody hears does not keep its client`() throws {
        let server = try Server { $0.waitForEnd() }
        defer { server.stop() }
        try onLoopThread { loop in
            weak var set: TransferSet?
            do {
                let client = try HTTPClient(mode: .network, options: .local())
                set = client.transferSet
                let transfers = (0..<3).map { _ in client.start(HTTPClient.Request(server.url("/"))) { _ in }
                }
                loop.run(in: .network, until: "they are sent") { server.requests.entries.count == 3 }
                for transfer in transfers { transfer.cancel() }
                #expect(client.transferCount == 0)
            }
            #expect(set == nil)
        }
    }

    // Guarantees: A cancel or an invalidation in a forked child calls no handler, and the parent's transfer continues.
    @Test(arguments: [true, false])
    func `an end in a forked child leaves the parent's transfer as it is`(isClient: Bool) async {
        await #expect(processExitsWith: .success) { [isClient] in
            let stage = try ClientStage(.receiving)
            try stage.pass()
            let ending = Child {
                if isClient {
                    stage.client.invalidate()
                    stage.releaseClient()
                    return stage.calls.entries.count == 2 ? 0 : 1
                }
                stage.transfer.cancel()
                return stage.calls.entries.count == 2 && stage.releases.entries.count == 1 ? 0 : 1
            }.wait()
            #expect(ending == .exited(0))
            stage.letMoreCome()
            waitUntil("the rest is delivered") { stage.calls.entries.count > 2 }
            #expect(stage.calls.entries[2] == "data" && stage.transfer.isOpen)
            stage.transfer.cancel()
            waitUntil("the end is reported") { stage.calls.entries.last == "cancelled true" }
            stage.stop()
        }
    }

    @Test func `many transfers that deinitializers cancel elsewhere report their ends on the loop`() throws {
        let server = try Server { $0.waitForEnd() }
        defer { server.stop() }
        let thread = try RunLoopThread(name: "client")
        let (ends, wrong) = (Shared(), Shared())
        let transfers = Log<Passed>()
        try thread.runLoop.performAndWait {
            let client = try HTTPClient(options: .local())
            let loop = RunLoop.current
            for _ in 0..<300 {
                transfers.add(
                    Passed(
                        transfer: client.start(HTTPClient.Request(server.url("/"))) { transfer in
                            transfer.onEnd { _, error in
                                if error?.reason != .cancelled || !loop.isCurrent { wrong.increment() }
                                ends.increment()
                            }
                        }))
            }
        }
        let threads = try (0..<3).map { number in
            try BareThread {
                for index in stride(from: number, to: 300, by: 3) {
                    let passed = transfers.entries[index]
                    let owner = Parting { passed.transfer.cancel() }
                    owner.hold()
                }
            }
        }
        for thread in threads { thread.join() }
        waitUntil("all are reported") { ends.count == 300 }
        #expect(wrong.count == 0)
        thread.stop()
        thread.join()
    }

    private struct Passed: @unchecked Sendable { let transfer: HTTPTransfer }
}

/// A value that one thread sets before others read it.
private final class Mutexed<Value>: @unchecked Sendable {
    private(set) var value: Value?
    func set(_ value: Value) { self.value = value }
}
