import Foundation

/// Adds up the durations of a cursor's steps, for one record of the whole query.
///
/// `@unchecked Sendable`: everything that changes is touched under the lock only.
final class CursorTimer: @unchecked Sendable {
    private let call: MeasuredCall
    private let lock = NSLock()
    private var duration = Duration.zero
    private var failed = false
    private var hasEnded = false

    init(_ call: MeasuredCall) {
        self.call = call
    }

    func add(since start: ContinuousClock.Instant?, failed: Bool) {
        guard let start else { return }
        lock.withLock {
            duration += ContinuousClock.now - start
            self.failed = self.failed || failed
        }
    }

    /// Records nothing.
    func discard() {
        lock.withLock { hasEnded = true }
    }

    /// Records the sum, once.
    func end(_ record: (MeasuredCall, Duration, _ failed: Bool) -> Void) {
        let sum: (Duration, Bool)? = lock.withLock {
            if hasEnded { return nil }
            hasEnded = true
            return (duration, failed)
        }
        if let sum { record(call, sum.0, sum.1) }
    }
}
