import Foundation
import TansuBSON

/// The bytes of an attachment, read in pieces of at most 256 KiB as they are asked for.
///
/// They stay readable while this value or an iterator of it exists, even when the attachment is removed. No snapshot is held
/// between two pieces.
public struct AttachmentBytes: AsyncSequence, Sendable {
    /// A piece.
    public typealias Element = [UInt8]

    private let session: Session
    private let file: AttachmentFile
    private let range: Range<Int64>?
    private let decoded: Bool
    private let lease: BlobLease?

    /// Creates the bytes of an attachment of a document or of a revision.
    ///
    /// - Throws: ``TansuError`` with `.notFound` when they are being removed.
    package init(
        _ session: Session, _ file: AttachmentFile, range: Range<Int64>? = nil, decoded: Bool = true
    ) throws {
        self.session = session
        self.file = file
        self.range = range
        self.decoded = decoded
        guard !session.isInTransaction else {
            lease = nil
            return
        }
        lease = BlobLeases.of(session.database).acquireToRead(file.blob.bson)
        // The removal may have ended between the snapshot that showed the attachment and the lease.
        guard lease != nil, try session.database.read({ try StoredBlob.find(file.blob, in: $0.session) }) != nil
        else { throw TansuError(attachment: .notFound, "The attachment \"\(file.name)\" was removed meanwhile") }
    }

    /// Creates the bytes of an attachment of a revision.
    ///
    /// - Throws: ``TansuError`` with `.notFound` when they are being removed.
    package init(
        _ database: Database, _ file: AttachmentFile, range: Range<Int64>? = nil, decoded: Bool = true
    ) throws {
        try self.init(Session(database), file, range: range, decoded: decoded)
    }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Reads one piece after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let state: State

        fileprivate init(_ bytes: AttachmentBytes) { state = State(bytes) }

        /// The next piece; nil at the end.
        ///
        /// - Throws: ``TansuError`` with `.corrupt`, `.invalidArgument` (the range) or `.unsupported`; `CancellationError`.
        public mutating func next() async throws -> [UInt8]? {
            let state = state
            return try await state.bytes.session.runCancellable(.read) { try state.next(in: $0) }
        }
    }

    /// `@unchecked Sendable`: an iterator waits for one piece before it asks for the next.
    private final class State: @unchecked Sendable {
        let bytes: AttachmentBytes
        private var cursor: BlobCursor?

        init(_ bytes: AttachmentBytes) { self.bytes = bytes }

        func next(in session: Session) throws -> [UInt8]? {
            var cursor =
                try self.cursor
                ?? BlobCursor(bytes.file, range: bytes.range, decoded: bytes.decoded, in: session)
            defer { self.cursor = cursor }
            return try cursor.next(in: session)
        }
    }
}

/// The name of a blob: a digest of its stored bytes and how they are compressed.
package struct BlobID: Sendable, Hashable {
    /// The digest.
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package var bson: BSONValue { .binary(BSONBinary(bytes)) }
}

/// One attachment of a document or of a revision: what is known of it, and the name of its bytes.
package struct AttachmentFile: Sendable, Hashable {
    /// Its name.
    @BytewiseText package var name: String
    /// Its media type.
    @BytewiseText package var contentType: String
    /// `md5-` and the MD5 of the stored bytes in base64.
    @BytewiseText package var digest: String
    /// The number of bytes before they were compressed.
    package var length: Int64
    /// The generation of the revision that added it; 0 where there are no revisions.
    package var revpos: Int
    /// How the stored bytes are compressed: `gzip`, or nil.
    package var encoding: String?
    /// The number of stored bytes, if they are compressed.
    package var encodedLength: Int64?
    /// The stored bytes.
    package var blob: BlobID

    package init(
        name: String, contentType: String, digest: String, length: Int64, revpos: Int, encoding: String? = nil,
        encodedLength: Int64? = nil, blob: BlobID
    ) {
        self.name = name
        self.contentType = contentType
        self.digest = digest
        self.length = length
        self.revpos = revpos
        self.encoding = encoding
        self.encodedLength = encodedLength
        self.blob = blob
    }

    /// The number of stored bytes.
    package var storedLength: Int64 { encodedLength ?? length }
}

extension AttachmentFile {
    /// The stored form.
    package var bson: BSONDocument {
        var document: BSONDocument = [
            "name": .string(name), "type": .string(contentType), "digest": .string(digest),
            "length": .int64(length),
            "revpos": .int64(Int64(revpos)), "blob": blob.bson,
        ]
        if let encoding { document["encoding"] = .string(encoding) }
        if let encodedLength { document["encodedLength"] = .int64(encodedLength) }
        return document
    }

    /// Reads the stored form.
    ///
    /// - Throws: ``TansuError`` with `.corrupt`.
    package init(_ document: BSONDocument) throws(TansuError) {
        guard let name = document["name"]?.stringValue, let type = document["type"]?.stringValue,
            let digest = document["digest"]?.stringValue, let length = document["length"]?.int64Value, length >= 0,
            case .binary(let blob)? = document["blob"], let revpos = document["revpos"]?.int64Value
        else { throw TansuError(attachment: .corrupt, "The description of an attachment is damaged") }
        self.init(
            name: name, contentType: type, digest: digest, length: length, revpos: Int(revpos),
            encoding: document["encoding"]?.stringValue, encodedLength: document["encodedLength"]?.int64Value,
            blob: BlobID(bytes: blob.bytes))
    }
}

/// Reads files in pieces.
enum FilePieces {
    /// Calls the closure with one piece of a file after the other.
    static func forEach(of url: URL, _ body: ([UInt8]) throws -> Void) throws {
        let file = try FileHandle(forReadingFrom: url)
        defer { try? file.close() }
        while try pooled({
            guard let data = try file.read(upToCount: BlobLayout.chunkSize), !data.isEmpty else { return false }
            try body([UInt8](data))
            return true
        }) {}
    }

    /// On Darwin what a file handle reads may be kept until a pool is drained.
    private static func pooled(_ body: () throws -> Bool) throws -> Bool {
        #if canImport(ObjectiveC)
        return try autoreleasepool { try body() }
        #else
        return try body()
        #endif
    }
}
