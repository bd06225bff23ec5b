#if TansuSync
    import Tansu
    import TansuBSON

    /// The record of a complete blob.
    struct StoredBlob: Sendable, Hashable {
        let id: BlobID
        /// What the chunks are named by: a blob gets its id only when all of its bytes are known.
        let key: BSONValue
        let length: Int64
        let chunks: Int

        init(id: BlobID, key: BSONValue, length: Int64, chunks: Int) {
            self.id = id
            self.key = key
            self.length = length
            self.chunks = chunks
        }

        var bson: BSONDocument {
            ["_id": id.bson, "length": .int64(length), "chunks": .int32(Int32(truncatingIfNeeded: chunks)), "key": key]
        }

        /// Reads the record; nil for one of a blob that is being written.
        init?(_ document: BSONDocument) throws(AttachmentError) {
            if document["pending"] != nil { return nil }
            guard case .binary(let id)? = document["_id"], let key = document["key"],
                let length = document["length"]?.int64Value, let chunks = document["chunks"]?.int64Value, length >= 0,
                chunks == (length + Int64(BlobLayout.chunkSize) - 1) / Int64(BlobLayout.chunkSize)
            else { throw AttachmentError(.damaged, "The record of an attachment's bytes is damaged") }
            self.init(id: BlobID(bytes: id.bytes), key: key, length: length, chunks: Int(chunks))
        }

        /// The blob of an id, or nil.
        static func find(_ id: BlobID, in session: Session) throws -> StoredBlob? {
            guard let document = try BlobLayout.collection(BlobLayout.blobs, session).get(id.bson) else { return nil }
            return try StoredBlob(document)
        }

        /// The bytes of a chunk.
        ///
        /// - Throws: ``AttachmentError`` of code `damaged` when it is missing or has another size than it must have.
        func chunk(_ number: Int, in session: Session) throws -> [UInt8] {
            let id = BlobLayout.chunkID(key, number)
            let size = min(Int64(BlobLayout.chunkSize), length - Int64(number) * Int64(BlobLayout.chunkSize))
            guard case .binary(let data)? = try BlobLayout.collection(BlobLayout.chunks, session).get(id)?["data"],
                Int64(data.bytes.count) == size
            else { throw AttachmentError(.damaged, "Bytes of an attachment are missing; restore a backup") }
            return data.bytes
        }

        /// Removes the record and the chunks.
        func remove(in session: Session) throws {
            try Self.removeChunks(key, 0..<chunks, in: session)
            try BlobLayout.collection(BlobLayout.blobs, session).remove(id: id.bson)
        }

        /// Removes the chunks of a blob that was never complete. They were written in their order.
        static func removePending(_ key: BSONValue, in session: Session) throws {
            let collection = try BlobLayout.collection(BlobLayout.chunks, session)
            var number = 0
            while try collection.remove(id: BlobLayout.chunkID(key, number)) { number += 1 }
            try BlobLayout.collection(BlobLayout.blobs, session).remove(id: key)
        }

        static func removeChunks(_ key: BSONValue, _ numbers: Range<Int>, in session: Session) throws {
            let collection = try BlobLayout.collection(BlobLayout.chunks, session)
            for number in numbers { try collection.remove(id: BlobLayout.chunkID(key, number)) }
        }
    }
#endif
