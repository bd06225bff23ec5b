#if TansuServer
    import TansuSync

    extension AnswerStream {
        /// Writes the bytes of an attachment in pieces.
        mutating func write(
            _ file: AttachmentFile, of collection: ReplicatedCollection, range: Range<Int64>? = nil, decoded: Bool
        ) async throws {
            let bytes = try AttachmentBytes(collection.database, file, range: range, decoded: decoded)
            for try await piece in bytes { try await write(piece) }
        }
    }

    extension RevisionStore {
        /// The bytes of an attachment, not compressed, for answers that have them in their JSON text.
        func bytes(of file: AttachmentFile) throws -> [UInt8] {
            var reader = try BlobReader(in: transaction, file)
            var bytes: [UInt8] = []
            while let piece = try reader.next() { bytes += piece }
            return bytes
        }
    }
#endif
