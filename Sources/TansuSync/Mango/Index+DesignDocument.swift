#if TansuSync
    import TansuBSON

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
#endif
