extension Database {
    /// How the documents of a collection are compressed in the log.
    ///
    /// New documents are written as they are. Compaction, in the background or by `compact(progress:)`, stores
    /// them compressed from the next time on that it rewrites their segment, which it does for the compression alone as
    /// well.
    public enum CollectionCompression: String, Sendable, Hashable, Codable {
        /// They are stored as they are. The default.
        case uncompressed = "none"

        /// LZ4, in blocks of up to 32 KiB that are decompressed into memory as they are read
        /// (``Database/Options/blockCacheBytes``). A library that was built without LZ4 throws `.unsupported`, also when it
        /// opens a database with compressed documents.
        case lz4
    }
}
