#if TansuSync
    import Tansu
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
        /// - Throws: ``AttachmentError`` of code `notFound` when they are being removed.
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
            else { throw AttachmentError(.notFound, "The attachment \"\(file.name)\" was removed meanwhile") }
        }

        /// Creates the bytes of an attachment of a revision.
        ///
        /// - Throws: ``AttachmentError`` of code `notFound` when they are being removed.
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
            /// - Throws: ``AttachmentError`` with `.damaged` or `.invalidRange`; ``TansuError``; `CancellationError`.
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
#endif
