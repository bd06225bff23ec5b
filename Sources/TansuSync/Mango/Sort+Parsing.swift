#if TansuSync
    import TansuBSON

    extension Mango.Sort {
        /// Reads an array of names, or of objects such as `{"name": "desc"}`.
        init(_ value: BSONValue) throws(Mango.QueryError) {
            guard case .array(let array) = value else {
                throw Mango.QueryError(
                    "invalid_sort_json", "Sort must be an array of sort specs, not: \(value.prettyErlangTerm)")
            }
            var fields: [String] = []
            var directions: Set<BytewiseText> = []
            for element in array {
                let (field, direction) = try Self.field(element)
                fields.append(field)
                directions.insert(BytewiseText(direction))
            }
            guard directions.count <= 1 else {
                throw Mango.QueryError(
                    "unsupported_mixed_sort", "Sorts currently only support a single direction for all fields.")
            }
            self.fields = fields
            isDescending = directions.contains("desc")
        }

        private static func field(_ value: BSONValue) throws(Mango.QueryError) -> (String, String) {
            switch value {
            case .string(let name) where !name.isEmpty: return (name, "asc")
            case .document(let document):
                let members = Array(document)
                if members.count == 1, let direction = members[0].value.stringValue,
                    ["asc", "desc"].contains(direction)
                {
                    return (members[0].key, direction)
                }
            default: break
            }
            throw Mango.QueryError("invalid_sort_field", "Invalid sort field: \(value.prettyErlangTerm)")
        }

        /// The sort as `_explain` shows it.
        var json: BSONDocument {
            BSONDocument(fields.map { ($0, .string(isDescending ? "desc" : "asc")) })
        }
    }
#endif
