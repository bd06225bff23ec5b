#if TansuSync
    import TansuBSON

    /// A document as a client sends it, read as CouchDB 3.5 reads it.
    package struct WireDocument: Sendable {
        /// `_id`.
        package var id: String?
        /// `_rev`; of `_revisions` the newest.
        package var revision: WireRevision?
        /// `_revisions`, which counts for more than `_rev`.
        package var path: RevisionPath?
        /// Whether there is a `_rev`.
        package private(set) var hasRevision = false
        /// `_deleted`.
        package var isDeleted = false
        /// The other members. Of those that begin with `_` only what replicators write is there.
        package var fields: BSONDocument
        /// `_access`, which CouchDB's own servers use: it keeps it in local documents only.
        package private(set) var systemFields = BSONDocument()
        /// `_attachments`.
        package var attachments: [WireAttachment] = []

        /// Reads the JSON text of one document.
        ///
        /// - Throws: ``WireError`` with CouchDB's words.
        package init(json utf8: some Collection<UInt8>) throws(WireError) {
            let value = try Self.value(json: utf8, documentDepth: 1)
            guard case .document(let document) = value else { throw Self.notAnObject }
            try self.init(WireMembers(document))
        }

        /// Reads a document that was read as JSON already.
        ///
        /// - Throws: ``WireError`` with CouchDB's words.
        package init(_ document: BSONDocument) throws(WireError) {
            try self.init(WireMembers(document))
        }

        static let notAnObject = WireError(.badRequest, "Document must be a JSON object")

        /// The value of JSON text, with objects of extended JSON below a depth read as the types they stand for.
        static func value(json utf8: some Collection<UInt8>, documentDepth: Int) throws(WireError) -> BSONValue {
            do {
                return try BSONValue(wireJSON: utf8, documentDepth: documentDepth)
            } catch let error as BSONError {
                throw WireError(error)
            } catch {
                throw WireError(.badRequest, "invalid UTF-8 JSON")
            }
        }

        /// The fields as a `_local` document keeps them.
        package var localFields: BSONDocument {
            systemFields.isEmpty ? fields : BSONDocument(joining: systemFields, fields)
        }

        init(_ members: WireMembers) throws(WireError) {
            fields = members.fields
            var localRevision: WireRevision?
            for (name, value) in members.special { try read(name, value, &localRevision) }
            revision = path.map { WireRevision.revision($0.revision) } ?? localRevision ?? revision
        }

        private mutating func read(
            _ name: String, _ value: BSONValue, _ localRevision: inout WireRevision?
        ) throws(WireError) {
            switch (name, value) {
            case ("_id", .string(let text)):
                try DocumentName.validate(id: text)
                id = text
            case ("_id", _):
                throw WireError(.illegalDocumentID, "Document id must be a string")
            case ("_rev", .string(let text)):
                revision = try WireRevision(text)
                hasRevision = true
            case ("_rev", _):
                throw .invalidRevision
            case ("_revisions", .document(let fields)):
                if let number = try Self.localRevision(fields) {
                    localRevision = .unknown(BytewiseText("0-\(number)"))
                } else {
                    path = try Self.path(fields)
                }
            case ("_deleted", .bool(let flag)):
                isDeleted = flag
            case ("_attachments", .document(let members)):
                attachments = try WireAttachment.all(in: members)
            case ("_revs_info", _), ("_conflicts", _), ("_deleted_conflicts", _), ("_local_seq", _):
                // A client sends back what it has read.
                break
            case _ where DocumentName.isReplicatorMember(name):
                fields[name] = value
            case ("_access", _):
                systemFields[name] = value
            default:
                throw WireError(.documentValidation, "Bad special document member: \(name)")
            }
        }

        /// The number in the `_revisions` of a `_local` document, which begin at 0; nil in others, and without one.
        private static func localRevision(_ fields: BSONDocument) throws(WireError) -> String? {
            guard fields["start"]?.integerValue == 0, case .array(let array) = fields["ids"] else { return nil }
            for value in array where value.stringValue == nil {
                throw WireError(.documentValidation, "RevId isn't a string")
            }
            return array.first?.stringValue
        }

        /// The path in `_revisions`; nil when it is empty.
        private static func path(_ fields: BSONDocument) throws(WireError) -> RevisionPath? {
            guard let start = fields["start"]?.integerValue else {
                throw WireError(.documentValidation, "_revisions.start isn't an integer.")
            }
            guard case .array(let array) = fields["ids"] else {
                throw WireError(.documentValidation, "_revisions.ids isn't a array.")
            }
            var ids: [String] = []
            for value in array {
                guard case .string(let id) = value else {
                    throw WireError(.documentValidation, "RevId isn't a string")
                }
                ids.append(id)
            }
            guard !ids.isEmpty else { return nil }
            do {
                return try RevisionPath(start: start, ids: ids)
            } catch {
                guard error.code == .invalidHash, ids.contains(where: { $0.utf8.count == 32 }) else {
                    throw WireError(.documentValidation, error.message)
                }
                throw WireError(.documentValidation, "RevId isn't a valid hexadecimal")
            }
        }
    }

    extension BSONValue {
        /// The value of an integer; nil for any other number.
        fileprivate var integerValue: Int? {
            switch self {
            case .int32(let value): Int(value)
            case .int64(let value): Int(value)
            default: nil
            }
        }
    }
#endif
