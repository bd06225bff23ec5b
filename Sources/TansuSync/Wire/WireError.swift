#if TansuSync
    import TansuBSON

    /// An error of what a client sent, with the two words that CouchDB answers.
    package struct WireError: Error, Sendable, Hashable {
        /// CouchDB's `error`.
        package enum Code: String, Sendable, Hashable, CaseIterable {
            /// The text is not JSON, or a value in it is not what CouchDB expects there.
            case badRequest = "bad_request"
            /// The id is empty, is not text, or begins with `_`.
            case illegalDocumentID = "illegal_docid"
            /// A member whose name begins with `_` is unknown or malformed.
            case documentValidation = "doc_validation"
            /// What is asked for does not exist here.
            case notImplemented = "not_implemented"
        }

        /// The kind of error.
        package let code: Code
        /// CouchDB's `reason`.
        package let reason: String

        package init(_ code: Code, _ reason: String) {
            self.code = code
            self.reason = reason
        }

        /// The error of JSON text that could not be read.
        init(_ error: BSONError) {
            switch error.code {
            case .tooDeep, .invalidKey, .tooLarge:
                // CouchDB stores such documents, so that its words would not say what is wrong.
                self.init(.badRequest, error.description)
            default: self.init(.badRequest, "invalid UTF-8 JSON")
            }
        }

        static let invalidRevision = WireError(.badRequest, "Invalid rev format")
    }

    extension WireError: CustomStringConvertible {
        /// Both words.
        package var description: String { "\(code.rawValue): \(reason)" }
    }
#endif
