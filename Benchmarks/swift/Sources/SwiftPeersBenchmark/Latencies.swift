import Synchronization

/// How long after a save an observation delivers it.
final class Latencies: Sendable {
    private struct State {
        var rounds = 0
        var sum = 0.0
        var start: ContinuousClock.Instant?
        var expected: Int?
    }

    private let state = Mutex(State())

    /// How many saves were delivered.
    var rounds: Int { state.withLock { $0.rounds } }

    var mean: Double { state.withLock { $0.sum / Double(max($0.rounds, 1)) } }

    /// Whether a result is the one that was saved last, or the first of all.
    func delivered(_ value: Int) -> Bool {
        state.withLock { state in
            guard let start = state.start else { return true }
            guard state.expected == value else { return false }
            state.sum += microseconds(since: start)
            state.rounds += 1
            return true
        }
    }

    /// Starts the clock; returns what to save.
    func begin() -> Int {
        state.withLock { state in
            let value = -1 - state.rounds
            state.expected = value
            state.start = .now
            return value
        }
    }
}
