#if TansuSync
    import Tansu
    import TansuBSON

    // A collection that is not replicated is read as if it were, and nothing is stored: each document has the revision that it would get.
    // It may have ids that no replicated collection has, which are their JSON text here.
    extension RevisionStore {
        /// A store over a collection that is not replicated.
        convenience init(unrecorded transaction: Database.Transaction, _ name: String) throws {
            var state = StoreState()
            state.instance = "0"
            try self.init(transaction, name, state)
            isUnrecorded = true
            self.state.documents = Int64(try documents.count())
        }

        /// The record that a document would get.
        func newRecord(of stored: BSONDocument) throws -> DocumentRecord {
            let id = stored["_id"] ?? .null
            let wireID = Self.wireID(of: id)
            var record = DocumentRecord(id: wireID ?? id.extendedJSON(.relaxed), isObjectID: id.objectIDValue != nil)
            if wireID == nil { record.otherID = id }
            let files = try AttachmentFile.files(in: attachments.get(id))
            let revision = try RevisionDigest.revision(
                after: nil, body: stored.wireFields, attachments: files.map(\.digestPart))
            try record.tree.merge(RevisionPath(revision))
            record.updateWinner()
            record.hasFiles = !files.isEmpty
            return record
        }

        /// The stored document that is called so.
        func unrecorded(_ id: String) throws -> BSONDocument? {
            let text = BSONValue.string(id)
            if let found = try documents.get(text) { return found }
            if let objectID = text.stringValue.flatMap({ ObjectID($0) }) { return try documents.get(objectID) }
            guard let other = try? BSONValue(extendedJSON: id.utf8), other.isScalarID else { return nil }
            return try documents.get(other)
        }

        /// The kinds of ids in the order of the collection, each with the least one.
        private static let kinds: [BSONValue] = [.double(-.infinity), "", .objectID(.zero)]

        private static func kind(_ id: BSONValue) -> Int {
            switch id {
            case .string: 1
            case .objectID: 2
            default: 0
            }
        }

        /// The documents between two ids, which are included.
        func unrecorded(from low: String?, to high: String?, isDescending: Bool) throws -> Records {
            func bound(_ id: String?) throws -> BSONValue? {
                try id.map { id in try unrecorded(id)?["_id"] ?? .string(id) }
            }
            let (low, high) = (try bound(low), try bound(high))
            var kinds = Array(stride(from: low.map(Self.kind) ?? 0, through: high.map(Self.kind) ?? 2, by: 1))
            if isDescending { kinds.reverse() }
            let cursors = try kinds.map { kind in
                var bounds: BSONDocument = ["$gte": Self.kinds[kind]]
                if let low, Self.kind(low) == kind { bounds["$gte"] = low }
                if let high, Self.kind(high) == kind { bounds["$lte"] = high }
                return try documents.find(
                    ["_id": .document(bounds)], hints: ["$orderby": ["_id": isDescending ? -1 : 1]]
                ).makeCursor()
            }
            return Records(cursors) { try self.newRecord(of: $0) }
        }
    }

    extension BSONValue {
        /// Whether it is of a type that ids have that are neither text nor ObjectIds.
        fileprivate var isScalarID: Bool {
            switch self {
            case .double, .int32, .int64, .decimal128, .bool, .date, .binary: true
            default: false
            }
        }
    }
#endif
