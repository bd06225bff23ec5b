#if TansuSync
    import TansuBSON

    extension Mango {
        /// A JSON index of a design document, or the order of all ids.
        package struct Index: Sendable {
            /// The id of the design document; nil for the order of all ids.
            package let designDocument: String?
            package let name: String
            /// The fields in the order of the key, with the directions that the definition names.
            package let columns: [(path: FieldPath, direction: String)]
            /// Which documents the index has; nil for all.
            package let partialFilter: Selector?
            package let isPartitioned: Bool

            init(
                designDocument: String?, name: String, columns: [(path: FieldPath, direction: String)],
                partialFilter: Selector? = nil, isPartitioned: Bool = false
            ) {
                self.designDocument = designDocument
                self.name = name
                self.columns = columns
                self.partialFilter = partialFilter
                self.isPartitioned = isPartitioned
            }

            /// The ids of all documents, which every collection has.
            package static func allDocuments() throws(QueryError) -> Index {
                Index(designDocument: nil, name: "_all_docs", columns: [(try FieldPath("_id"), "asc")])
            }

            var isSpecial: Bool { designDocument == nil }

            var columnNames: [String] { columns.map(\.path.text) }

            /// Whether the index has every field of a list, so that no document need be read.
            func covers(_ fields: [String]?) -> Bool {
                guard let fields, !isSpecial else { return false }
                return fields.bytewiseSet.isSubset(of: (columnNames + ["_id"]).bytewiseSet)
            }

            /// The key of a document, or nil when the index does not have the document: it lacks a field, or is a design
            /// document. The order of all ids has design documents as well.
            func key(of document: BSONDocument) throws(QueryError) -> [BSONValue]? {
                if !isSpecial, document.isDesignDocument { return nil }
                var key: [BSONValue] = []
                for column in columns {
                    guard case .value(let value) = column.path.found(in: .document(document)) else { return nil }
                    key.append(value)
                }
                if let partialFilter, try !partialFilter.matches(document) { return nil }
                return key
            }
        }
    }

    extension BSONDocument {
        /// Whether the document defines indexes and the like, and is no result of queries.
        var isDesignDocument: Bool { self["_id"]?.stringValue?.hasPrefix("_design/") == true }
    }
#endif
