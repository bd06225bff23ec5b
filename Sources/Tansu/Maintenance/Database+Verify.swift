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
