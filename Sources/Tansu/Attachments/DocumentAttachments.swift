public import Foundation
import TansuBSON

extension Database.Collection {
    /// The attachments of a document.
    ///
    /// For example:
    ///
    /// ```swift
    /// let photos = people.attachments(of: "mike")
    /// try photos.add(png, name: "face.png", type: "image/png")
    /// ```
    ///
    /// In the collection of a transaction they are read and written in the transaction.
    ///
    /// - Parameter id: The document's `_id`.
    @_disfavoredOverload
    public func attachments(of id: some DocumentID) -> Database.DocumentAttachments {
        Database.DocumentAttachments(session: session, collection: name, id: stored(id))
    }
}

extension Database.Collection where Element: Identifiable, Element.ID: Encodable & Sendable {
    /// The attachments of a value.
    ///
    /// - Parameter id: Its id, which is stored as `_id`.
    /// - Throws: ``TansuError`` with `.invalidID`.
    public func attachments(of id: Element.ID) throws -> Database.DocumentAttachments {
        Database.DocumentAttachments(session: session, collection: name, id: try storedID(id))
    }
}

extension Database {
    /// The attachments of one document.
    ///
    /// For example:
    ///
    /// ```swift
    /// let mike = people.attachments(of: "mike")
    /// try await mike.add(contentsOf: photo, name: "face.png", type: "image/png")
    /// for file in try await mike.list() { print(file.name, file.length) }
    /// let png = try await mike.bytes(of: "face.png")
    /// ```
    ///
    /// The bytes are stored in chunks of 256 KiB next to the documents, equal ones once. Memory holds at most 16 of them, however
    /// large an attachment is. Attachments are removed with their document, by whatever that is removed; the bytes that no
    /// document has any more with later additions, by `compact()` and by
    /// `removeUnusedAttachments()`.
    ///
    /// A name is any text that does not begin with `_` and has no NUL character; others are `.invalidName`. The collection's
    /// own name has at most 102 bytes.
    public struct DocumentAttachments: Sendable {
        let session: Session
        let collection: String
        let id: BSONValue

        /// The media type of attachments that are added without one.
        public static let defaultType = "application/octet-stream"

        /// The attachments in the order in which they were added.
        ///
        /// - Throws: ``TansuError`` with `.corrupt` (restore a backup) or `.closed`.
        public func list() throws -> [Attachment] {
            try session.inSnapshot { try files(in: $0).map { Attachment($0) } }
        }

        /// The attachment of a name, or nil when there is none.
        ///
        /// - Throws: ``TansuError`` with `.corrupt` (restore a backup) or `.closed`.
        public func attachment(_ name: String) throws -> Attachment? {
            try list().first { $0.name == name }
        }

        /// Adds an attachment, or replaces the one of its name.
        ///
        /// Outside of a transaction the bytes are written first, in transactions of their own, and then named by the
        /// document in one more: there is the whole attachment or none.
        ///
        /// - Parameters:
        ///   - bytes: Its bytes.
        ///   - name: Its name, which must not begin with `_`.
        ///   - type: Its media type.
        /// - Returns: What is known of it.
        /// - Throws: ``TansuError`` with `.notFound` when there is no such document, or `.invalidName`; what a
        ///   commit can throw.
        @discardableResult
        public func add(
            _ bytes: some Sequence<UInt8>, name: String, type: String = Self.defaultType
        ) throws -> Attachment {
            let writer = try begin(name, type)
            try writer.write(Array(bytes))
            return try attach(writer, name)
        }

        /// Adds a file as an attachment, or replaces the attachment of its name.
        ///
        /// - Parameters:
        ///   - url: The file, which is read a piece at a time.
        ///   - name: Its name; nil for that of the file.
        ///   - type: Its media type.
        /// - Returns: What is known of it.
        /// - Throws: As for bytes; what reading the file throws.
        @discardableResult
        public func add(
            contentsOf url: URL, name: String? = nil, type: String = Self.defaultType
        ) throws -> Attachment {
            let name = name ?? url.lastPathComponent
            let writer = try begin(name, type)
            try FilePieces.forEach(of: url) { try writer.write($0) }
            return try attach(writer, name)
        }

        /// The bytes of an attachment, in memory.
        ///
        /// - Parameters:
        ///   - name: Its name.
        ///   - range: Which bytes, counted from 0; what is after the end is left out. nil for all.
        ///   - limit: The most bytes to read.
        /// - Throws: ``TansuError`` with `.notFound`, `.tooLarge` (more than `limit` bytes), `.invalidArgument` (the range
        ///   does not begin inside), `.corrupt` (bytes are missing), `.unsupported` (they are compressed, and the program was
        ///   built without the trait `TansuSync`) or `.closed`.
        public func bytes(
            of name: String, range: Range<Int64>? = nil, limit: Int = 64 << 20
        ) throws -> [UInt8] {
            var bytes: [UInt8] = []
            try forEachPiece(of: name, range: range) { piece in
                guard bytes.count + piece.count <= limit else {
                    throw TansuError(
                        attachment: .tooLarge,
                        "Attachment \"\(name)\" has more than \(limit) bytes; raise the limit, or read it in pieces"
                    )
                }
                bytes += piece
            }
            return bytes
        }

