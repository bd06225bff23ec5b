#if TansuSync
    import TansuBSON

    extension Mango.Query {
        /// Reads the body of a request.
        ///
        /// - Throws: ``Mango/QueryError`` with CouchDB's name and reason, for the first member in the order of CouchDB's checks.
        package init(_ body: BSONDocument) throws(Mango.QueryError) {
            var members = Members(body)
            guard let selector = members.take("selector") else {
                throw Mango.QueryError("missing_required_key", "Missing required key: selector")
            }
            guard case .document(let condition) = selector else {
                throw Mango.QueryError(
                    "invalid_selector_json", "Selector must be a JSON object, not: \(selector.erlangTerm)")
            }
            self.selector = try Mango.Selector(condition)
            useIndex = try Self.index(members.take("use_index"))
            bookmark = try Self.bookmark(members.take("bookmark"))
            limit = try Self.count(members.take("limit"), default: Self.defaultLimit)
            skip = try Self.count(members.take("skip"), default: 0)
            sort = try Mango.Sort(members.take("sort") ?? .array([]))
            fields = try Self.fields(members.take("fields"))
            partition = try Self.partition(members.take("partition"))
            readQuorum = try Self.positive(members.take("r"))
            includesConflicts = try Self.flag(members.take("conflicts"), default: false)
            isStale = try Self.stale(members.take("stale"))
            updatesIndex = try Self.flag(members.take("update"), default: true)
            isStable = try Self.flag(members.take("stable"), default: false)
            includesStatistics = try Self.flag(members.take("execution_stats"), default: false)
            allowsFallback = try Self.flag(members.take("allow_fallback"), default: true)
            if let key = members.firstLeft {
                throw Mango.QueryError("invalid_key", "Invalid key \(key) for this request.")
            }
        }

        /// The members of a body that were not read yet.
        private struct Members {
            private var left: [(key: String, value: BSONValue)]

            init(_ body: BSONDocument) { left = Array(body) }

            mutating func take(_ key: String) -> BSONValue? {
                guard let index = left.firstIndex(where: { $0.key == key }) else { return nil }
                return left.remove(at: index).value
            }

            var firstLeft: String? { left.first?.key }
        }

        private static func index(_ value: BSONValue?) throws(Mango.QueryError) -> [String] {
            switch value {
            case nil, .null: return []
            case .string(let text):
                let name = text.dropping(prefix: "_design/") ?? text
                let parts = name.parts(separatedBy: "/")
                guard parts.count <= 2 else { break }
                return parts
            case .array(let array):
                let names = array.compactMap(\.stringValue)
                guard names.count == array.count, names.count <= 2 else { break }
                return names
            default: break
            }
            throw Mango.QueryError("invalid_index_name", "Invalid index name: \((value ?? .null).erlangTerm)")
        }

        private static func bookmark(_ value: BSONValue?) throws(Mango.QueryError) -> String? {
            switch value {
            case nil, .null, .string(""), .string("nil"): return nil
            case .string(let text): return text
            case .some(let value):
                throw Mango.QueryError("invalid_bookmark", "Invalid bookmark value: \(value.wireJSON)")
            }
        }

        private static func count(_ value: BSONValue?, default: Int64) throws(Mango.QueryError) -> Int64 {
            guard let value else { return `default` }
            guard let number = value.wholeNumber, number >= 0 else {
                throw Mango.QueryError(
                    "invalid_non_neg_integer",
                    "\(value.erlangTerm) is not an integer greater than or equal to zero")
            }
            return number
        }

        private static func positive(_ value: BSONValue?) throws(Mango.QueryError) -> Int64 {
            guard let value else { return 1 }
            guard let number = value.wholeNumber, number > 0 else {
                throw Mango.QueryError(
                    "invalid_pos_integer", "\(value.erlangTerm) is not an integer greater than zero")
            }
            return number
        }

        private static func flag(_ value: BSONValue?, default: Bool) throws(Mango.QueryError) -> Bool {
            guard let value else { return `default` }
            guard case .bool(let flag) = value else {
                throw Mango.QueryError("invalid_boolean", "Invalid boolean value: \(value.erlangTerm)")
            }
            return flag
        }

        private static func stale(_ value: BSONValue?) throws(Mango.QueryError) -> Bool {
            switch value {
            case nil, .bool(false), .string("false"): return false
            case .string("ok"): return true
            case .some(let value):
                throw Mango.QueryError(
                    "invalid_ok_or_false_value", "Invalid value for stale: \(value.erlangTerm)")
            }
        }

        private static func partition(_ value: BSONValue?) throws(Mango.QueryError) -> String {
            guard let value else { return "" }
            guard case .string(let name) = value else {
                throw Mango.QueryError("bad_request", "Partition must be a string")
            }
            return name
        }

        private static func fields(_ value: BSONValue?) throws(Mango.QueryError) -> [Mango.FieldPath]? {
            guard let value else { return nil }
            guard case .array(let array) = value else {
                throw Mango.QueryError(
                    "invalid_fields", "Fields must be an array of strings, not: \(value.erlangTerm)")
            }
            var fields: [Mango.FieldPath] = []
            for field in array {
                guard case .string(let name) = field else {
                    throw Mango.QueryError("invalid_field", "Invalid JSON for field spec: \(field.erlangTerm)")
                }
                fields.append(try Mango.FieldPath(name))
            }
            return fields.isEmpty ? nil : fields
        }
    }
#endif
