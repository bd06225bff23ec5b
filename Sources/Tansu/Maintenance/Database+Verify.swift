extension Database {
    /// A corruption that was detected.
    public struct Problem: Sendable, Hashable {
        /// The file, as it is called in the database's folder; empty when it concerns none.
        public let file: String

        /// The byte of the file where it begins; `nil` when it has no location.
        public let offset: Int64?

        /// How many bytes it concerns; `nil` when unknown.
        public let size: Int?

        /// The collection; `nil` when it concerns none.
        public let collection: String?

        /// The index; `nil` when it concerns none.
        public let index: String?

        /// One sentence: what is wrong.
        public let message: String

        init(_ document: BSONDocument) {
            file = document["file"]?.stringValue ?? ""
            offset = document["offset"]?.int64Value.flatMap { $0 < 0 ? nil : $0 }
            size = document["size"]?.intValue
            collection = document["collection"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
            index = document["index"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
            message = document["message"]?.stringValue ?? ""
        }

        /// The problems in a report.
        static func list(_ report: BSONDocument) -> [Problem] {
            (report["problems"]?.arrayValue ?? []).compactMap(\.documentValue).map(Problem.init)
        }
    }
}

// MARK: - Verify

extension Database {
    /// The result of a verification.
    public struct VerifyReport: Sendable, Hashable {
        /// How many files of the log were read.
        public let segments: Int

        /// How many frames of the log were read; each is one commit or a part of one.
        public let frames: Int

        /// How many records those hold.
        public let records: Int

        /// How many documents there are.
        public let documents: Int

        /// How many entries of indexes there are.
        public let entries: Int

        /// How many documents cannot be read, or are in a corrupt part of the log, where no checksum protects them.
        public let damagedDocuments: Int

        /// The same for each collection that has such documents, by its name.
        public let damagedByCollection: [String: Int]

        /// The corruptions, at most 1000.
        public let problems: [Problem]

        /// How many problems there are.
        public let problemCount: Int

        init(_ document: BSONDocument) {
            segments = document["segments"]?.intValue ?? 0
            frames = document["frames"]?.intValue ?? 0
            records = document["records"]?.intValue ?? 0
            documents = document["documents"]?.intValue ?? 0
            entries = document["entries"]?.intValue ?? 0
            damagedDocuments = document["damagedDocuments"]?.intValue ?? 0
            damagedByCollection = (document["byCollection"]?.arrayValue ?? []).compactMap(\.documentValue)
                .reduce(into: [:]) { counts, one in
                    guard let name = one["name"]?.stringValue, let damaged = one["damaged"]?.intValue, damaged > 0
                    else { return }
                    counts[name] = damaged
                }
            problems = Problem.list(document)
            problemCount = document["problemCount"]?.intValue ?? problems.count
        }
    }

    /// Verifies everything that is stored: the log, every document, and every index against the documents. Readers and
    /// writers continue.
    ///
    /// It returns only when no corruption was detected. For example:
    ///
    /// ```swift
    /// do {
    ///     print(try db.verify().documents, "documents, all of them valid")
    /// } catch let error as TansuError where error.code == .corrupt {
    ///     for problem in error.verifyReport?.problems ?? [] { print(problem.message) }
    /// }
    /// ```
    ///
    /// - Parameter progress: Called on this thread with the progress. An error that it throws ends the work.
    /// - Returns: How much was verified.
    /// - Throws: ``TansuError`` with `.corrupt` (the first of the problems; all are in ``TansuError/verifyReport``),
    ///   `.io`, `.busy` (a compaction on demand, a backup or another verification is running) or `.closed`; what
    ///   `progress` throws.
    @discardableResult
    public func verify(progress: (Progress) throws -> Void = { _ in }) throws -> VerifyReport {
        VerifyReport(try engine.verify(progress: progress))
    }

    /// Verifies everything that is stored, while readers and writers continue.
    ///
    /// - Parameter progress: Called on a thread of the database with the progress.
    /// - Returns: How much was verified.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func verify(
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> VerifyReport {
        try await readers.run { flag in
            try self.verify { state in
                try progress(state)
                try flag.check()
            }
        }
    }
}

extension TansuError {
    /// Everything that `verify(progress:)` found, when the error is from there; `nil` otherwise.
    public var verifyReport: Database.VerifyReport? { report.map(Database.VerifyReport.init) }
}

// MARK: - Repair

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
