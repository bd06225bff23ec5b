#if TansuServer
import Foundation
import TansuBSON
import TansuSync

/// The replications that clients have started.
final class ReplicationJobs: Sendable {
    /// One of them.
    struct Job: Sendable {
        let id: String
        let source: String
        let target: String
        let user: String?
        let isContinuous: Bool
        let startTime: Date
        let replication: Replication
    }

    private struct State {
        var jobs: [String: Job] = [:]
        var isEnded = false
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) { self.limit = limit }

    /// The jobs that have not ended, the oldest first.
    var all: [Job] {
        state.withLock { state in
            state.jobs = state.jobs.filter { !$0.value.replication.status.isEnd }
            return state.jobs.values.sorted { ($0.startTime, $0.id) < ($1.startTime, $1.id) }
        }
    }

    /// Starts a job, unless one with its id runs.
    ///
    /// - Returns: The job with that id.
    /// - Throws: ``HTTPFailure`` with 503 when there are too many, or when the server shuts down; what `start` throws.
    func job(_ id: String, _ start: () throws -> Job) throws -> Job {
        try state.withLock { state in
            if let job = state.jobs[id], !job.replication.status.isEnd { return job }
            state.jobs = state.jobs.filter { !$0.value.replication.status.isEnd }
            guard !state.isEnded, state.jobs.count < limit else {
                throw HTTPFailure.overloaded("Too many replications")
            }
            let job = try start()
            state.jobs[id] = job
            return job
        }
    }

    /// Takes a job away.
    func remove(_ id: String) -> Job? { state.withLock { $0.jobs.removeValue(forKey: id) } }

    /// Stops all jobs, and lets no more begin.
    func end() async {
        let jobs = state.withLock { state in
            state.isEnded = true
            defer { state.jobs = [:] }
            return state.jobs.values.map(\.replication)
        }
        for job in jobs { await job.stop() }
    }
}
#endif
