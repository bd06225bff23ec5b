#if TansuServer
    import Foundation
    import TansuSync

    extension AnswerStream {
        /// Writes the bytes of an attachment in pieces.
        mutating func write(
            _ file: AttachmentFile, of collection: ReplicatedCollection, range: Range<Int64>? = nil, decoded: Bool
        ) async throws {
            let bytes = try AttachmentBytes(collection.database, file, range: range, decoded: decoded)
            for try await piece in bytes { try await write(piece) }
        }

        /// Writes the bytes of an attachment, not compressed, as base64.
        mutating func write(base64 file: AttachmentFile, of collection: ReplicatedCollection) async throws {
            // Three bytes give four digits, whatever the pieces are.
            var rest = Data()
            for try await piece in try AttachmentBytes(collection.database, file) {
                rest.append(contentsOf: piece)
                let whole = rest.count - rest.count % 3
                try await write(rest.prefix(whole).base64EncodedData())
                rest = Data(rest.dropFirst(whole))
            }
            try await write(rest.base64EncodedData())
        }
    }
#endif
