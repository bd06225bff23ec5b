#if TansuSync
    /// An error of attachments.
    public struct AttachmentError: Error, Sendable, Hashable {
        /// The kinds of errors.
        public enum Code: String, Sendable, Hashable, CaseIterable {
            /// There is no document, or no attachment of that name.
            case notFound
            /// A name that begins with `_`, or has a zero byte.
            case invalidName
            /// The attachment has more bytes than the caller wants to read into memory.
            case tooLarge
            /// The range does not begin inside the attachment.
            case invalidRange
            /// Stored bytes are missing or are not what was stored.
            case damaged
            /// Bytes that are not gzip, although they were said to be.
            case invalidEncoding
            /// The writer of the attachment has ended.
            case ended
            /// There is not enough memory to compress or to decompress.
            case memory
        }

        /// The kind of error.
        public let code: Code
        /// The description of the error.
        public let message: String

        init(_ code: Code, _ message: String) {
            self.code = code
            self.message = message
        }
    }

    extension AttachmentError: CustomStringConvertible {
        /// The message.
        public var description: String { message }
    }
#endif
