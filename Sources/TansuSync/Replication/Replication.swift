#if TansuSync
    import Foundation
    import Tansu
    import TansuBSON

    /// A replication that is running, or has ended.
    ///
    /// ```swift
    /// let replication = try await people.replicate(with: "https://example.org/people", .both, .continuous)
    /// for await status in replication.statuses() { print(status) }
    /// ```
    ///
    /// It runs until it is done, ``stop()`` is called, or this value is released.
    public final class Replication: Sendable {
        /// Which way documents go, seen from the collection that `replicate` is called on.
        public enum Direction: String, Sendable, Hashable, CaseIterable {
            /// To the other side.
            case push
            /// From the other side.
            case pull
            /// Both ways.
            case both
        }

        /// When a replication ends.
        public enum Mode: String, Sendable, Hashable, CaseIterable {
            /// When the receiving side has everything.
            case once
            /// Not by itself: later changes are replicated as they come.
            case continuous
        }

        /// Which documents are replicated.
        public enum Filter: Sendable {
            /// All documents, also design documents.
            case all
            /// Documents with these ids.
            case ids([String])
            /// Documents that a Mango selector matches, as they are when they change. A document that does not match any more stays.
            case selector(BSONDocument)
        }

        /// How values of types that JSON lacks are written for a server.
        public enum JSONForm: String, Sendable, Hashable, CaseIterable {
            /// As relaxed extended JSON, such as `{"$date": "2026-11-24T09:00:00Z"}`: another Tansu reads the same types.
            case extended
            /// For peers that expect no extended JSON: dates as ISO 8601, binary data as base64, ObjectIds as hex digits,
            /// decimals as numbers. What comes back from the server has these types no more.
            case plain
        }

        /// What can be set of a replication.
        public struct Options: Sendable {
            /// Which documents are replicated.
            public var filter = Filter.all
            /// The greatest number of documents between two checkpoints.
            public var batchSize = 500
            /// About how many bytes of documents are written at once.
            public var batchBytes = 4 << 20
            /// Whether to create the database at the other side if it has none.
            public var createsTarget = false
            /// How values of types that JSON lacks are written for a server.
            public var jsonForm = JSONForm.extended
            /// A file of PEM certificates: only servers whose certificate goes back to one of them are trusted. The
            /// system's certificates when nil.
            public var trustedCertificates: String?
            /// The seconds without a byte after which a connection counts as broken: 1 or more.
            public var timeout = 75
            /// How often a request that fails is sent before a replication ends, or a continuous one begins again: 1 or more.
            public var attempts = 8

            /// The options that a replication has when none are given.
            public init() {}
        }

        private let run: ReplicationRun
        private let task: Task<Void, Never>

        /// Starts a replication between any two sides.
        package init(
            _ near: ReplicationSide, _ far: ReplicationSide, _ direction: Direction, _ mode: Mode,
            _ options: Options = Options(), transport: (any HTTPTransport)? = nil, retries: RetryPolicy = .system,
            replicator: Replicator.Options = .system
        ) throws {
            let run = try ReplicationRun(
                near, far, direction, mode, options, transport ?? options.transport(), retries, replicator)
            self.run = run
            task = Task { await run.run() }
        }

        deinit { task.cancel() }

        /// What it does now.
        public var status: Status { run.status }

        /// What it does now and whenever that changes; ends after ``Status/stopped(_:)`` or ``Status/failed(_:_:)``. A slow
        /// reader misses what is between, never the last one. Any number of tasks can read at once.
        public func statuses() -> AsyncStream<Status> { run.statuses() }

        /// Ends it, and waits until it has ended. What was replicated stays, and another one goes on from there.
        public func stop() async {
            task.cancel()
            await task.value
        }

        /// Waits until it has ended. A task that is cancelled stops it.
        ///
        /// - Returns: What it did.
        /// - Throws: ``ReplicationError`` or `TansuError`, if it failed; `CancellationError` if it was stopped before its end.
        @discardableResult
        public func wait() async throws -> Progress {
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
            switch run.status {
            case .failed(let error, _): throw error
            case .stopped(let progress):
                guard run.isComplete else { throw CancellationError() }
                return progress
            default: throw CancellationError()
            }
        }

        /// What each direction did, the one from the other side first; for checkpoints of CouchDB's form.
        package var reports: [ReplicationReport] { run.reports }
    }
#endif
