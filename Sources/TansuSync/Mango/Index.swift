#if TansuSync
import Crypto
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
        let isPartitioned: Bool

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

// MARK: - Design document

extension Mango.Index {
    /// The indexes of a design document whose language is `query`. Views that are no valid index are left out, as CouchDB
    /// does it.
    package static func indexes(of document: BSONDocument, isPartitioned: Bool = false) -> [Mango.Index] {
        guard document["language"] == "query", case .string(let id)? = document["_id"],
            case .document(let views)? = document["views"]
        else { return [] }
        return views.compactMap { name, view in
            guard case .document(let definition)? = view.documentValue?["map"] else { return nil }
            return try? Mango.Index(
                designDocument: id, name: name, definition: definition, isPartitioned: isPartitioned)
        }
    }

    /// Creates an index from its definition: `fields` and maybe `partial_filter_selector`.
    ///
    /// - Throws: ``Mango/QueryError`` with CouchDB's name and reason.
    package init(
        designDocument: String, name: String, definition: BSONDocument, isPartitioned: Bool = false
    ) throws(Mango.QueryError) {
        var columns: [(path: Mango.FieldPath, direction: String)] = []
        switch definition["fields"] {
        case .document(let fields)?:
            // As stored.
            for (name, direction) in fields {
                columns.append((Mango.FieldPath(column: name), direction.stringValue ?? "asc"))
            }
        case .some(let fields):
            let sort = try Mango.Sort(fields)
            for name in sort.fields {
                columns.append((Mango.FieldPath(column: name), sort.isDescending ? "desc" : "asc"))
            }
        case nil:
            throw Mango.QueryError("missing_required_key", "Missing required key: fields")
        }
        // Indexes of old versions call the filter "selector".
        var filter: Mango.Selector?
        for key in ["partial_filter_selector", "selector"] where filter == nil {
            guard let value = definition[key] else { continue }
            guard case .document(let selector) = value else {
                throw Mango.QueryError(
                    "invalid_selector_json", "Selector must be a JSON object, not: \(value.erlangTerm)")
            }
            if !selector.isEmpty { filter = try Mango.Selector(selector) }
        }
        self.init(
            designDocument: designDocument, name: name, columns: columns, partialFilter: filter,
            isPartitioned: isPartitioned)
    }

    /// The index as `_explain` shows it.
    package var json: BSONDocument {
        let fields = BSONArray(columns.map { .document(BSONDocument([($0.path.text, .string($0.direction))])) })
        guard let designDocument else {
            return ["ddoc": nil, "name": .string(name), "type": "special", "def": ["fields": .array(fields)]]
        }
        var definition: BSONDocument = ["fields": .array(fields)]
        if let partialFilter { definition["partial_filter_selector"] = .document(partialFilter.json) }
        return [
            "ddoc": .string(designDocument), "name": .string(name), "type": "json",
            "partitioned": .bool(isPartitioned), "def": .document(definition),
        ]
    }
}

// MARK: - IndexRequest

