#if TansuSync
import Foundation
import Tansu
import TansuBSON

/// The work of a replication: its directions, what each of them does, and who wants to know it.
final class ReplicationRun: Sendable {
    private struct Way: Sendable {
        let source: any ReplicationPeer
        let target: any ReplicationPeer
    }

    /// What one direction does.
    private enum Activity {
        case busy
        case idle
        case offline(reason: String, seconds: Double)
        case done
    }

    private struct State {
        var activities: [Activity]
        /// What each direction did in its runs before the current one.
        var former: [ReplicationReport]
        /// What each direction did in its current run.
        var current: [ReplicationReport]
        var pending: [Int?]
        var isComplete = false
        var end: Replication.Status?
        var readers: [Int: AsyncStream<Replication.Status>.Continuation] = [:]
        var nextReader = 0

        var progress: Replication.Progress {
            var progress = Replication.Progress()
            for way in current.indices {
                progress.add(former[way], remaining: nil)
                progress.add(current[way], remaining: pending[way])
            }
            return progress
        }

        /// Of several directions the one that waits for a server counts most, then the one that works.
        var status: Replication.Status {
            if let end { return end }
            for activity in activities {
                if case .offline(let reason, let seconds) = activity {
                    return .offline(reason: reason, seconds: seconds, progress)
                }
            }
            let isBusy = activities.contains { if case .busy = $0 { true } else { false } }
            return isBusy ? .busy(progress) : .idle(progress)
        }
    }

    private let ways: [Way]
    private let mode: Replication.Mode
    private let createsTarget: Bool
    /// The other side, if it is a database on a server.
    private let far: RemoteDatabase?
    private let retries: RetryPolicy
    private let options: Replicator.Options
    private let state: Locked<State>

    init(
        _ near: ReplicationSide, _ far: ReplicationSide, _ direction: Replication.Direction,
        _ mode: Replication.Mode, _ options: Replication.Options, _ transport: any HTTPTransport,
        _ retries: RetryPolicy,
        _ replicator: Replicator.Options
    ) throws {
        var retries = retries
        retries.attempts = options.attempts
        self.retries = retries
        self.mode = mode
        createsTarget = options.createsTarget
        var replicatorOptions = replicator
        replicatorOptions.filter = try options.replicationFilter()
        replicatorOptions.batchSize = options.batchSize
        replicatorOptions.batchBytes = options.batchBytes
        self.options = replicatorOptions
        let count = direction == .both ? 2 : 1
        let state = Locked(
            State(
                activities: .init(repeating: .busy, count: count),
                former: .init(repeating: ReplicationReport(), count: count),
                current: .init(repeating: ReplicationReport(), count: count),
                pending: .init(repeating: nil, count: count)))
        self.state = state
        var remotes: [(isFar: Bool, database: RemoteDatabase)] = []
        // Each direction has requests of its own, so that the status says which of them waits.
        func peer(_ side: ReplicationSide, _ way: Int, isFar: Bool) -> any ReplicationPeer {
            switch side {
            case .collection(let collection): return LocalPeer(collection)
            case .remote(let url, let credentials):
                let database = RemoteDatabase(
                    url, credentials: credentials, transport: transport, retries: retries,
                    onRetry: { failure, seconds in
                        Self.set(.offline(reason: SyncError(failure).message, seconds: seconds), way, state)
                    }, onRecovery: { Self.set(.busy, way, state) })
                remotes.append((isFar, database))
                let form: WireJSONForm = options.jsonForm == .plain ? .plain : .extended
                return HTTPPeer(database, form: form, timeout: options.timeout)
            }
        }
        // What the other side has comes first, so that a push takes place upon what both know.
        let directions: [Replication.Direction] = direction == .both ? [.pull, .push] : [direction]
        ways = directions.enumerated().map { index, direction in
            let (near, far) = (peer(near, index, isFar: false), peer(far, index, isFar: true))
            return direction == .push ? Way(source: near, target: far) : Way(source: far, target: near)
        }
        self.far = remotes.first { $0.isFar }?.database
    }

