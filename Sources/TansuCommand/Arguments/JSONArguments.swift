import TansuBSON

/// The parsing of JSON arguments of the command line.
enum JSONArguments {
    /// Parses a JSON object.
    /// - Parameter name: The name of the argument in messages, such as "query".
    /// - Throws: `CommandError` with the position of the syntax error.
    static func document(_ text: String, name: String) throws -> BSONDocument {
        do {
            return try BSONDocument(extendedJSON: text)
        } catch let error as BSONError {
            throw CommandError(
                code: "INVALID_JSON", message: "Argument \"\(name)\" is not a JSON object: \(error)", path: name,
                remedy: name == "document" ? "" : "put it in single quotes and its keys in double quotes")
        }
    }

    /// Parses an `_id`: 24 hexadecimal digits are an ObjectID, other text is JSON or else a string.
    static func id(_ text: String) -> BSONValue {
        if text.utf8.count == 24, let id = ObjectID(text) { return .objectID(id) }
        return (try? BSONValue(extendedJSON: text)) ?? .string(text)
    }

    /// Parses the hint `$orderby`: a JSON object or "name,-age".
    static func order(_ text: String) throws -> BSONDocument {
        if isObject(text) { return try document(text, name: "--orderby") }
        return try paths(text, name: "--orderby", descending: .int32(-1))
    }

    /// Parses the hint `$fields`: a JSON object, "name,age" or "-tags".
    static func fields(_ text: String) throws -> BSONDocument {
        if isObject(text) { return try document(text, name: "--fields") }
        return try paths(text, name: "--fields", descending: .int32(0))
    }

    /// Parses the keys of an index: a JSON object or "name,-age".
    static func keys(_ text: String) throws -> BSONDocument {
        if isObject(text) { return try document(text, name: "keys") }
        return try paths(text, name: "keys", descending: .int32(-1))
    }

    /// Adds the hint of an option, unless the value is nil because the option is missing.
    /// - Throws: `CommandError` when the hints contain it already.
    static func add(
        _ value: BSONValue?, _ hint: String, _ option: String, to hints: inout BSONDocument
    ) throws {
        guard let value else { return }
        guard hints[hint] == nil else {
            throw CommandError(
                code: "INVALID_QUERY", message: "The hint \"\(hint)\" and the option \"\(option)\" are both given",
                path: hint, remedy: "remove one of them", status: .usage)
        }
        hints[hint] = value
    }

    private static func isObject(_ text: String) -> Bool {
        text.first { !$0.isWhitespace } == "{"
    }

    private static func paths(
        _ text: String, name: String, descending: BSONValue
    ) throws -> BSONDocument {
        var result = BSONDocument()
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let word = part.drop { $0 == " " }
            let isMinus = word.first == "-"
            let path = word.drop { $0 == "-" || $0 == "+" }
            guard !path.isEmpty else {
                throw CommandError(
                    code: "INVALID_QUERY", message: "\"\(text)\" has an empty path", path: name,
                    remedy: "separate paths by commas, as in name,-age")
            }
            result[String(path)] = isMinus ? descending : .int32(1)
        }
        return result
    }
}

extension QueryArguments {
    /// Parses the query and the hints, and adds the options to the hints.
    func resolved() throws -> (query: BSONDocument, hints: BSONDocument) {
        let query = try JSONArguments.document(query, name: "query")
        var hints = try JSONArguments.document(hints, name: "hints")
        try JSONArguments.add(skip.map { BSONValue($0) }, "$skip", "--skip", to: &hints)
        try JSONArguments.add(max.map { BSONValue($0) }, "$max", "--max", to: &hints)
        try JSONArguments.add(noDiskUse ? .bool(false) : nil, "$allowDiskUse", "--no-disk-use", to: &hints)
        return (query, hints)
    }
}

extension OrderOption {
    /// Adds the order to the hints, if there is one.
    func add(to hints: inout BSONDocument) throws {
        let order = try orderby.map { BSONValue.document(try JSONArguments.order($0)) }
        try JSONArguments.add(order, "$orderby", "--orderby", to: &hints)
    }
}

extension QueryOptions {
    /// Parses the query and the hints, and adds the options to the hints.
    func resolved() throws -> (query: BSONDocument, hints: BSONDocument) {
        var (query, hints) = try arguments.resolved()
        try order.add(to: &hints)
        let fields = try fields.map { BSONValue.document(try JSONArguments.fields($0)) }
        try JSONArguments.add(fields, "$fields", "--fields", to: &hints)
        return (query, hints)
    }
}
