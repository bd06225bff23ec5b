#if TansuSync
    import Tansu

    /// Reads the bytes of an attachment in one transaction.
    package struct BlobReader {
        private let session: Session
        private var cursor: BlobCursor

        /// Creates a reader.
        ///
        /// - Parameters:
        ///   - transaction: Where to read.
        ///   - file: The attachment.
        ///   - range: Which bytes; nil for all.
        ///   - decoded: Whether compressed bytes are decompressed, to which the range then refers.
        /// - Throws: ``AttachmentError`` of code `damaged` when there are no such bytes, or `invalidRange`.
        package init(
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
        /// - Throws: ``AttachmentError`` of code `damaged`.
        package mutating func next() throws -> [UInt8]? { try cursor.next(in: session) }
    }
#endif