    // MARK: Running

    func run() async {
        do {
            if createsTarget { try await create() }
            switch mode {
            case .once: for way in ways.indices { try await runOnce(way) }
            case .continuous: try await runContinuously()
            }
            end { $0.isComplete = true }
        } catch is CancellationError { end() } catch { end(error) }
    }

    private func create() async throws {
        // 412: it exists.
        _ = try await far?.json("PUT", "", accepted: [412])
    }

    private func runOnce(_ way: Int) async throws {
        let report = try await replicator(way).runOnce()
        Self.update(state) { state in
            state.current[way] = report
            state.activities[way] = .done
        }
    }

    private func runContinuously() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for way in ways.indices { group.addTask { try await self.runContinuously(way) } }
            try await group.waitForAll()
        }
    }

    /// A server that is away for days ends no continuous replication.
    private func runContinuously(_ way: Int) async throws {
        var failures = 0
        while true {
            let written = state.withLock { $0.current[way].documentsWritten }
            do {
                try await replicator(way).runContinuously { _ in Self.set(.idle, way, self.state) }
            } catch let failure as RemoteFailure where failure.isTransient {
                let isProgress = state.withLock { state in
                    let isProgress = state.current[way].documentsWritten > written
                    state.former[way].add(state.current[way])
                    state.current[way] = ReplicationReport()
                    return isProgress
                }
                failures = isProgress ? 1 : failures + 1
                // Requests were repeated with growing delays already.
                let delay = retries.delay(
                    after: failures + min(retries.attempts, 64), atLeast: failure.retryAfter)
                Self.set(.offline(reason: SyncError(failure).message, seconds: delay), way, state)
                try await retries.sleep(delay)
                Self.set(.busy, way, state)
            }
        }
    }

    private func replicator(_ way: Int) -> Replicator {
        var options = options
        let state = state
        options.onProgress = { report, pending in
            Self.update(state) { state in
                state.current[way] = report
                state.pending[way] = pending
                if case .idle = state.activities[way] { state.activities[way] = .busy }
            }
        }
        return Replicator(from: ways[way].source, to: ways[way].target, options)
    }

    private func end(_ error: (any Error)? = nil, _ change: (inout State) -> Void = { _ in }) {
        let error = (error as? RemoteFailure).map { SyncError($0) } ?? error
        let readers = state.withLock { state in
            change(&state)
            let progress = state.progress
            let end = error.map { Replication.Status.failed($0, progress) } ?? .stopped(progress)
            state.end = end
            let readers = Array(state.readers.values)
            state.readers = [:]
            for reader in readers { reader.yield(end) }
            return readers
        }
        // Ending a stream calls what takes the lock.
        for reader in readers { reader.finish() }
    }

    // MARK: Status

    var status: Replication.Status { state.withLock { $0.status } }

    /// Whether it came to its end by itself.
    var isComplete: Bool { state.withLock { $0.isComplete } }

    var reports: [ReplicationReport] { state.withLock { $0.current } }

    func statuses() -> AsyncStream<Replication.Status> {
        let (stream, reader) = AsyncStream.makeStream(
            of: Replication.Status.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state -> Int? in
            reader.yield(state.status)
            guard state.end == nil else { return nil }
            state.nextReader += 1
            state.readers[state.nextReader] = reader
            return state.nextReader
        }
        guard let number else {
            reader.finish()
            return stream
        }
        reader.onTermination = { [state] _ in state.withLock { _ = $0.readers.removeValue(forKey: number) } }
        return stream
    }

    private static func set(_ activity: Activity, _ way: Int, _ state: Locked<State>) {
        update(state) { $0.activities[way] = activity }
    }

    private static func update(_ state: Locked<State>, _ change: (inout State) -> Void) {
        // Inside of the lock, so that of two directions the older status does not come last.
        state.withLock { state in
            change(&state)
            let status = state.status
            for reader in state.readers.values { reader.yield(status) }
        }
    }
}
#endif
