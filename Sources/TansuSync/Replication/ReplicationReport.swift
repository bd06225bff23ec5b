#if TansuSync
    /// What a run of a replication did.
    package struct ReplicationReport: Sendable, Hashable {
        /// A revision that was not replicated. The others were.
        package struct Failure: Sendable, Hashable {
            package let id: String
            package let revision: Revision
            package let reason: String
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
        /// The first of the revisions that were refused.
        package internal(set) var failures: [Failure] = []

        mutating func add(_ failure: Failure) {
            writeFailures += 1
            if failures.count < Self.failureLimit { failures.append(failure) }
        }
    }
#endif
