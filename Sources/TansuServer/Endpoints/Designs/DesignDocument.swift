#if TansuServer
    import TansuBSON
    import TansuSync

    /// Design documents: what they hold, and what may be saved as one.
    enum DesignDocument {
        /// The fields of a design document.
        ///
        /// - Throws: ``HTTPFailure`` with 404.
        static func fields(of name: String, _ collection: ReplicatedCollection) async throws -> BSONDocument {
            try await collection.read { store in
                guard let record = try store.document(DocumentName.designPrefix + name) else {
                    throw HTTPFailure.notFound()
                }
                if record.isDeleted { throw HTTPFailure.deleted }
                return try store.body(of: record, record.winner)?.fields ?? [:]
            }
        }

        private enum Kind: String {
            case object
            case string
            case boolean
            case array

            init?(_ value: BSONValue) {
                switch value {
                case .document: self = .object
                case .string: self = .string
                case .bool: self = .boolean
                case .array: self = .array
                default: return nil
                }
            }
        }

        private static let kinds: [(name: String, kinds: [Kind])] = [
            ("filters", [.object]), ("language", [.string]), ("lists", [.object]), ("options", [.object]),
            ("rewrites", [.string, .array]), ("shows", [.object]), ("updates", [.object]),
            ("validate_doc_update", [.string]), ("views", [.object]),
        ]

        /// Checks what CouchDB checks without running functions.
        ///
        /// - Throws: ``HTTPFailure`` when a field has another type than CouchDB's.
        static func validate(_ fields: BSONDocument) throws(HTTPFailure) {
            for (name, kinds) in kinds { try check(fields[name], name, kinds) }
            for name in ["filters", "lists", "shows", "updates"] {
                for (function, value) in fields[name]?.documentValue ?? [:] {
                    try check(value, function, [.object, .string])
                }
            }
            for name in ["include_design", "local_seq", "partitioned"] {
                try check(fields["options"]?.documentValue?[name], name, [.boolean])
            }
            let map: [Kind] = fields["language"] == "query" ? [.object] : [.string]
            for (view, value) in fields["views"]?.documentValue ?? [:] {
                try check(value, view, [.object])
                if view == "lib" { continue }
                try check(value.documentValue?["map"], "map", map)
                try check(value.documentValue?["reduce"], "reduce", [.string])
            }
        }

        private static func check(_ value: BSONValue?, _ name: String, _ kinds: [Kind]) throws(HTTPFailure) {
            guard let value else { return }
            if let kind = Kind(value), kinds.contains(kind) { return }
            let expected = kinds.map(\.rawValue).joined(separator: " or ")
            throw HTTPFailure(
                .badRequest, "invalid_design_doc", "`\(name)` field must have \(expected) type")
        }
    }
#endif
