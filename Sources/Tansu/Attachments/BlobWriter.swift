import Foundation
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

/// How the bytes of a blob are compressed.
package enum BlobEncoding: Sendable, Hashable {
    /// As gzip if the media type is one of text, as CouchDB does; else not.
    case automatic
    /// The bytes are stored as they are given. They are compressed already if there is a name, such as `gzip`.
    case stored(String?)

    /// Whether attachments of a media type are compressed: as CouchDB does it, where there is zlib.
    static func compresses(_ contentType: String) -> Bool {
        guard GzipStream.isAvailable else { return false }
        let type = contentType.prefixUntil(";").trimmingSpaces.asciiLowercased
        return type.hasPrefix("text/")
            || ["application/javascript", "application/json", "application/xml"].contains(type)
    }
}

/// Writes the bytes of an attachment, in chunks and in transactions of its own, so that neither memory nor a
/// transaction holds a whole attachment.
///
/// No document refers to the bytes until the caller saves one with the result. Until then a lease holds them. What is
/// abandoned, by a writer that never finishes or by the end of the process, is removed by the sweep.
///
/// Inside a write transaction the bytes are written in it. `@unchecked Sendable`: calls of one writer must not overlap.
package final class BlobWriter: @unchecked Sendable {
    private let session: Session
    private let contentType: String
    private let encoding: String?
    private let compressor: GzipStream?
    /// Reads what is given compressed, and how long it is; nil for other bytes.
    private let checker: GzipChecker?
    private let leases: BlobLeases
    /// What the chunks are named by.
    private let key = BSONValue(UUID())
    private var pendingLease: BlobLease?
    private var blobLease: BlobLease?

    private var receivedHash = AttachmentHash()
    private var storedHash = AttachmentHash()
    private var idHash = BlobHash()
    private var length: Int64 = 0
    private var storedLength: Int64 = 0
    /// What is not in a chunk yet.
    private var rest: [UInt8] = []
    /// The chunks that are not written yet, of which `firstChunk` is the number of the first.
    private var waiting: [[UInt8]] = []
    private var firstChunk = 0
    private var hasEnded = false

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - database: Where to write.
    ///   - contentType: The media type.
    ///   - encoding: Whether to compress, or how the bytes are compressed already.
    ///   - decodedLimit: The greatest number of bytes that those given compressed may be before compression.
    package convenience init(
        _ database: Database, contentType: String, encoding: BlobEncoding = .automatic,
        decodedLimit: Int64 = .max
    ) throws {
        try self.init(
            Session(database), contentType: contentType, encoding: encoding, decodedLimit: decodedLimit)
    }

    /// Creates a writer in the transaction of a session, if it has one.
    package init(
        _ session: Session, contentType: String, encoding: BlobEncoding = .automatic, decodedLimit: Int64 = .max
    ) throws {
        self.session = session
        self.contentType = contentType
        switch encoding {
        case .automatic:
            let compresses = BlobEncoding.compresses(contentType)
            self.encoding = compresses ? "gzip" : nil
            compressor = compresses ? try GzipStream(compressing: true) : nil
            checker = nil
        case .stored(let name):
            self.encoding = name
            compressor = nil
            checker = name == "gzip" ? try GzipChecker(limit: decodedLimit) : nil
        }
        leases = BlobLeases.of(session.database)
        // Equal bytes that are compressed in another way are another blob.
        idHash.update(data: Array("\(self.encoding ?? "identity")\n".utf8))
    }

    deinit {
        if !hasEnded { try? abandon() }
    }

    /// Adds bytes.
    ///
    /// - Throws: ``TansuError`` with `.invalidArgument` when they are not compressed as was said, or
    ///   `.tooLarge`; what a commit can throw. Nothing more can be written then.
    package func write(_ bytes: [UInt8]) throws {
        try mayWrite()
        do {
            length += Int64(bytes.count)
            try checker?.read(bytes)
            guard let compressor else {
                try store(bytes)
                return
            }
            receivedHash.update(data: bytes)
            try compressor.compress(bytes, isLast: false) { try store($0) }
        } catch {
            end()
            throw error
        }
    }

    /// The MD5 of the bytes that were given, before they were compressed. It is known before ``finish(name:length:)`` too.
    package var receivedDigest: [UInt8] { Array((compressor == nil ? storedHash : receivedHash).finalize()) }

    /// Ends the blob. A lease holds it until this writer is released, or until ``release()``.
    ///
    /// - Parameters:
    ///   - name: The name of the attachment.
    ///   - revpos: The generation of the revision that adds it.
    ///   - length: The number of bytes before compression, when the bytes were given compressed and it is known.
    /// - Returns: The attachment.
    /// - Throws: ``TansuError`` with `.invalidArgument` when compressed bytes are not whole, or of another length;
    ///   what a commit can throw.
    package func finish(name: String = "", revpos: Int = 0, length decoded: Int64? = nil) throws -> AttachmentFile {
        try mayWrite()
        defer { end() }
        try checker?.end(expected: decoded)
        try compressor?.compress([], isLast: true) { try store($0) }
        if !rest.isEmpty {
            waiting.append(rest)
            rest = []
        }
        let id = BlobID(bytes: Array(idHash.finalize()))
        blobLease = leases.acquire(id.bson)
        let chunks = firstChunk + waiting.count
        try session.writing(durability: nil) { session in
            let blobs = try BlobLayout.collection(BlobLayout.blobs, session)
            if firstChunk > 0 { try blobs.remove(id: key) }
            guard try StoredBlob.find(id, in: session) == nil else {
                return try StoredBlob.removeChunks(key, 0..<firstChunk, in: session)
            }
            try save(waiting, in: session)
            try blobs.save(StoredBlob(id: id, key: key, length: storedLength, chunks: chunks).bson)
        }
        return AttachmentFile(
            name: name, contentType: contentType,
            digest: "md5-" + Data(storedHash.finalize()).base64EncodedString(),
            length: decoded ?? length, revpos: revpos, encoding: encoding,
            encodedLength: encoding == nil ? nil : storedLength, blob: id)
    }

    /// Lets the sweep remove the blob unless a document names it.
    package func release() { blobLease?.release() }

    private func mayWrite() throws(TansuError) {
        guard !hasEnded else { throw TansuError(attachment: .invalidState, "The writer of the attachment has ended") }
    }

    private func end() {
        hasEnded = true
        waiting = []
        rest = []
        pendingLease?.release()
    }

    /// Removes what was written. When it fails, the sweep does it.
    private func abandon() throws {
        end()
        guard firstChunk > 0, !session.isInTransaction else { return }
        try session.writing(durability: .process) { session in
            try StoredBlob.removeChunks(key, 0..<firstChunk, in: session)
            try BlobLayout.collection(BlobLayout.blobs, session).remove(id: key)
        }
    }

    private func store(_ bytes: [UInt8]) throws {
        storedHash.update(data: bytes)
        idHash.update(data: bytes)
        storedLength += Int64(bytes.count)
        var input = bytes[...]
        while !input.isEmpty {
            let piece = input.prefix(BlobLayout.chunkSize - rest.count)
            if rest.isEmpty { rest.reserveCapacity(BlobLayout.chunkSize) }
            rest += piece
            input = input.dropFirst(piece.count)
            guard rest.count == BlobLayout.chunkSize else { continue }
            waiting.append(rest)
            rest = []
            if waiting.count == BlobLayout.chunksInTransaction { try flush() }
        }
    }

    /// Writes full chunks. The commit that ends the blob makes them durable, because the log is in order.
    private func flush() throws {
        let isFirst = firstChunk == 0
        if isFirst { pendingLease = leases.acquire(key) }
        try session.writing(durability: .process) { session in
            if isFirst {
                try BlobLayout.collection(BlobLayout.blobs, session).save(["_id": key, "pending": true])
            }
            try save(waiting, in: session)
        }
        firstChunk += waiting.count
        waiting = []
    }

    private func save(_ chunks: [[UInt8]], in session: Session) throws {
        let collection = try BlobLayout.collection(BlobLayout.chunks, session)
        for (index, chunk) in chunks.enumerated() {
            try collection.save([
                "_id": BlobLayout.chunkID(key, firstChunk + index), "data": .binary(BSONBinary(chunk)),
            ])
        }
    }
}
