#if TansuSync
    import Foundation
    import TansuBSON

    /// Tasks that wait for an update sequence. However many there are, one of them at a time looks for changes.
    final class SequenceWaiters: Sendable {
        private struct State {
            var newest: Int64 = -1
            var waiters: [UUID: (sequence: Int64, continuation: CheckedContinuation<Void, any Error>)] = [:]
            var isLooking = false
        }

        private let state = Locked(State())

        /// Waits until the newest sequence is above a number.
        ///
        /// - Parameters:
        ///   - sequence: The number.
        ///   - look: Returns the newest sequence above a number, once there is one.
        func wait(
            above sequence: Int64, _ look: @escaping @Sendable (Int64) async throws -> Int64
        ) async throws {
            let id = UUID()
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let (isDone, begins) = state.withLock { state in
                        if state.newest > sequence || Task.isCancelled { return (true, false) }
                        state.waiters[id] = (sequence, continuation)
                        defer { state.isLooking = true }
                        return (false, !state.isLooking)
                    }
                    if isDone { continuation.resume() }
                    if begins { Task { await self.look(look) } }
                }
            } onCancel: {
                state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(
                    throwing: CancellationError())
            }
            try Task.checkCancellation()
        }

        /// Looks for changes as long as somebody waits.
        private func look(_ look: @Sendable (Int64) async throws -> Int64) async {
            while true {
                let lowest = state.withLock { state -> Int64? in
                    guard let lowest = state.waiters.values.map(\.sequence).min() else {
                        state.isLooking = false
                        return nil
                    }
                    return max(lowest, state.newest)
                }
                guard let lowest else { return }
                let result: Result<Int64, any Error>
                do { result = .success(try await look(lowest)) } catch { result = .failure(error) }
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
