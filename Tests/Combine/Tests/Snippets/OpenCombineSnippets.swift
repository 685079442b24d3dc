import Foundation
import FoundationRunLoops
import OpenCombine
import RunLoopsOpenCombine

func show(_ prices: PassthroughSubject<Int, Never>, _ show: @escaping (Int) -> Void) -> AnyCancellable {
    prices
        .debounce(for: .milliseconds(20), scheduler: RunLoop.main.ocombine)
        .sink { show($0) }
}

func count(_ name: Notification.Name, _ count: @escaping () -> Void) -> [AnyCancellable] {
    [
        NotificationCenter.default.publisher(for: name).sink { _ in count() },
        Timer.publish(every: 0.05, on: .main, in: .common).autoconnect().sink { _ in count() },
    ]
}
