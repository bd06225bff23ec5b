#if TansuSync
import Foundation
import TansuBSON

/// Tasks that wait for an update sequence. However many there are, one of them at a time looks for changes.
final class SequenceWaiters: Sendable {
    private struct State {
        var newest: Int64 = -1
        var waiters: [UUID: (sequence: Int64, continuation: CheckedContinuation<Void, any Error>)] = [:]
        /// The task that looks, and its number: one that was cancelled may still end.
        var looking: (number: Int, task: Task<Void, Never>?)?
        var lookCount = 0
    }

    private let state = Locked(State())

    /// Waits until the newest sequence is above a number.
    ///
    /// - Parameters:
    ///   - sequence: The number.
    ///   - look: Returns the newest sequence above a number, once there is one; ends when its task is cancelled.
    func wait(
        above sequence: Int64, _ look: @escaping @Sendable (Int64) async throws -> Int64
    ) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isDone, number) = state.withLock { state -> (Bool, Int?) in
                    if state.newest > sequence || Task.isCancelled { return (true, nil) }
                    state.waiters[id] = (sequence, continuation)
                    guard state.looking == nil else { return (false, nil) }
                    state.lookCount += 1
                    state.looking = (state.lookCount, nil)
                    return (false, state.lookCount)
                }
                if isDone { continuation.resume() }
                if let number { begin(number, look) }
            }
        } onCancel: {
            remove(id)?.resume(throwing: CancellationError())
        }
        try Task.checkCancellation()
    }

    private func begin(_ number: Int, _ look: @escaping @Sendable (Int64) async throws -> Int64) {
        let task = Task { await self.look(number, look) }
        let isNeeded = state.withLock { state -> Bool in
            guard state.looking?.number == number else { return false }
            state.looking?.task = task
            return true
        }
        if !isNeeded { task.cancel() }
    }

    /// Forgets a waiter. With the last one the looking ends, which keeps the database open.
    private func remove(_ id: UUID) -> CheckedContinuation<Void, any Error>? {
        let (waiter, task) = state.withLock {
            state -> (CheckedContinuation<Void, any Error>?, Task<Void, Never>?) in
            let waiter = state.waiters.removeValue(forKey: id)?.continuation
            guard state.waiters.isEmpty else { return (waiter, nil) }
            defer { state.looking = nil }
            return (waiter, state.looking?.task)
        }
        task?.cancel()
        return waiter
    }

    /// Looks for changes as long as somebody waits.
    private func look(_ number: Int, _ look: @Sendable (Int64) async throws -> Int64) async {
        while true {
            // Not above what the waiters want: one that waits for a sequence far ahead holds nobody back.
            let known = state.withLock { state -> Int64? in
                guard state.looking?.number == number else { return nil }
                if state.waiters.isEmpty {
                    state.looking = nil
                    return nil
                }
                return state.newest
            }
            guard let known else { return }
            let result: Result<Int64, any Error>
            do { result = .success(try await look(known)) } catch { result = .failure(error) }
            if Task.isCancelled { return }
            for (continuation, error) in finished(result) {
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    private func finished(
        _ result: Result<Int64, any Error>
    ) -> [(CheckedContinuation<Void, any Error>, (any Error)?)] {
        state.withLock { state in
            switch result {
            case .success(let newest):
                state.newest = newest
                let ready = state.waiters.filter { $0.value.sequence < newest }
                for id in ready.keys { state.waiters[id] = nil }
                return ready.values.map { ($0.continuation, nil) }
            case .failure(let error):
                defer { state.waiters = [:] }
                return state.waiters.values.map { ($0.continuation, error) }
            }
        }
    }
}
#endif
