#if TansuSync
    public import Tansu

    extension Database {
        /// Removes the bytes of attachments that no document has any more: those of removed documents, and what was left when
        /// a process ended while it added an attachment.
        ///
        /// It reads every attachment's record, but no bytes. The space is free after the next compaction.
        ///
        /// - Returns: The stored bytes that were removed.
        /// - Throws: What a commit can throw. What was removed before stays removed.
        @discardableResult
        public func removeUnusedAttachments() throws -> Int64 {
            try BlobSweep.run(self).bytes
        }

        /// Removes the bytes of attachments that no document has any more, on a thread of the database.
        ///
        /// - Returns: The stored bytes that were removed.
        /// - Throws: As the synchronous variant, and `CancellationError`.
        @discardableResult
        public func removeUnusedAttachments() async throws -> Int64 {
            try await runWriting { flag in
                try BlobSweep.run(self) { try flag.check() }.bytes
            }
        }
    }
#endif