        /// Reads the bytes of an attachment in pieces of at most 256 KiB, all in one snapshot.
        ///
        /// - Parameters:
        ///   - name: Its name.
        ///   - range: Which bytes, counted from 0; what is after the end is left out. nil for all.
        ///   - body: Called with each piece. Its error ends the reading.
        /// - Throws: ``TansuError`` with `.notFound`, `.invalidArgument`, `.corrupt`, `.unsupported` or `.closed`, as
        ///   `bytes(of:)`; what `body` throws.
        public func forEachPiece(
            of name: String, range: Range<Int64>? = nil, _ body: ([UInt8]) throws -> Void
        ) throws {
            try session.inSnapshot { session in
                var reader = try BlobReader(in: session, file(name, in: session), range: range)
                while let piece = try reader.next() { try body(piece) }
            }
        }

        /// Removes an attachment.
        ///
        /// - Parameter name: Its name.
        /// - Returns: Whether it existed.
        /// - Throws: What a commit can throw.
        @discardableResult
        public func remove(_ name: String) throws -> Bool {
            try edit { files in files.removeAll { $0.name == name } }
        }

        /// Removes all attachments of the document.
        ///
        /// - Returns: Whether there were any.
        /// - Throws: What a commit can throw.
        @discardableResult
        public func removeAll() throws -> Bool {
            try edit { files in files.removeAll() }
        }
    }
}

extension Database.DocumentAttachments {
    func files(in session: Session) throws -> [AttachmentFile] {
        try AttachmentRecords(of: collection, in: session).files(of: id)
    }

    func file(_ name: String, in session: Session) throws -> AttachmentFile {
        guard let file = try files(in: session).first(where: { $0.name == name }) else {
            throw TansuError(attachment: .notFound, "The document has no attachment \"\(name)\"")
        }
        return file
    }

    /// Begins to write an attachment of a document that exists.
    func begin(_ name: String, _ type: String) throws -> BlobWriter {
        guard name.utf8.first != UInt8(ascii: "_") else {
            throw TansuError(attachment: .invalidName, "The name \"\(name)\" of an attachment begins with \"_\"")
        }
        guard !name.utf8.contains(0) else {
            throw TansuError(attachment: .invalidName, "The name \"\(name)\" of an attachment has a zero byte")
        }
        try session.inSnapshot { try requireDocument(in: $0) }
        return try BlobWriter(session, contentType: type)
    }

    /// Names what was written in the document.
    func attach(_ writer: BlobWriter, _ name: String) throws -> Database.Attachment {
        let file = try writer.finish(name: name)
        do {
            try edit(adds: true) { files in
                if let index = files.firstIndex(where: { $0.name == name }) {
                    files[index] = file
                } else {
                    files.append(file)
                }
            }
        } catch {
            writer.release()
            if !session.isInTransaction { try? BlobSweep.remove([file.blob], in: session.database) }
            throw error
        }
        writer.release()
        if !session.isInTransaction { BlobSweep.step(session.database) }
        return Database.Attachment(file)
    }

    /// Changes the list in one commit, and removes the bytes that nothing names any more.
    @discardableResult
    private func edit(adds: Bool = false, _ body: (inout [AttachmentFile]) -> Void) throws -> Bool {
        guard !session.isInTransaction else { return try edit(adds: adds, in: session, body) != nil }
        guard let dropped = try session.database.write({ try edit(adds: adds, in: $0.session, body) }) else {
            return false
        }
        // What fails here is swept later.
        if !dropped.isEmpty { try? BlobSweep.remove(dropped, in: session.database) }
        return true
    }

    /// Changes the list; the result is what was in it only before, or nil when it did not change.
    private func edit(
        adds: Bool, in session: Session, _ body: (inout [AttachmentFile]) -> Void
    ) throws -> [BlobID]? {
        if adds {
            try requireDocument(in: session)
            try AttachmentRecords.create(for: collection, in: session)
        }
        let records = try AttachmentRecords(of: collection, in: session)
        let former = try records.files(of: id)
        var files = former
        body(&files)
        guard files != former else { return nil }
        try records.set(files, of: id)
        return Array(Set(former.map(\.blob)).subtracting(files.map(\.blob)))
    }

    private func requireDocument(in session: Session) throws {
        guard try BlobLayout.collection(collection, session).get(id) != nil else {
            throw TansuError(attachment: .notFound, "The document to attach something to does not exist; save it first")
        }
    }
}

// MARK: - Async

