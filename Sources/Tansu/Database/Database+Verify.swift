import CTansu

extension Database {
    /// What checking a database came to.
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

        /// How many documents can't be read, or lie in a damaged part of the log, where no checksum protects them.
        public let damagedDocuments: Int

        /// The same for each collection that has such documents, by its name.
        public let damagedByCollection: [String: Int]

        /// What does not check out, at most 1000.
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

    /// Checks everything that is stored as of now: the log, every document, every index against the documents.
    /// Readers and writers go on.
    ///
    /// It returns only when nothing is wrong. For example:
    ///
    /// ```swift
    /// do {
    ///     print(try db.verify().documents, "documents, all of them in order")
    /// } catch let error as TansuError where error.code == .corrupt {
    ///     for problem in error.verifyReport?.problems ?? [] { print(problem.message) }
    /// }
    /// ```
    ///
    /// - Parameter progress: Told, on this thread, how much is checked. What it throws ends the work.
    /// - Returns: How much was checked.
    /// - Throws: ``TansuError`` with `.corrupt` (the first of the problems; all are in
    ///   ``TansuError/verifyReport``), `.io`, `.busy` (a compaction on demand, a backup or another check goes on) or
    ///   `.closed`; what `progress` throws.
    @discardableResult
    public func verify(progress: (Progress) throws -> Void = { _ in }) throws -> VerifyReport {
        var report: VerifyReport?
        do {
            return try engine.call { database in
                let answer = try engineTask(progress, hearing: { report = VerifyReport($0) }) {
                    tansu_verify(database, $0, $1, $2, $3)
                }
                return VerifyReport(answer)
            }
        } catch var error as TansuError where error.code == .corrupt {
            error.verifyReport = report
            throw error
        }
    }

    /// Checks everything that is stored as of now. Readers and writers go on.
    ///
    /// - Parameter progress: Told, on a thread of the database's own, how much is checked.
    /// - Returns: How much was checked.
    /// - Throws: As the form that is not async, and `CancellationError`.
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
