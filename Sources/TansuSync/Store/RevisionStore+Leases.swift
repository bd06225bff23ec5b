#if TansuSync
    extension RevisionStore {
        /// Holds the bytes of an attachment for reading them after the transaction; nil when they are being removed.
        package func lease(on file: AttachmentFile) -> BlobLease? {
            BlobLeases.of(transaction.session.database).acquireToRead(file.blob.bson)
        }
    }
#endif
