import CTansu

extension Database {
    /// What a compaction came to.
    public struct CompactReport: Sendable, Hashable {
        /// How many bytes the files took before.
        public let bytesBefore: Int

        /// How many bytes they take now.
        public let bytesAfter: Int

        /// How many files of the log were written anew.
        public let segments: Int

        /// How many records were copied.
        public let records: Int

        init(_ document: BSONDocument) {
            bytesBefore = document["bytesBefore"]?.intValue ?? 0
            bytesAfter = document["bytesAfter"]?.intValue ?? 0
            segments = document["segments"]?.intValue ?? 0
            records = document["records"]?.intValue ?? 0
        }
    }

    /// Gives the room of removed and replaced documents back to the disk. Readers and writers go on; documents that
    /// open cursors and transactions still see are kept until those end. The same happens by itself in the
    /// background, as ``Options/compactionPercent`` says.
    ///
    /// - Parameter progress: Told, on this thread, how many bytes are done. What it throws ends the work.
    /// - Returns: How much room there was and is.
    /// - Throws: ``TansuError`` with `.full`, `.io`, `.corrupt` (a damaged file is left as it is), `.readOnly`, `.busy` (a
    ///   backup or another compaction goes on) or `.closed`; what `progress` throws.
    @discardableResult
    public func compact(progress: (Progress) throws -> Void = { _ in }) throws -> CompactReport {
        try refuseInsideOwnWrite()
        return try engine.call { database in
            CompactReport(try engineTask(progress) { tansu_compact(database, $0, $1, $2, $3) })
        }
    }

    /// Gives the room of removed and replaced documents back to the disk. Readers and writers go on.
    ///
    /// - Parameter progress: Told, on a thread of the database's own, how many bytes are done.
    /// - Returns: How much room there was and is.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func compact(
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> CompactReport {
        try await Session(self).suspend(.write) { flag in
            try self.compact { state in
                try progress(state)
                try flag.check()
            }
        }
    }
}
