import Foundation

/// Adds up what the steps of a cursor take, and notes the sum when it ends.
///
/// `@unchecked Sendable`: everything that changes is touched under the lock only.
final class CursorMeter: @unchecked Sendable {
    private let instruments: Instruments
    private let call: MeasuredCall
    private let lock = NSLock()
    private var duration = Duration.zero
    private var failed = false
    private var hasEnded = false

    init(_ instruments: Instruments, _ call: MeasuredCall) {
        self.instruments = instruments
        self.call = call
    }

    func add(since start: ContinuousClock.Instant?, failed: Bool) {
        guard let start else { return }
        lock.withLock {
            duration += ContinuousClock.now - start
            self.failed = self.failed || failed
        }
    }

    /// Notes the sum, once.
    func end(on engine: EngineDatabase) {
        let sum: (Duration, Bool)? = lock.withLock {
            if hasEnded { return nil }
            hasEnded = true
            return (duration, failed)
        }
        if let sum { instruments.note(call, sum.0, failed: sum.1, on: engine) }
    }
}
