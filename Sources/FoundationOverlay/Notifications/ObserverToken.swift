internal import Foundation
internal import Notifications

/// The token for an observation, as `addObserver(forName:object:queue:using:)` returns it.
///
/// Releasing the token does not end the observation: the center keeps the observation alive.
///
/// `@unchecked Sendable`: `NSObject` is not `Sendable`, and has no state here; the properties are constant.
final class ObserverToken: NSObject, @unchecked Sendable {
    private let observation: UnownedObservation

    init(_ observation: UnownedObservation) { self.observation = observation }

    /// Ends the observation, so that no call of its handler starts after this has returned.
    func remove() { observation.remove() }
}
