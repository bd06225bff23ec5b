#if TansuSync
    import Crypto
    import TansuBSON

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
