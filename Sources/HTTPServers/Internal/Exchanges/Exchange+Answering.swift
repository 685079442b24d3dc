internal import HTTPMessages
internal import RunLoops

// The functions behind the user's calls that answer a request.
extension Exchange {
    /// Answers the request with a response whose whole body is given.
    @discardableResult
    func answer(_ response: HTTPServer.Response) -> Bool {
        if isAnswered { return false }
        if let problem = ResponseRules.problem(status: response.status, fields: response.fields) {
            refuseAnswer(problem)
        } else if let made = unsafe libraryAnswer(response) {
            contents.answer = unsafe .whole(made, status: response.status)
        } else {
            // There is no memory for the answer, so the connection is closed without one.
            contents.isAborted = true
        }
        resume()
        return true
    }

    /// Answers the request with a streamed body, a file or an upgrade.
    @discardableResult
    func answer(_ answer: ServerAnswer) -> Bool {
        if isAnswered { return false }
        if let problem = answer.problem {
            refuseAnswer(problem)
        } else {
            contents.answer = answer
            if isStream {
                contents.stream = StreamedBody()
                contents.heldFace = currentFace
            }
        }
        resume()
        return true
    }

    /// Reports a problem with the user's answer, and sends status 500 instead.
    private func refuseAnswer(_ problem: String) {
        RunLoopDiagnostics.report(
            "HTTPExchange: the answer to \(request) is not sent, because \(problem)")
        answer(HTTPServer.Response(status: 500))
    }

    func write(_ bytes: [UInt8]) -> Bool {
        if !isOpen || contents.stream?.hasEnded == true { return false }
        let mayGoOn = contents.stream?.output.append(bytes) ?? false
        resume()
        return mayGoOn
    }

    func finishStream() {
        contents.stream?.hasEnded = true
        resume()
    }

    func abort() {
        if !isOpen { return }
        contents.isAborted = true
        resume()
    }

    /// Ends a streamed answer, because the client has closed the connection.
    func clientWasSeenToLeave() {
        contents.clientHasLeft = true
        abort()
    }

    func faceIsGone() {
        contents.faces -= 1
        answerIfDropped()
    }

    func responderIsGone() {
        contents.responders -= 1
        answerIfDropped()
    }

    /// Answers with status 500 if the user's code has released all objects that could answer.
    private func answerIfDropped() {
        if contents.faces == 0 && contents.responders == 0 && !isAnswered {
            answer(HTTPServer.Response(status: 500))
        }
    }
}
