internal import RunLoops

extension Listener {
    var part: InspectedPart {
        InspectedPart(
            "listener", madeAt: origin,
            [
                .init("listeners", 1), .init("open connections", limits.count),
                .init("accepted", statistics.accepted),
                .init("refused", statistics.refusedPeers + statistics.refusedForDescriptors),
                .init("pauses", statistics.pauses),
            ])
    }
}

extension Connection {
    var part: InspectedPart {
        InspectedPart(
            "connection", madeAt: origin,
            [
                .init("connections", 1), .init("unsent bytes", unsentByteCount),
                .init("paused", isReadingPaused ? 1 : 0),
            ])
    }
}

extension ConnectionAttempt {
    var part: InspectedPart {
        InspectedPart("connection being made", madeAt: connection.origin, [.init("attempts", 1)])
    }
}

extension StreamGroup {
    /// The descriptions of the group's members, as an inspector shows them.
    ///
    /// Members of the same kind that were created at the same source location are combined into one description, with the sums of
    /// their counts.
    var parts: [InspectedPart] {
        var sums: [String: InspectedPart] = [:]
        var order: [String] = []
        for part in memberParts {
            let key = "\(part.kind) \(part.madeAt)"
            if let sum = sums[key] {
                sums[key] = sum + part
            } else {
                sums[key] = part
                order.append(key)
            }
        }
        return order.compactMap { sums[$0] }
    }
}
