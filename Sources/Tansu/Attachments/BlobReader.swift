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
    init?(_ document: BSONDocument) throws(TansuError) {
        if document["pending"] != nil { return nil }
        guard case .binary(let id)? = document["_id"], let key = document["key"],
            let length = document["length"]?.int64Value, let chunks = document["chunks"]?.int64Value, length >= 0,
            chunks == (length + Int64(BlobLayout.chunkSize) - 1) / Int64(BlobLayout.chunkSize)
        else { throw TansuError(attachment: .corrupt, "The record of an attachment's bytes is damaged") }
        self.init(id: BlobID(bytes: id.bytes), key: key, length: length, chunks: Int(chunks))
    }

    /// The blob of an id, or nil.
    static func find(_ id: BlobID, in session: Session) throws -> StoredBlob? {
        guard let document = try BlobLayout.collection(BlobLayout.blobs, session).get(id.bson) else { return nil }
        return try StoredBlob(document)
    }

    /// The bytes of a chunk.
    ///
    /// - Throws: ``TansuError`` with `.corrupt` when it is missing or has another size than it must have.
    func chunk(_ number: Int, in session: Session) throws -> [UInt8] {
        let id = BlobLayout.chunkID(key, number)
        let size = min(Int64(BlobLayout.chunkSize), length - Int64(number) * Int64(BlobLayout.chunkSize))
        guard case .binary(let data)? = try BlobLayout.collection(BlobLayout.chunks, session).get(id)?["data"],
            Int64(data.bytes.count) == size
        else { throw TansuError(attachment: .corrupt, "Bytes of an attachment are missing; restore a backup") }
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

/// Reads the bytes of an attachment in one transaction.
struct BlobReader {
    private let session: Session
    private var cursor: BlobCursor

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - transaction: Where to read.
    ///   - file: The attachment.
    ///   - range: Which bytes; nil for all.
    ///   - decoded: Whether compressed bytes are decompressed, to which the range then refers.
    /// - Throws: ``TansuError`` with `.corrupt` when there are no such bytes, or `.invalidArgument` (the range).
    init(
        in transaction: Database.Transaction, _ file: AttachmentFile, range: Range<Int64>? = nil,
        decoded: Bool = true
    ) throws {
        try self.init(in: transaction.session, file, range: range, decoded: decoded)
    }

    init(in session: Session, _ file: AttachmentFile, range: Range<Int64>? = nil, decoded: Bool = true) throws {
        self.session = session
        cursor = try BlobCursor(file, range: range, decoded: decoded, in: session)
    }

    /// The next bytes, at most 256 KiB; nil at the end.
    ///
    /// - Throws: ``TansuError`` with `.corrupt`.
    mutating func next() throws -> [UInt8]? { try cursor.next(in: session) }
}

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
            throw TansuError(
                attachment: .corrupt, "The bytes of attachment \"\(file.name)\" are missing; restore a backup")
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
            throw TansuError(
                attachment: .invalidArgument,
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
                    throw TansuError(attachment: .invalidArgument, "The bytes of the attachment are not valid gzip")
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
