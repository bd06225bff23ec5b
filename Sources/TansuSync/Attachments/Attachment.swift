#if TansuSync
    public import Tansu
    import TansuBSON

    extension Database {
        /// What is known of an attachment of a document, without its bytes.
        public struct Attachment: Sendable, Hashable {
            let file: AttachmentFile

            init(_ file: AttachmentFile) { self.file = file }

            /// Its name, which no other attachment of the document has.
            public var name: String { file.name }

            /// Its media type, such as `image/png`.
            public var contentType: String { file.contentType }

            /// The number of its bytes.
            public var length: Int64 { file.length }

            /// The number of bytes that are stored, which are less when it is compressed.
            public var storedLength: Int64 { file.storedLength }

            /// Whether the stored bytes are compressed, as those of text are.
            public var isCompressed: Bool { file.encoding != nil }

            /// `md5-` and the MD5 of the stored bytes in base64, as CouchDB has it.
            public var digest: String { file.digest }
        }
    }
#endif
