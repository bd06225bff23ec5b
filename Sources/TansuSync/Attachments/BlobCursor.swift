#if TansuSync
    import Tansu
    import TansuBSON

    /// Where a reader of an attachment is. Each step may be in another transaction while a lease holds the blob.
    struct BlobCursor: Sendable {
        private let blob: StoredBlob
        private let decompressor: GzipStream?
        private var chunk: Int
        /// The bytes to leave out before the next ones that are wanted.
        private var skipped: Int64
        /// The bytes that are wanted still; nil for all.
        private var wanted: Int64?

        init(_ file: AttachmentFile, range: Range<Int64>?, decoded: Bool, in session: Session) throws {
            guard let blob = try StoredBlob.find(file.blob, in: session) else {
                throw AttachmentError(
                    .damaged, "The bytes of attachment \"\(file.name)\" are missing; restore a backup")
            }
            self.blob = blob
            let isDecompressing = decoded && file.encoding == "gzip"
            decompressor = isDecompressing ? try GzipStream(compressing: false) : nil
            let length = isDecompressing ? file.length : blob.length
            guard let range else {
                chunk = 0
                skipped = 0
                wanted = nil
                return
            }
            guard range.lowerBound >= 0, range.lowerBound < length || (range.isEmpty && range.lowerBound == length)
            else {
                throw AttachmentError(
                    .invalidRange,
                    "The range begins at byte \(range.lowerBound), but the attachment has \(length) bytes")
            }
            let first = isDecompressing ? 0 : range.lowerBound / Int64(BlobLayout.chunkSize)
            chunk = Int(first)
            skipped = range.lowerBound - first * Int64(BlobLayout.chunkSize)
            wanted = min(range.upperBound, length) - range.lowerBound
        }

        mutating func next(in session: Session) throws -> [UInt8]? {
            while wanted.map({ $0 > 0 }) ?? true {
                guard let bytes = try raw(in: session) else { return nil }
                let piece = trimmed(bytes)
                if !piece.isEmpty { return piece }
            }
            return nil
        }

        private mutating func trimmed(_ bytes: [UInt8]) -> [UInt8] {
            guard skipped > 0 || wanted != nil else { return bytes }
            let dropped = Int(min(skipped, Int64(bytes.count)))
            skipped -= Int64(dropped)
            var piece = bytes.dropFirst(dropped)
            if let wanted {
                piece = piece.prefix(Int(min(wanted, Int64(piece.count))))
                self.wanted = wanted - Int64(piece.count)
            }
            return Array(piece)
        }

        /// The next bytes, decompressed if they are to be.
        private mutating func raw(in session: Session) throws -> [UInt8]? {
            while true {
                if let bytes = try decompressor?.pull() { return bytes }
                guard chunk < blob.chunks else {
                    guard decompressor?.isAtEnd != false else {
                        throw AttachmentError(.invalidEncoding, "The bytes of the attachment are not valid gzip")
                    }
                    return nil
                }
                let bytes = try blob.chunk(chunk, in: session)
                chunk += 1
                guard let decompressor else { return bytes }
                decompressor.feed(bytes)
            }
        }
    }
#endif