// The async variant. It works on a thread of the database.
extension Database.DocumentAttachments {
    /// The attachments in the order in which they were added.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func list() async throws -> [Database.Attachment] {
        try await session.runCancellable(.read) { try files(in: $0).map { Database.Attachment($0) } }
    }

    /// The attachment of a name, or nil when there is none.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func attachment(_ name: String) async throws -> Database.Attachment? {
        try await list().first { $0.name == name }
    }

    /// Adds an attachment, or replaces the one of its name.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func add(
        _ bytes: some Sequence<UInt8> & Sendable, name: String, type: String = Self.defaultType
    ) async throws -> Database.Attachment {
        try await working {
            let writer = try begin(name, type)
            try writer.write(Array(bytes))
            return try attach(writer, name)
        }
    }

    /// Adds a file as an attachment, or replaces the attachment of its name.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func add(
        contentsOf url: URL, name: String? = nil, type: String = Self.defaultType
    ) async throws -> Database.Attachment {
        try await working {
            let name = name ?? url.lastPathComponent
            let writer = try begin(name, type)
            try FilePieces.forEach(of: url) { piece in
                try Task.checkCancellation()
                try writer.write(piece)
            }
            return try attach(writer, name)
        }
    }

    /// Adds what a sequence delivers as an attachment, or replaces the attachment of its name.
    ///
    /// For example, what is downloaded:
    ///
    /// ```swift
    /// let (bytes, _) = try await URLSession.shared.bytes(from: url)
    /// try await people.attachments(of: "mike").add(bytes, name: "face.png", type: "image/png")
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: The bytes. When it throws, nothing is added.
    ///   - name: Its name, which must not begin with `_`.
    ///   - type: Its media type.
    ///   - isolation: The actor on which the sequence is read: the caller's.
    /// - Returns: What is known of it.
    /// - Throws: As for bytes; what the sequence throws; `CancellationError`.
    @discardableResult
    public func add<Bytes: AsyncSequence>(
        _ bytes: Bytes, name: String, type: String = Self.defaultType,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Database.Attachment where Bytes.Element == UInt8 {
        let writer = try await working { try begin(name, type) }
        var piece: [UInt8] = []
        for try await byte in bytes {
            piece.append(byte)
            guard piece.count == BlobLayout.chunkSize else { continue }
            let full = piece
            piece.removeAll(keepingCapacity: true)
            try await working { try writer.write(full) }
        }
        let rest = piece
        return try await working {
            try writer.write(rest)
            return try attach(writer, name)
        }
    }

    /// Adds what a sequence delivers in pieces as an attachment, or replaces the attachment of its name.
    ///
    /// - Parameters:
    ///   - pieces: The bytes, such as `Data` or `[UInt8]`. When it throws, nothing is added.
    ///   - name: Its name, which must not begin with `_`.
    ///   - type: Its media type.
    ///   - isolation: The actor on which the sequence is read: the caller's.
    /// - Returns: What is known of it.
    /// - Throws: As for bytes; what the sequence throws; `CancellationError`.
    @discardableResult
    public func add<Pieces: AsyncSequence>(
        _ pieces: Pieces, name: String, type: String = Self.defaultType,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Database.Attachment where Pieces.Element: Sequence<UInt8> {
        let writer = try await working { try begin(name, type) }
        for try await piece in pieces {
            let bytes = Array(piece)
            try await working { try writer.write(bytes) }
        }
        return try await working { try attach(writer, name) }
    }

    /// The bytes of an attachment, in memory.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func bytes(
        of name: String, range: Range<Int64>? = nil, limit: Int = 64 << 20
    ) async throws -> [UInt8] {
        try await session.runCancellable(.read) { session in
            try Database.DocumentAttachments(session: session, collection: collection, id: id)
                .bytes(of: name, range: range, limit: limit)
        }
    }

    /// The bytes of an attachment, to be read in pieces.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await piece in try await people.attachments(of: "mike").stream(of: "film.mp4") {
    ///     try file.write(contentsOf: piece)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - range: Which bytes; nil for all.
    /// - Throws: ``TansuError`` with `.notFound`, `.corrupt` or `.closed`; `CancellationError`.
    public func stream(of name: String, range: Range<Int64>? = nil) async throws -> AttachmentBytes {
        let file = try await session.runCancellable(.read) { try self.file(name, in: $0) }
        return try AttachmentBytes(session, file, range: range)
    }

    /// Removes an attachment.
    ///
    /// - Returns: Whether it existed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func remove(_ name: String) async throws -> Bool {
        try await working { () throws -> Bool in try remove(name) }
    }

    /// Removes all attachments of the document.
    ///
    /// - Returns: Whether there were any.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func removeAll() async throws -> Bool {
        try await working { () throws -> Bool in try removeAll() }
    }

    /// Runs the closure, which writes in transactions of its own or in this one, on a thread of the database.
    private func working<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        if session.isInTransaction { return try await session.runCancellable(.write) { _ in try body() } }
        return try await session.database.runWriting { _ in try body() }
    }
}
