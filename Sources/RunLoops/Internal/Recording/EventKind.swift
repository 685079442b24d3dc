/// The kind of an event of the flight recorder.
///
/// The numbers of handlers are the same as in ``RunLoop/HandlerKind``.
enum EventKind: UInt8, Hashable, Sendable, CaseIterable {
    case block = 1
    case job, timer, manualSource, descriptor, port, observer, delivery, mainQueue, deferredWork, endHandler
    /// A run of a loop. Its place is the mode, and its number the ``RunLoop/RunResult``.
    case run = 32
    /// A sleep of a loop. Its number contains the bits of ``WakeCauses``.
    case sleep
    /// A send of messages. Its number is the count of the messages.
    case post
    /// A port that a sender found full. Its place is the place of the port.
    case fullPort
    /// The wait of a thread for another thread. Its number is 1 if the wait was refused because it would have closed a circle.
    case wait
    /// A mark that the user has set. Its place is the text.
    case mark
    /// An interval that the user has recorded. Its place is the text.
    case interval
    /// A series of handlers that were not recorded one by one. Its number is their count, and its place is the place of one of
    /// them.
    case stretch
    /// A posted notification. Its place is the name, and its number is the count of observers.
    case notification
    /// A loss of notifications because an observer had no room. Its number is the count of the notifications.
    case drop
    /// The beginning or the end of a connection of a port between processes. Its number is 1 for a beginning.
    case connection

    init(_ kind: RunLoop.HandlerKind) {
        guard let own = EventKind(rawValue: kind.rawValue) else {
            preconditionFailure("each kind of a handler is a kind of an event")
        }
        self = own
    }

    /// The kind of the handler, if the event is a call of a handler.
    var handler: RunLoop.HandlerKind? { RunLoop.HandlerKind(rawValue: rawValue) }
}

/// The reasons for the end of a sleep.
struct WakeCauses: OptionSet, Sendable {
    let rawValue: UInt16

    /// Other threads have sent messages.
    static let mail = WakeCauses(rawValue: 1)
    /// A descriptor is ready.
    static let descriptor = WakeCauses(rawValue: 2)
    /// A timer is due.
    static let timer = WakeCauses(rawValue: 4)
}
