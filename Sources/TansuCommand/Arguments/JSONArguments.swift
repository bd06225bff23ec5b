import TansuBSON

/// The parsing of JSON arguments of the command line.
enum JSONArguments {
    /// Parses a JSON object.
    /// - Parameter name: The name of the argument in messages, such as "query".
    /// - Throws: `CommandError` with the position of the syntax error.
    static func document(_ text: String, name: String) throws -> BSONDocument {
        do {
            if name == "document" { return try Array(text.utf8).withUnsafeBytes { try BSONDocument(storedJSON: $0) } }
            return try BSONDocument(extendedJSON: text)
        } catch let error as BSONError {
            throw CommandError(
                code: "INVALID_JSON", message: "Argument \"\(name)\" is not a JSON object: \(error)", path: name,
                remedy: name == "document" ? "" : "put it in single quotes and its keys in double quotes")
        }
    }

    /// Parses the stages of a pipeline, a JSON array of objects; nil for other text, such as an object.
    /// - Throws: `CommandError` with the position of the syntax error.
    static func stages(_ text: String, name: String) throws -> [BSONDocument]? {
        guard text.first(where: { !$0.isWhitespace }) == "[" else { return nil }
        do {
            return try BSONValue(extendedJSON: text).arrayValue?.enumerated().map { number, stage in
                guard let stage = stage.documentValue else {
                    throw CommandError(
                        code: "INVALID_JSON", message: "Stage \(number) of the pipeline is not a JSON object",
                        path: name, remedy: "write it as {\"$name\": …}")
                }
                return stage
            }
        } catch let error as BSONError {
            throw CommandError(
                code: "INVALID_JSON", message: "Argument \"\(name)\" is not a JSON array: \(error)", path: name,
                remedy: "put it in single quotes and its keys in double quotes")
        }
    }

    /// Parses an `_id`: 24 hexadecimal digits are an ObjectID, other text is JSON or else a string.
    static func id(_ text: String) -> BSONValue {
        if text.utf8.count == 24, let id = ObjectID(text) { return .objectID(id) }
        return (try? BSONValue(extendedJSON: text)) ?? .string(text)
    }

    /// Parses the hint `$orderby`: a JSON object, "name,-age" or "name, age desc".
    static func order(_ text: String) throws -> BSONDocument {
        if isObject(text) { return try document(text, name: "--orderby") }
        return try paths(text, name: "--orderby", descending: .int32(-1), directions: directions)
    }

    /// Parses the hint `$fields`: a JSON object, "name,age" or "-tags".
    static func fields(_ text: String) throws -> BSONDocument {
        if isObject(text) { return try document(text, name: "--fields") }
        return try paths(text, name: "--fields", descending: .int32(0))
    }

    /// Parses the keys of an index: a JSON object, "name,-age" or "name, age desc".
    static func keys(_ text: String) throws -> BSONDocument {
        if isObject(text) { return try document(text, name: "keys") }
        return try paths(text, name: "keys", descending: .int32(-1), directions: directions)
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

    /// The words after a path that give its direction, as in SQL and in MongoDB's shell. A path that ends with one of
    /// them needs the JSON form.
    private static let directions: [Substring: Int32] = [
        "asc": 1, "ascending": 1, "1": 1, "desc": -1, "descending": -1, "-1": -1,
    ]

    private static let directionWords = ["desc", "asc", "descending", "ascending"]

    private static func paths(
        _ text: String, name: String, descending: BSONValue, directions: [Substring: Int32] = [:]
    ) throws -> BSONDocument {
        var result = BSONDocument()
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            var word = part.drop { $0 == " " }
            while word.last == " " { word.removeLast() }
            var isMinus = word.first == "-"
            var path = word.drop { $0 == "-" || $0 == "+" }
            let last = path.split(whereSeparator: { $0 == " " || $0 == ":" }).last
            if let last, last.count < path.count, let direction = directions[Substring(last.lowercased())] {
                guard !isMinus else {
                    throw CommandError(
                        code: "INVALID_QUERY", message: "\"\(word)\" has two directions", path: name,
                        remedy: "leave out the sign or the word \"\(last)\"")
                }
                isMinus = direction < 0
                path = path.dropLast(last.count)
                while let end = path.last, end == " " || end == ":" { path.removeLast() }
            } else if let last, last.count < path.count,
                let meant = Suggestion.nearest(to: String(last), of: directions.isEmpty ? [] : directionWords)
            {
                throw CommandError(
                    code: "INVALID_QUERY",
                    message: "\"\(last)\" in \"\(Suggestion.shown(String(word)))\" is no direction", path: name,
                    remedy: "did you mean \"\(meant)\"? A path with that word needs the JSON form", status: .usage)
            }
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

extension RangeOptions {
    /// Adds the options to the hints.
    func add(to hints: inout BSONDocument) throws {
        try JSONArguments.add(skip.map { BSONValue($0) }, "$skip", "--skip", to: &hints)
        try JSONArguments.add(max.map { BSONValue($0) }, "$max", "--max", to: &hints)
    }
}

extension QueryArguments {
    /// Parses the query and the hints, and adds the options to the hints.
    func resolved() throws -> (query: BSONDocument, hints: BSONDocument) {
        let query = try JSONArguments.document(query, name: "query")
        var hints = try JSONArguments.document(hints, name: "hints")
        try range.add(to: &hints)
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
