internal import FoundationEssentials

extension DistributedNotification {
    /// Decodes the payload, which must be JSON, as a value of the given type.
    ///
    /// - Parameter type: The type.
    /// - Returns: The value.
    /// - Throws: ``DistributedNotificationError/Reason/coding`` if the payload is not JSON of the type.
    public func decode<Value: Decodable>(
        _ type: Value.Type
    ) throws(DistributedNotificationError) -> Value {
        do { return try JSONDecoder().decode(type, from: Data(payload)) } catch {
            throw DistributedNotificationError(.coding, details: "\(error)")
        }
    }
}

/// Encodes values as JSON payloads.
enum JSONCoding {
    static func encode(_ value: some Encodable) throws(DistributedNotificationError) -> [UInt8] {
        do { return Array(try JSONEncoder().encode(value)) } catch {
            throw DistributedNotificationError(.coding, details: "\(error)")
        }
    }
}
