#if TansuSync
    import Tansu
    import TansuBSON

    /// The collections in which attachments lie.
    package enum BlobLayout {
        /// `{_id: <blob id>, length, chunks, key}`, and `{_id: <key>, pending: true}` of a blob that is being written.
        package static let blobs = "tansu.blobs"
        /// `{_id: {b: <key>, n: <number>}, data}`.
        package static let chunks = "tansu.chunks"
        /// What the names of the collections begin with that say which files documents have.
        package static let attachments = "tansu.attachments."
        /// What the names of the collections begin with that have bodies of revisions.
        package static let bodies = "tansu.bodies."
        /// Where both kinds of collections name blobs. An index on it makes the sweep fast.
        package static let reference = "files.blob"

        /// The bytes of each chunk but the last.
        package static let chunkSize = 256 << 10
        /// The chunks of one transaction.
        static let chunksInTransaction = 16

        /// The `_id` of a chunk.
        static func chunkID(_ key: BSONValue, _ number: Int) -> BSONValue {
            .document(["b": key, "n": .int32(Int32(truncatingIfNeeded: number))])
        }

        /// A collection of documents in the transaction of a session, or outside of one.
        static func collection(_ name: String, _ session: Session) throws -> Database.Collection<BSONDocument> {
            try session.collection(name, .documents)
        }
    }

    extension Session {
        /// Writes in this transaction, or in one of its own with a durability.
        func writing<Result>(durability: Database.Durability?, _ body: (Session) throws -> Result) throws -> Result {
            if isInTransaction { return try inTransaction(body) }
            return try database.write(durability: durability) { try body($0.session) }
        }
    }
#endif
