extension Database {
    /// The result of a compaction.
    public struct CompactReport: Sendable, Hashable {
        /// How many bytes the files took before.
        public let bytesBefore: Int

        /// How many bytes they take now.
        public let bytesAfter: Int

        /// How many segments of the log were rewritten.
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

    /// Reclaims the space of removed and replaced documents, while readers and writers continue. Documents that open
    /// cursors and transactions still see are kept until those end. Compaction also runs automatically in the
    /// background; see ``Options/compactionPercent``.
    ///
    /// - Parameter progress: Called on this thread with the number of bytes done. An error that it throws ends the
    ///   work.
    /// - Returns: The space before and after.
    /// - Throws: ``TansuError`` with `.full`, `.io`, `.corrupt` (a corrupt file is left as it is), `.readOnly`, `.busy`
    ///   (a backup or another compaction is running) or `.closed`; what `progress` throws.
    @discardableResult
    public func compact(progress: (Progress) throws -> Void = { _ in }) throws -> CompactReport {
        try rejectInsideOwnWrite()
        return CompactReport(try engine.compact(progress: progress))
    }

    /// Reclaims the space of removed and replaced documents, while readers and writers continue.
    ///
    /// - Parameter progress: Called on a thread of the database with the number of bytes done.
    /// - Returns: The space before and after.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func compact(
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> CompactReport {
        try await Session(self).run(.write) { flag in
            try self.compact { state in
                try progress(state)
                try flag.check()
            }
        }
    }
}
