#if TansuSync
import TansuBSON

extension Replication {
    /// What a replication does.
    public enum Status: Sendable {
        /// It copies documents, or looks for some.
        case busy(Progress)
        /// Both sides have everything; it waits for changes.
        case idle(Progress)
        /// A server does not answer, or says that it cannot: why, and in how many seconds it is asked again.
        case offline(reason: String, seconds: Double, Progress)
        /// It has ended.
        case stopped(Progress)
        /// It has ended, because of an error that trying again does not help against.
        case failed(any Error, Progress)

        /// What was done so far.
        public var progress: Progress {
            switch self {
            case .busy(let progress), .idle(let progress), .stopped(let progress), .failed(_, let progress),
                .offline(_, _, let progress):
                progress
            }
        }

        /// Whether it has ended.
        public var isEnd: Bool {
            switch self {
            case .stopped, .failed: true
            default: false
            }
        }
    }

    /// What a replication did so far, both directions together.
    public struct Progress: Sendable, Hashable {
        /// A document that was not replicated. The others were.
        public struct Failure: Sendable, Hashable {
            /// The id of the document.
            public let id: String
            /// The revision; nil when it is not known.
            public let revision: Revision?
            /// Why not.
            public let reason: String

            /// Whether both are the same, text byte by byte.
            public static func == (a: Self, b: Self) -> Bool {
                a.id == b.id && a.revision == b.revision && a.reason == b.reason
            }
        }

        /// How many revisions were read.
        public internal(set) var documentsRead = 0
        /// How many revisions were written.
        public internal(set) var documentsWritten = 0
        /// How many revisions were not replicated.
        public internal(set) var failedDocuments = 0
        /// The first 100 of these.
        public internal(set) var failures: [Failure] = []
        /// About how many changes are still to be looked at; nil when that is not known.
        public internal(set) var remainingChanges: Int?

        mutating func add(_ report: ReplicationReport, remaining: Int?) {
            documentsRead += report.documentsRead
            documentsWritten += report.documentsWritten
            failedDocuments += report.writeFailures
            failures += report.failures.map { Failure(id: $0.id, revision: $0.revision, reason: $0.reason) }
            failures = Array(failures.prefix(ReplicationReport.failureLimit))
            if let remaining { remainingChanges = (remainingChanges ?? 0) + remaining }
        }
    }
}

extension Replication.Status: CustomStringConvertible {
    /// One line.
    public var description: String {
        switch self {
        case .busy(let progress): "busy: \(progress)"
        case .idle(let progress): "idle: \(progress)"
        case .offline(let reason, let seconds, _):
            "offline: \(reason); trying again in \((seconds * 10).rounded() / 10) s"
        case .stopped(let progress): "stopped: \(progress)"
        case .failed(let error, let progress): "failed: \(error); \(progress)"
        }
    }
}

extension Replication.Progress: CustomStringConvertible {
    /// The numbers.
    public var description: String {
        var text = "\(documentsRead) read, \(documentsWritten) written, \(failedDocuments) failed"
        if let remainingChanges { text += ", about \(remainingChanges) changes remain" }
        return text
    }
}

/// What a run of a replication did.
package struct ReplicationReport: Sendable, Hashable {
    /// A revision that was not replicated. The others were.
    package struct Failure: Sendable, Hashable {
        @BytewiseText package private(set) var id: String
        /// nil when it is not known.
        package let revision: Revision?
        @BytewiseText package private(set) var reason: String
    }

    /// The greatest number of failures that are kept. All are counted.
    static let failureLimit = 100

    /// The revisions that the target was asked for.
    package internal(set) var missingChecked = 0
    /// Those of them that it did not have.
    package internal(set) var missingFound = 0
    /// The revisions that were read of the source.
    package internal(set) var documentsRead = 0
    package internal(set) var documentsWritten = 0
    /// The revisions that the target refused.
    package internal(set) var writeFailures = 0
    /// The revisions that came with `_bulk_get`, and those of them of which nothing else had to be asked for.
    package internal(set) var bulkGetAttempts = 0
    package internal(set) var bulkGetDocuments = 0
    /// The first of the revisions that were refused.
    package internal(set) var failures: [Failure] = []

    /// The name of the run.
    package internal(set) var session = ""
    /// The sequence of the source up to which the target has everything.
    package internal(set) var sequence: PeerSequence?
    /// The last checkpoint that was recorded; nil when there was nothing new.
    package internal(set) var checkpoint: ReplicationCheckpoint?

    /// The checkpoint of the source from before the run.
    package internal(set) var former: ReplicationCheckpoint?

    /// Adds what a later run did.
    mutating func add(_ other: ReplicationReport) {
        missingChecked += other.missingChecked
        missingFound += other.missingFound
        documentsRead += other.documentsRead
        documentsWritten += other.documentsWritten
        writeFailures += other.writeFailures
        bulkGetAttempts += other.bulkGetAttempts
        bulkGetDocuments += other.bulkGetDocuments
        failures = Array((failures + other.failures).prefix(Self.failureLimit))
    }

    mutating func add(_ failure: Failure) {
        writeFailures += 1
        if failures.count < Self.failureLimit { failures.append(failure) }
    }
}
#endif
