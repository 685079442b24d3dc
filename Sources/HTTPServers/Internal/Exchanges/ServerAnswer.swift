internal import CHTTPDaemon
internal import HTTPMessages
internal import RunLoops
internal import Streams

/// An answer that the user has given to a request.
@safe
enum ServerAnswer {
    /// A response object of libmicrohttpd that contains the whole answer.
    ///
    /// ``Exchange/sendAnswer()`` or ``Exchange/releaseAnswer()`` releases the object.
    case whole(OpaquePointer, status: Int)
    /// The state that replaces ``whole(_:status:)`` after the response object was released.
    ///
    /// Before the release, the object was passed to libmicrohttpd, unless the exchange ended first or the answer could not be sent.
    case sent
    case stream(_ status: Int, HTTPFields, count: Int?)
    case file(FileBody, _ status: Int, HTTPFields)
    indirect case upgrade(HTTPFields, Connection.Options, (Connection) -> Void)

    static func stream(_ status: Int, _ fields: HTTPFields, _ count: Int?) -> ServerAnswer {
        .stream(status, fields, count: count)
    }

    var status: Int {
        switch self {
        case .whole(_, let status): status
        case .stream(let status, _, _), .file(_, let status, _): status
        case .upgrade: 101
        case .sent: 0
        }
    }

    /// The fields of the answer; empty if they are already in a response object of libmicrohttpd.
    var fields: HTTPFields {
        switch self {
        case .whole, .sent: [:]
        case .stream(_, let fields, _), .file(_, _, let fields), .upgrade(let fields, _, _): fields
        }
    }

    /// The reason that the answer must not be sent; nil if the answer is valid.
    var problem: String? {
        if case .file(let file, _, _) = self, file.count == nil {
            return "the descriptor is not of a regular file"
        }
        var status = status
        if case .upgrade = self { status = 200 }
        return ResponseRules.problem(status: status, fields: fields)
    }
}

/// A file that is the body of an answer.
final class FileBody {
    private var file: OwnedDescriptor?
    /// The number of bytes from the file's offset to its end; nil if the descriptor does not refer to a regular file.
    let count: Int64?

    init(_ file: consuming OwnedDescriptor) {
        let size = runloops_body_size(file.descriptor)
        count = size < 0 ? nil : size
        self.file = consume file
    }

    /// Returns the descriptor, which the caller then owns; returns -1 after the first call.
    func release() -> CInt {
        switch file.take() {
        case .some(let file): file.release()
        case nil: -1
        }
    }
}