extension Mango {
    /// The body of an `_index` request.
    package struct IndexRequest: Sendable {
        /// The id of the design document.
        package let designDocument: String
        package let name: String
        private let index: Index
        /// The definition as it was sent.
        private let definition: BSONDocument

        /// Reads the body of a request.
        ///
        /// - Throws: ``Mango/QueryError`` with CouchDB's name and reason, for the first member in the order of CouchDB's checks.
        package init(_ body: BSONDocument) throws(QueryError) {
            guard let value = body["index"] else {
                throw QueryError("missing_required_key", "Missing required key: index")
            }
            let type = try Self.string(body["type"]) ?? "json"
            let name = try Self.name(body["name"])
            let design = try Self.name(body["ddoc"])
            if let w = body["w"], (w.wholeNumber ?? 0) < 1 {
                throw QueryError("invalid_pos_integer", "\(w.erlangTerm) is not an integer greater than zero")
            }
            if let partitioned = body["partitioned"], partitioned.boolValue == nil {
                throw QueryError(
                    "invalid_partitioned_value", "Invalid partitioned value: \(partitioned.erlangTerm)")
            }
            let known = ["index", "type", "name", "ddoc", "w", "partitioned"]
            if let other = body.first(where: { !known.contains($0.key) }) {
                throw QueryError("invalid_key", "Invalid key \(other.key) for this request.")
            }
            if type == "text" {
                throw QueryError(
                    "not_implemented", "There are no text indexes; create one of type json", status: 501)
            }
            guard type == "json" else { throw QueryError("invalid_index", "Invalid type for index: \(type)") }
            let generated = name == nil || design == nil ? Self.generatedName(body, value) : ""
            self.name = name ?? generated
            let id = design ?? generated
            designDocument = id.hasPrefix("_design/") ? id : "_design/\(id)"
            guard id != "_design/" else {
                throw QueryError("illegal_docid", "Illegal document id `_design/`")
            }
            guard case .document(let definition) = value else {
                throw QueryError("invalid_index", "JSON indexes must be an object, not: \(value.erlangTerm)")
            }
            if body["partitioned"] == true {
                throw QueryError("invalid_partitioned_option", "The database is not partitioned")
            }
            self.definition = definition
            // In a design document they are an object.
            if let fields = definition["fields"] { _ = try Sort(fields) }
            // The old name of the filter is for stored indexes only.
            var checked = definition
            checked["selector"] = nil
            index = try Index(designDocument: designDocument, name: self.name, definition: checked)
            let members = ["fields", "partial_filter_selector"]
            if let other = definition.first(where: { !members.contains($0.key) }) {
                throw QueryError("invalid_key", "Invalid key \(other.key) for this request.")
            }
        }

        private static func string(_ value: BSONValue?) throws(QueryError) -> String? {
            switch value {
            case nil: return nil
            case .string(let text): return text
            case .some(let value): throw QueryError("invalid_string", "Invalid string: \(value.erlangTerm)")
            }
        }

        private static func name(_ value: BSONValue?) throws(QueryError) -> String? {
            let name = try string(value)
            guard name != "" else {
                throw QueryError("invalid_empty_string", "Index name or ddoc cannot be empty string")
            }
            return name
        }

        /// The name that CouchDB gives: the SHA-1 of the request in Erlang's external format.
        private static func generatedName(_ body: BSONDocument, _ definition: BSONValue) -> String {
            var term = ExternalTerm()
            term.tuple(count: 2)
            term.value(definition)
            let members = ["ddoc", "def", "name", "partitioned", "type", "w"]
            term.list(count: members.count)
            for member in members {
                term.tuple(count: 2)
                term.atom(member)
                switch (member, body[member]) {
                case ("def", _): term.value(definition)
                case (_, let value?): term.value(value)
                case ("partitioned", nil): term.atom("db_default")
                case ("type", nil): term.binary("json")
                case ("w", nil): term.integer(2)
                default: term.atom("auto_name")
                }
            }
            term.endList()
            return Insecure.SHA1.hash(data: [131] + term.bytes).map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0\(digits)" : digits
            }.joined()
        }

        /// The fields of the design document with this index.
        ///
        /// - Returns: nil when it has the index already.
        /// - Throws: ``Mango/QueryError`` when the design document is of another language.
        package func added(to fields: BSONDocument?) throws(QueryError) -> BSONDocument? {
            if let language = fields?["language"], language != "query" {
                throw QueryError(
                    "invalid_ddoc_lang", "Existing design doc has an invalid language: \(language.erlangTerm)")
            }
            var fields = fields ?? [:]
            let columns = BSONDocument(index.columns.map { ($0.path.text, .string($0.direction)) })
            let view: BSONDocument = [
                "map": [
                    "fields": .document(columns),
                    "partial_filter_selector": .document(index.partialFilter?.json ?? [:]),
                ], "reduce": "_count", "options": ["def": .document(definition)],
            ]
            var views = fields["views"]?.documentValue ?? [:]
            if views[name] == .document(view) { return nil }
            fields["language"] = "query"
            views[name] = .document(view)
            fields["views"] = .document(views)
            return fields
        }
    }
}
#endif
