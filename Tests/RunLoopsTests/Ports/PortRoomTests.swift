#if DEBUG
    import TestSupport
    import Testing

    @testable import RunLoops

    /// The room of a port is checked and reserved in one atomic operation.
    @Suite struct PortRoomTests {
        // Guarantees: Apart from messages of send-once rights, a port never holds more messages than its limit, however long a
        // sender is stalled.
        @Test(arguments: [.pushLooks, .pushExchanges] as [RacePoint])
        func `a sender that stalls while any number of messages pass is not accepted by a full port`(
            step: RacePoint
        )
            throws
        {
            let limit = 1_024
            let port = Port<Int>(queueLimit: PortQueueLimit(limit))
            let receiver = ManualReceiver(port)
            let stalled = StalledThread(at: step)
            let refusals = Log<PortSendRefusal>()
            let sender = try BareThread {
                stalled.watch {
                    do throws(PortSendError<Int>) { try port.send(-1, before: .distantPast) } catch {
                        refusals.add(error.reason)
                    }
                }
            }
            stalled.waitUntilStalled()
            // The number of values of bits 42 to 61 of the word. If these bits counted messages, the word would have its old value
            // again.
            let count = Int(Mailbox.Word.roomMask) + 1
            let word = port.core.queue.mailbox.current
            for sent in stride(from: 0, to: count, by: limit) {
                try port.send(contentsOf: sent..<sent + limit)
                if sent + limit < count { #expect(receiver.receiveAll().count == limit) }
            }
            // The port is full, although the receiver has taken all of its messages in.
            #expect(port.core.takeMail() > 0)
            #expect(port.core.queue.mailbox.current.node == word.node)
            stalled.goOn()
            sender.join()
            #expect(refusals.entries == [.timedOut])
            let error = #expect(throws: PortSendError<Int>.self) { try port.send(0, before: .distantPast) }
            #expect(error?.reason == .timedOut)
            #expect(receiver.receiveAll().count == limit)
            // The limit still holds.
            for number in 0..<limit { try port.send(number, before: .distantPast) }
            #expect(throws: PortSendError<Int>.self) { try port.send(0, before: .distantPast) }
        }

        @Test
        func
            `room that another sender is about to give back is waited for, and the port is not taken for full`()
            throws
        {
            let port = Port<Int>(queueLimit: 2)
            let receiver = ManualReceiver(port)
            try port.send(contentsOf: [0, 1])
            #expect(receiver.receiveAll() == [0, 1])
            let stalled = StalledThread(at: .roomMoves)
            let send: @Sendable (Int) -> Void = { number in
                do throws(PortSendError<Int>) { try port.send(number, before: .distantPast) } catch {
                    Issue.record(error)
                }
            }
            let first = try BareThread { stalled.watch { send(2) } }
            stalled.waitUntilStalled()
            let second = try BareThread { send(3) }
            stalled.goOn()
            first.join()
            second.join()
            #expect(receiver.receiveAll().sorted() == [2, 3])
        }

        @Test func `a receiver goes to sleep while a sender gives room back`() throws {
            let port = Port<Int>(queueLimit: 1)
            let receiver = ManualReceiver(port)
            try port.send(0)
            #expect(receiver.receiveAll() == [0])
            let stalled = StalledThread(at: .armExchanges)
            let isArmed = Shared()
            let sleeper = try BareThread {
                stalled.watch { if port.core.queue.mailbox.arm() { isArmed.increment() } }
            }
            stalled.waitUntilStalled()
            // No message was sent, but the word has changed.
            #expect(port.core.roomAtOnce() == 1)
            stalled.goOn()
            sleeper.join()
            #expect(isArmed.count == 1)
            withExtendedLifetime(receiver) {}
        }
    }
#endif
