/// The kind of an event of the flight recorder.
///
/// Each event has a number and a place. The place is a source location or a text. The first kinds, up to `endHandler`, are calls of
/// handlers, and have the same raw values as in ``RunLoop/HandlerKind``. Each later kind has a comment that explains its number and
/// its place.
enum EventKind: UInt8, Hashable, Sendable, CaseIterable {
    case block = 1
    case job, timer, manualSource, descriptor, port, observer, delivery, mainQueue, deferredWork, endHandler
    /// A run of a loop. The event's place is the mode, and its number is the ``RunLoop/RunResult``.
    case run = 32
    /// A sleep of a loop. The event's number contains the bits of ``WakeCauses``.
    case sleep
    /// A thread has sent messages. The event's number is the count of the messages.
    case post
    /// A sender has found a port full. The event's place is the source location at which the port was made.
    case fullPort
    /// A thread has waited for another thread. The event's number is 1 if the wait was refused because it would have closed a
    /// circle of waiting threads.
    case wait
    /// A mark that the program has recorded. The event's place is the text of the mark.
    case mark
    /// An interval that the program has recorded. The event's place is the text of the interval.
    case interval
    /// Several calls of message handlers, recorded as one event because they took long in total. The event's number is the count
    /// of the calls, and its place is the place of one of the handlers.
    case stretch
    /// A notification was posted. The event's place is the name of the notification, and its number is the count of observers.
    case notification
    /// Notifications were discarded, because an observer had no room. The event's number is the count of the notifications.
    case drop
    /// A connection of a port between processes has begun or has ended. The event's number is 1 if it has begun, and 0 if it has
    /// ended.
    case connection

    init(_ kind: HandlerKind) {
        guard let own = EventKind(rawValue: kind.rawValue) else {
            preconditionFailure("each kind of a handler is a kind of an event")
        }
        self = own
    }

    /// The kind of the handler, if the event is a call of a handler; nil for any other event.
    var handler: HandlerKind? { HandlerKind(rawValue: rawValue) }
}

/// The reasons for which a sleep of a loop has ended.
struct WakeCauses: OptionSet, Sendable {
    let rawValue: UInt16

    /// Other threads have sent messages.
    static let mail = WakeCauses(rawValue: 1)
    /// A descriptor is ready.
    static let descriptor = WakeCauses(rawValue: 2)
    /// A timer is due.
    static let timer = WakeCauses(rawValue: 4)
}
