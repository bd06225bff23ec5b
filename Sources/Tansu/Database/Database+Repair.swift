import CTansu

extension Database {
    /// What could be salvaged of a damaged database.
    public struct RepairReport: Sendable, Hashable {
        /// How many documents are in the new database.
        public let documents: Int

        /// How many of those no checksum protects: they read as whole documents, and a value in them may be wrong.
        public let unprotected: Int

        /// How many collections are in it.
        public let collections: Int

        /// How many indexes are in it.
        public let indexes: Int

        /// How many bytes could not be read.
        public let lostBytes: Int

        /// How many commits are lost: what they changed is not known.
        public let lostCommits: Int

        /// How many documents are lost that the index files know of; when those can't be read, none is counted.
        public let lostDocuments: Int

        /// How many documents of the new database are there in an older version: the newest is known to be lost.
        public let olderDocuments: Int

        /// How many documents of the new database a lost commit may have changed or deleted.
        public let uncertainDocuments: Int

        /// The documents of the new database that may not be what they were, at most 1000.
        public let doubtful: [DoubtfulDocument]

        /// The figures of each collection.
        public let byCollection: [CollectionFigures]

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
            doubtful = (document["doubtful"]?.arrayValue ?? []).compactMap(\.documentValue).map(DoubtfulDocument.init)
            byCollection = (document["byCollection"]?.arrayValue ?? []).compactMap(\.documentValue)
                .map(CollectionFigures.init)
            problems = Problem.list(document)
            problemCount = document["problemCount"]?.intValue ?? problems.count
        }
    }

    /// A document of a salvaged database that may not be what it was.
    public struct DoubtfulDocument: Sendable, Hashable {
        /// Why it may not be.
        public enum Reason: String, Sendable, Hashable {
            /// No checksum protects it: a value in it may be wrong.
            case unprotected
            /// It is an older version: the newest is known to be lost.
            case older
            /// A lost commit may have changed or deleted it.
            case uncertain
        }

        /// The collection that it is in.
        public let collection: String

        /// Its `_id`.
        public let id: BSONValue

        /// Why it may not be what it was.
        public let reason: Reason

        init(_ document: BSONDocument) {
            collection = document["collection"]?.stringValue ?? ""
            id = document["_id"] ?? .null
            reason = document["reason"]?.stringValue.flatMap(Reason.init) ?? .uncertain
        }
    }

    /// What could be salvaged of one collection.
    public struct CollectionFigures: Sendable, Hashable {
        /// Its name.
        public let name: String

        /// How many documents are in the new database.
        public let documents: Int

        /// How many of those no checksum protects.
        public let unprotected: Int

        /// How many of those are an older version.
        public let older: Int

        /// How many of those a lost commit may have changed or deleted.
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

    /// Salvages a damaged database: every document that can be read goes into a new one, with the collections and
    /// indexes that are known. Of a document with several readable versions the newest is taken. A collection that
    /// lost its name is called `recovered_` and a number.
    ///
    /// - Parameters:
    ///   - damaged: The damaged database's folder, which is not changed.
    ///   - path: The new database's folder; nothing may be there yet.
    ///   - progress: Told, on this thread, how much is read. What it throws ends the work.
    /// - Returns: What was salvaged and what was lost: look at it.
    /// - Throws: ``TansuError`` with `.notFound` (no database), `.locked` (it is open), `.exists` (something is at
    ///   `path`), `.full`, `.io` or `.version`; what `progress` throws.
    public static func repair(
        from damaged: String, to path: String, progress: (Progress) throws -> Void = { _ in }
    ) throws -> RepairReport {
        try damaged.checkPath()
        try path.checkPath()
        return RepairReport(try engineTask(progress) { tansu_repair(damaged, path, $0, $1, $2, $3) })
    }

    /// Salvages a damaged database: every document that can be read goes into a new one.
    ///
    /// - Parameters:
    ///   - damaged: The damaged database's folder, which is not changed.
    ///   - path: The new database's folder; nothing may be there yet.
    ///   - progress: Told, on a thread of its own, how much is read. What it throws ends the work.
    /// - Returns: What was salvaged and what was lost: look at it.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public static func repair(
        from damaged: String, to path: String, progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> RepairReport {
        try await WorkLane("tansu repair", width: 1).run { flag in
            try repair(from: damaged, to: path) { state in
                try progress(state)
                try flag.check()
            }
        }
    }
}
