#if TansuSync
    /// An error of a multipart body.
    package struct MultipartError: Error, Sendable, Hashable {
        /// The kinds of errors.
        package enum Code: String, Sendable, Hashable, CaseIterable {
            /// The media type is not multipart, or has no valid boundary.
            case invalidBoundary
            /// The body has no part with the boundary of its media type.
            case missingStart
            /// The body ends before its last boundary.
            case missingEnd
            /// The Content-Length of a part is no number.
            case invalidHeader
            /// The head of a part is too long or has too many headers.
            case headTooLarge
            /// There are too many parts.
            case tooManyParts
            /// A part has another number of bytes than its head says.
            case wrongLength
            /// A part is larger than it may be.
            case partTooLarge
            /// Multipart bodies are nested too deep.
            case tooDeep
        }

        /// The kind of error.
        package let code: Code
        /// The description of the error.
        package let message: String

        init(_ code: Code, _ message: String) {
            self.code = code
            self.message = message
        }
    }

    extension MultipartError: CustomStringConvertible {
        /// The message.
        package var description: String { message }
    }
#endif
