#if TansuSync
    import TansuBSON

    /// Sort keys of index entries, as text that is the `_id` of a stored entry.
    ///
    /// A key is the sort keys of the columns, a 0, then that of the document's id. Byte 0 is U+0001, byte 255 U+0100: text in the
    /// order of the bytes, without U+0000.
    struct FindKey {
        private(set) var bytes: [UInt8] = []

        /// The key of some columns.
        init(columns: some Sequence<BSONValue>) throws(Mango.QueryError) {
            do throws(CollationError) {
                let collation = try Collation.shared()
                for value in columns { try collation.appendKey(of: value, to: &bytes) }
            } catch {
                throw Mango.QueryError(error)
            }
        }

        /// The key of one column.
        init(column value: BSONValue, _ collation: Collation) throws(CollationError) {
            try collation.appendKey(of: value, to: &bytes)
        }

        /// The key of an entry.
        init(columns: some Sequence<BSONValue>, id: String) throws(Mango.QueryError) {
            try self.init(columns: columns)
            bytes.append(Self.endOfColumns)
            TermOrder.appendKey(of: id, to: &bytes)
        }

        /// Below all that the key of a column begins with.
        private static let endOfColumns: UInt8 = 0

        /// Above all keys that begin with this one.
        mutating func moveAboveExtensions() { bytes.append(Collation.aboveAllKeys) }

        /// The key as text.
        var text: String {
            var scalars = String.UnicodeScalarView()
            scalars.reserveCapacity(bytes.count)
            for byte in bytes { scalars.append(Self.scalars[Int(byte)]) }
            return String(scalars)
        }

        private static let scalars: [Unicode.Scalar] = (1...256).compactMap { Unicode.Scalar(UInt32($0)) }
    }

    /// The keys between which an index is read.
    struct FindRange: Equatable {
        /// The lowest text; included.
        var low: String?
        /// The first text above the range.
        var high: String?

        /// All keys.
        init() {}

        /// What CouchDB reads for the ranges of the first columns: between the lists of their bounds.
        init(_ ranges: [Mango.KeyRange]) throws(Mango.QueryError) {
            var start: [BSONValue] = []
            for range in ranges {
                guard let bound = range.low else { break }
                start.append(bound)
            }
            var end: [BSONValue] = []
            for range in ranges {
                guard let bound = range.high else { break }
                end.append(bound)
            }
            if !start.isEmpty { low = try FindKey(columns: start).text }
            if !end.isEmpty {
                var key = try FindKey(columns: end)
                key.moveAboveExtensions()
                high = key.text
            }
        }

        /// The query of the entries in the range, after the one where an earlier answer ended.
        func filter(after last: FindKey? = nil, isDescending: Bool = false) -> BSONDocument {
            var conditions = BSONDocument()
            if let low { conditions["$gte"] = .string(low) }
            if let high { conditions["$lt"] = .string(high) }
            var all: [BSONValue] = conditions.isEmpty ? [] : [["_id": .document(conditions)]]
            if let last { all.append(["_id": .document([isDescending ? "$lt" : "$gt": .string(last.text)])]) }
            return all.isEmpty ? [:] : ["$and": .array(BSONArray(all))]
        }
    }
#endif
