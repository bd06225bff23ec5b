extension Database {
    /// The result of salvaging a corrupt database.
    public struct RepairReport: Sendable, Hashable {
        /// How many documents are in the new database.
        public let documents: Int

        /// How many of those no checksum protects: they parse as documents, but a value in them may be wrong.
        public let unprotected: Int

        /// How many collections are in it.
        public let collections: Int

        /// How many indexes are in it.
        public let indexes: Int

        /// How many bytes could not be read.
        public let lostBytes: Int

        /// How many commits are lost: what they changed is unknown.
        public let lostCommits: Int

        /// How many documents that the index files list are lost; when those cannot be read, none is counted.
        public let lostDocuments: Int

        /// How many documents of the new database are an older version: the newest is known to be lost.
        public let olderDocuments: Int

        /// How many documents of the new database a lost commit may have changed or removed.
        public let uncertainDocuments: Int

        /// The documents of the new database that may differ from the lost state, at most 1000.
        public let suspects: [SuspectDocument]

        /// The same for each collection.
        public let byCollection: [SalvagedCollection]

        /// What could not be read, at most 1000.
        public let problems: [Problem]

        /// How many problems there are.
        public let problemCount: Int

        /// Whether nothing was lost.
        public var isComplete: Bool { problemCount == 0 && lostBytes == 0 }

        init(_ document: BSONDocument) {
            documents = document["documents"]?.intValue ?? 0
            unprotected = document["unprotected"]?.intValue ?? 0
            collections = document["collections"]?.intValue ?? 0
            indexes = document["indexes"]?.intValue ?? 0
            lostBytes = document["lostBytes"]?.intValue ?? 0
            lostCommits = document["lostCommits"]?.intValue ?? 0
            lostDocuments = document["lostDocuments"]?.intValue ?? 0
            olderDocuments = document["olderDocuments"]?.intValue ?? 0
            uncertainDocuments = document["uncertainDocuments"]?.intValue ?? 0
            suspects = (document["suspects"]?.arrayValue ?? []).compactMap(\.documentValue).map(SuspectDocument.init)
            byCollection = (document["byCollection"]?.arrayValue ?? []).compactMap(\.documentValue)
                .map(SalvagedCollection.init)
            problems = Problem.list(document)
            problemCount = document["problemCount"]?.intValue ?? problems.count
        }
    }

    /// A document of a salvaged database that may differ from the lost state.
    public struct SuspectDocument: Sendable, Hashable {
        /// Why it may differ.
        public enum Reason: String, Sendable, Hashable {
            /// No checksum protects it: a value in it may be wrong.
            case unprotected
            /// It is an older version: the newest is known to be lost.
            case older
            /// A lost commit may have changed or removed it.
            case uncertain
        }

        /// The collection that it is in.
        public let collection: String

        /// Its `_id`.
        public let id: BSONValue

        /// Why it may differ.
        public let reason: Reason

        init(_ document: BSONDocument) {
            collection = document["collection"]?.stringValue ?? ""
            id = document["_id"] ?? .null
            reason = document["reason"]?.stringValue.flatMap(Reason.init) ?? .uncertain
        }
    }

    /// What was salvaged of one collection.
    public struct SalvagedCollection: Sendable, Hashable {
        /// Its name.
        public let name: String

        /// How many documents are in the new database.
        public let documents: Int

        /// How many of those no checksum protects.
        public let unprotected: Int

        /// How many of those are an older version.
        public let older: Int

        /// How many of those a lost commit may have changed or removed.
        public let uncertain: Int

        /// How many documents are lost that the index files know of.
        public let lost: Int

        init(_ document: BSONDocument) {
            name = document["name"]?.stringValue ?? ""
            documents = document["documents"]?.intValue ?? 0
            unprotected = document["unprotected"]?.intValue ?? 0
            older = document["older"]?.intValue ?? 0
            uncertain = document["uncertain"]?.intValue ?? 0
            lost = document["lost"]?.intValue ?? 0
        }
    }

    /// Salvages a corrupt database: copies every readable document into a new one, with the known collections and
    /// indexes. Of a document with several readable versions it takes the newest. A collection whose name is lost gets
    /// the name in the index files, or `recovered_` and a number.
    ///
    /// - Parameters:
    ///   - damaged: The folder of the corrupt database, which is not changed.
    ///   - path: The folder of the new database; nothing may exist there.
    ///   - progress: Called on this thread with the progress. An error that it throws ends the work.
    /// - Returns: What was salvaged and what was lost.
    /// - Throws: ``TansuError`` with `.notFound` (no database), `.locked` (it is open), `.exists` (something is at
    ///   `path`), `.full`, `.io` or `.version`; what `progress` throws.
    public static func repair(
        from damaged: String, to path: String, progress: (Progress) throws -> Void = { _ in }
    ) throws -> RepairReport {
        RepairReport(try EngineDatabase.repair(from: damaged, to: path, progress: progress))
    }

    /// Salvages a corrupt database: copies every readable document into a new one.
    ///
    /// - Parameters:
    ///   - damaged: The folder of the corrupt database, which is not changed.
    ///   - path: The folder of the new database; nothing may exist there.
    ///   - progress: Called on a thread of its own with the progress. An error that it throws ends the work.
    /// - Returns: What was salvaged and what was lost.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public static func repair(
        from damaged: String, to path: String, progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> RepairReport {
        try await WorkQueue.ofOneJob("tansu repair").run { flag in
            try repair(from: damaged, to: path) { state in
                try progress(state)
                try flag.check()
            }
        }
    }
}
