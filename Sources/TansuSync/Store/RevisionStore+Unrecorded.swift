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
            let name = try name(of: id)
            var record = DocumentRecord(id: name, isObjectID: id.objectIDValue != nil)
            if name != Self.wireID(of: id) { record.otherID = id }
            let files = try AttachmentFile.files(in: attachments.get(id))
            let revision = try RevisionDigest.revision(
                after: nil, body: stored.wireFields, attachments: files.map(\.digestPart))
            try record.tree.merge(RevisionPath(revision))
            record.updateWinner()
            record.hasFiles = !files.isEmpty
            return record
        }

        /// What a document is called: another name for each, so that a text which is the name of another id has spaces before it there.
        private func name(of id: BSONValue) throws -> String {
            if case .string(let text) = id { return text }
            if let text = Self.wireID(of: id), try documents.get(BSONValue.string(text)) == nil { return text }
            var name = id.extendedJSON(.relaxed)
            while try documents.get(BSONValue.string(name)) != nil { name = " " + name }
            return name
        }

        /// The stored document that is called so.
        func unrecorded(_ id: String) throws -> BSONDocument? {
            let text = BSONValue.string(id)
            if let found = try documents.get(text) { return found }
            if let objectID = text.stringValue.flatMap({ ObjectID($0) }) { return try documents.get(objectID) }
            guard let other = try? BSONValue(extendedJSON: id.utf8), Self.kind(other) != nil else { return nil }
            return try documents.get(other)
        }

        /// The kinds of ids in the order of the collection, each with its least one: a query compares ids of one kind, but for the
        /// first and the last, which are kinds of one id.
        private static let kinds: [BSONValue] = [
            .minKey, .double(.nan), .double(-.infinity), "", .document([:]), .binary(BSONBinary([])), .objectID(.zero),
            false, .date(.min), .timestamp(BSONTimestamp(seconds: 0, increment: 0)),
            .dbPointer(BSONDBPointer(collection: "", id: .zero)), .code(""), .codeWithScope(BSONCode("", scope: [:])),
            .maxKey,
        ]

        /// The place of an id's kind; nil for what is no id.
        private static func kind(_ id: BSONValue) -> Int? {
            switch id {
            case .minKey: 0
            case .double(let number): number.isNaN ? 1 : 2
            case .decimal128(let number): number.isNaN ? 1 : 2
            case .int32, .int64: 2
            case .string, .symbol: 3
            case .document: 4
            case .binary: 5
            case .objectID: 6
            case .bool: 7
            case .date: 8
            case .timestamp: 9
            case .dbPointer: 10
            case .code: 11
            case .codeWithScope: 12
            case .maxKey: 13
            case .array, .null, .undefined, .regularExpression: nil
            }
        }

        /// Refuses a document whose id cannot be on the wire.
        ///
        /// - Throws: ``ReplicationError`` that names it.
        func rejectOtherIDs() throws {
            var queries: [BSONDocument] = Self.kinds.filter { $0.objectIDValue == nil }.map { least in
                let isOnlyOne = least == .minKey || least == .maxKey || least == ""
                return ["_id": isOnlyOne ? ["$eq": least] : ["$gte": least]]
            }
            // Text that begins with "_".
            queries.append(["_id": ["$gte": "_", "$lt": "`"]])
            for query in queries {
                guard let found = try documents.find(query, hints: ["$max": 1]).all().first else { continue }
                _ = try Self.validWireID(of: found["_id"] ?? .null, in: name)
            }
        }

        /// Queries for the documents between two ids, which are included: one for each kind.
        private func unrecorded(from low: String?, to high: String?) throws -> [BSONDocument] {
            func bound(_ id: String?) throws -> (kind: Int, id: BSONValue)? {
                try id.map { id in
                    let found = try unrecorded(id)?["_id"] ?? .string(id)
                    return (Self.kind(found) ?? 0, found)
                }
            }
            let (low, high) = (try bound(low), try bound(high))
            return stride(from: low?.kind ?? 0, through: high?.kind ?? Self.kinds.count - 1, by: 1).map { kind in
                let least = Self.kinds[kind]
                if least == .minKey || least == .maxKey { return ["_id": least] }
                var bounds: BSONDocument = ["$gte": least]
                if let low, low.kind == kind { bounds["$gte"] = low.id }
                if let high, high.kind == kind { bounds["$lte"] = high.id }
                return ["_id": .document(bounds)]
            }
        }

        /// The documents between two ids, which are included.
        func unrecorded(from low: String?, to high: String?, isDescending: Bool) throws -> Records {
            let queries: [BSONDocument] = try unrecorded(from: low, to: high)
            let hints: BSONDocument = ["$orderby": ["_id": isDescending ? -1 : 1]]
            let cursors = try (isDescending ? queries.reversed() : queries).map {
                try documents.find($0, hints: hints).makeCursor()
            }
            return Records(cursors) { try self.newRecord(of: $0) }
        }

        /// How many documents are before an id, or after it.
        func unrecordedCount(before id: String, isDescending: Bool) throws -> Int {
            let queries: [BSONDocument] = try unrecorded(from: isDescending ? id : nil, to: isDescending ? nil : id)
            let count = try queries.reduce(0) { try $0 + documents.count($1) }
            return try unrecorded(id) == nil ? count : count - 1
        }
    }
#endif
