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
            problems = Problem.list(document)
            problemCount = document["problemCount"]?.intValue ?? problems.count
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
