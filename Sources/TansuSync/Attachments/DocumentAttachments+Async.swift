#if TansuSync
    public import Foundation
    public import Tansu
    import TansuBSON

    // The async variant of DocumentAttachments.swift. It works on a thread of the database.
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
        ///   - type: Its media type. Types of text are stored compressed.
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
        ///   - type: Its media type. Types of text are stored compressed.
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
        /// - Throws: ``AttachmentError`` with `.notFound` or `.damaged`; ``TansuError``; `CancellationError`.
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
#endif
