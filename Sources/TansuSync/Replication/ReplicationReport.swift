#if TansuSync
    import TansuBSON

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
