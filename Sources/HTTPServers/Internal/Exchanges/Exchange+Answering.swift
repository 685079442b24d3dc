#if HTTPServers
    internal import HTTPTypes
    internal import RunLoops
    internal import Streams

    // The functions behind the program's calls that answer a request.
    extension Exchange {
        /// Answers the request with a response whose whole body is given.
        @discardableResult
        func answer(_ response: HTTPServer.Response) -> Bool {
            if hasResponse { return false }
            if !mayAnswer(response.status, response.headerFields) { return true }
            let omits = omitsBody(response.status)
            let saysNothing =
                ResponseRules.forbidsBody(response.status.code)
                && (response.status != .notModified || response.body.isEmpty)
            writeHead(
                response.status, response.headerFields, saysNothing ? .none : .counted(response.body.count))
            if !omits {
                account.byteCount = response.body.count
                link.connection.write(response.body)
            }
            responseIsWritten()
            return true
        }

        /// Begins a response whose body is written later.
        ///
        /// The server keeps `face`, the object of the program, from now on.
        func beginStream(
            _ status: HTTPResponse.Status, _ fields: HTTPFields, _ length: Int?, _ face: HTTPExchange
        ) -> Bool {
            if hasResponse { return false }
            if !mayAnswer(status, fields) { return true }
            let stated: StatedLength
            if ResponseRules.forbidsBody(status.code) {
                stated = status == .notModified ? length.map { .counted($0) } ?? .none : .none
            } else if let length {
                stated = .counted(length)
            } else if request.version == "1.0" {
                stated = .none
                account.keepsAlive = false
            } else {
                stated = .chunked
            }
            if omitsBody(status) {
                // The header is the whole response: the client goes on with its next request.
                writeHead(status, fields, stated)
                responseIsWritten()
                return true
            }
            let framing: BodyFraming =
                switch stated {
                case .counted(let count): .counted(count)
                case .chunked: .chunked
                case .none: .untilClose
                }
            response = .stream(framing)
            heldFace = face
            writeHead(status, fields, stated)
            link.goesOn()
            return true
        }

        /// Answers with the rest of a file.
        func answer(_ file: FileBody?, _ status: HTTPResponse.Status, _ fields: HTTPFields) -> Bool {
            if hasResponse { return false }
            guard let file else {
                refuseResponse("the descriptor is not of a regular file")
                return true
            }
            if !mayAnswer(status, fields) { return true }
            writeHead(
                status, fields, ResponseRules.forbidsBody(status.code) ? .none : .counted(file.left))
            if omitsBody(status) || file.left == 0 {
                responseIsWritten()
            } else {
                response = .file(file)
                link.goesOn()
            }
            return true
        }

        /// Answers with an upgrade, which happens when the response is sent.
        func answer(_ upgrade: Upgrade, _ fields: HTTPFields) -> Bool {
            if hasResponse { return false }
            if let problem = ResponseRules.problem(status: 200, fields: fields) {
                refuseResponse(problem)
                return false
            }
            response = .upgrade(upgrade)
            account.status = .switchingProtocols
            link.connection.write(
                link.server.head(.switchingProtocols, fields, .none, connection: "upgrade"))
            link.awaitUpgrade(self)
            return true
        }

        private func mayAnswer(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> Bool {
            guard let problem = ResponseRules.problem(status: status.code, fields: fields) else {
                return true
            }
            refuseResponse(problem)
            return false
        }

        /// Reports a problem with the program's response, and sends status 500 instead.
        private func refuseResponse(_ problem: String) {
            RunLoopDiagnostics.report(
                "HTTPExchange: the response to \(request) is not sent, because \(problem)")
            answer(.status(.internalServerError))
        }

        private func writeHead(
            _ status: HTTPResponse.Status, _ fields: HTTPFields, _ length: StatedLength
        ) {
            account.status = status
            if !isReceived || server.isStopping { account.keepsAlive = false }
            let connection: String? =
                !account.keepsAlive ? "close" : request.version == "1.0" ? "keep-alive" : nil
            link.connection.write(server.head(status, fields, length, connection: connection))
        }

        private func responseIsWritten() {
            response = .written
            link.responseIsWritten(self)
        }

        // MARK: - Streams

        func write(_ count: Int, _ append: (Connection) -> Bool) -> Bool {
            guard isOpen, case .stream(let framing) = response else { return false }
            if count == 0 { return link.connection.unsentByteCount <= link.connection.options.highWaterMark }
            account.byteCount += count
            let connection = link.connection
            switch framing {
            case .counted(let left):
                if count > left {
                    RunLoopDiagnostics.report(
                        "HTTPExchange: the response to \(request) is cut off, because more bytes were written than its length says"
                    )
                    fail(.failed)
                    return false
                }
                response = .stream(.counted(left - count))
                return append(connection)
            case .chunked:
                connection.write(String(count, radix: 16) + "\r\n")
                _ = append(connection)
                return connection.write("\r\n" as StaticString)
            case .untilClose: return append(connection)
            }
        }

        /// Writes bytes that are copied.
        func write(_ bytes: RawSpan) -> Bool {
            // Safe: the bytes are used while the span lives.
            unsafe bytes.withUnsafeBytes { buffer in
                write(buffer.count) { $0.write(unsafe RawSpan(_unsafeBytes: buffer)) }
            }
        }

        func endStream() {
            guard isOpen, case .stream(let framing) = response else { return }
            switch framing {
            case .counted(let left) where left > 0: return fail(.failed)
            case .chunked: link.connection.write("0\r\n\r\n" as StaticString)
            case .counted, .untilClose: break
            }
            responseIsWritten()
        }

        /// Writes the next piece of a file.
        func writePiece() {
            guard isOpen, case .file(let file) = response else { return }
            guard let bytes = file.next() else { return fail(.failed) }
            account.byteCount += bytes.count
            link.connection.write(bytes)
            if file.left == 0 { responseIsWritten() }
        }

        /// Ends the exchange and its connection, so that the client sees that the response is incomplete.
        func fail(_ reason: HTTPExchange.EndReason) {
            if endReason != nil { return }
            var resets = false
            if case .stream(let framing) = response { resets = framing.endsWithConnection }
            link.end(self, reason, resets: resets)
        }

        // MARK: - Nobody is left who could answer

        func faceIsGone() {
            holders.faces -= 1
            answerIfDropped()
        }

        func responderIsGone() {
            holders.responders -= 1
            answerIfDropped()
        }

        /// Answers with status 500 if the program has released all objects that could answer.
        private func answerIfDropped() {
            if holders.faces == 0 && holders.responders == 0 && !hasResponse {
                answer(.status(.internalServerError))
            }
        }
    }
#endif
