#if TansuServer
    import HTTPTypes
    import TansuBSON
    import TansuSync

    extension ServerRequest {
        /// The revision that the request edits: of the body, of the parameter `rev` or of `If-Match`.
        ///
        /// - Throws: ``HTTPFailure`` when they differ, or one is no revision.
        func editedRevision(body: WireRevision? = nil) throws -> WireRevision? {
            let parameter = try query["rev"].map { try WireRevision($0) }
            if let body, let parameter, body != parameter {
                throw HTTPFailure.badRequest(
                    "Document rev from request body and query string have different values")
            }
            let explicit = body ?? parameter
            let header = try self[.ifMatch].map { try WireRevision($0.trimmingQuotes) }
            if let explicit, let header, explicit != header {
                throw HTTPFailure.badRequest("Document rev and etag have different values")
            }
            return explicit ?? header
        }
    }

    extension WireRevision {
        /// A number that is no generation, without a hash: it names no revision.
        var isEmpty: Bool {
            if case .unknown(let text) = self { return text.text.hasSuffix("-") }
            return false
        }

        /// Reads a JSON array of revisions.
        static func list(_ value: BSONValue?) throws -> [WireRevision] {
            guard case .array(let array) = value else { throw HTTPFailure.badRequest("Invalid list of revisions") }
            return try array.map { element in
                guard case .string(let text) = element else { throw HTTPFailure.badRequest("Invalid rev format") }
                return try WireRevision(text)
            }
        }
    }

    extension String {
        fileprivate var trimmingQuotes: String {
            var text = utf8[...]
            while text.first == UInt8(ascii: "\"") { text.removeFirst() }
            while text.last == UInt8(ascii: "\"") { text.removeLast() }
            return String(decoding: text, as: UTF8.self)
        }
    }
#endif
