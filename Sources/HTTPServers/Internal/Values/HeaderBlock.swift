#if HTTPServers
    internal import HTTPTypes
    internal import NIOHTTP1
    internal import Synchronization

    /// The fields of a header, which are converted when they are first used.
    ///
    /// > Thread safety: any thread.
    final class HeaderBlock: Sendable {
        private enum Fields {
            case received(HTTPHeaders)
            case converted(HTTPFields)
        }

        private let fields: Mutex<Fields>

        init(_ received: HTTPHeaders) { fields = Mutex(.received(received)) }

        init(_ fields: HTTPFields) { self.fields = Mutex(.converted(fields)) }

        var value: HTTPFields {
            fields.withLock { fields in
                switch fields {
                case .converted(let value): return value
                case .received(let headers):
                    let value = HeaderBlock.converted(headers)
                    fields = .converted(value)
                    return value
                }
            }
        }

        private static func converted(_ headers: HTTPHeaders) -> HTTPFields {
            var fields = HTTPFields()
            fields.reserveCapacity(headers.count)
            for (name, value) in headers where !FieldText.areEqual(name, "Host") {
                // The rules of requests have checked that the name is a token.
                guard let name = HTTPField.Name(name) else { continue }
                fields.append(HTTPField(name: name, value: FieldText.trimmed(value)))
            }
            return fields
        }
    }

    extension HeaderBlock: Hashable {
        static func == (one: HeaderBlock, other: HeaderBlock) -> Bool {
            one === other || one.value == other.value
        }

        func hash(into hasher: inout Hasher) { hasher.combine(value) }
    }
#endif
