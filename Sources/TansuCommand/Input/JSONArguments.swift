import TansuBSON

/// Reads the JSON that stands on the command line.
enum JSONArguments {
    /// A JSON object.
    /// - Parameter name: What the message calls it, such as "query".
    /// - Throws: `CommandFailure` that says where the text is wrong.
    static func document(_ text: String, name: String) throws -> BSONDocument {
        do {
            return try BSONDocument(extendedJSON: text)
        } catch let error as BSONError {
            throw CommandFailure(
                code: "INVALID_JSON", message: "The \(name) is not a JSON object: \(error).", path: name,
                remedy: name == "document" ? "" : "Put it in single quotes, keys in double quotes.")
        }
    }

    /// An `_id`: JSON, or 24 hexadecimal digits for an ObjectID, or else the text itself.
    static func id(_ text: String) -> BSONValue {
        if text.utf8.count == 24, let id = ObjectID(text) { return .objectID(id) }
        return (try? BSONValue(extendedJSON: text)) ?? .string(text)
    }

    /// `$orderby` from a JSON object or from "name,-age".
    static func order(_ text: String) throws -> BSONDocument {
        if isObject(text) { return try document(text, name: "--orderby") }
        return try paths(text, name: "--orderby", descending: .int32(-1))
    }

    /// `$fields` from a JSON object or from "name,age" or "-tags".
    static func fields(_ text: String) throws -> BSONDocument {
        if isObject(text) { return try document(text, name: "--fields") }
        return try paths(text, name: "--fields", descending: .int32(0))
    }

    /// The keys of an index, from a JSON object or from "name,-age".
    static func keys(_ text: String) throws -> BSONDocument {
        if isObject(text) { return try document(text, name: "keys") }
        return try paths(text, name: "keys", descending: .int32(-1))
    }

    /// Adds a hint that an option gives; `nil` when the option is not there.
    /// - Throws: `CommandFailure` when the hints have it already.
    static func add(
        _ value: BSONValue?, _ hint: String, _ option: String, to hints: inout BSONDocument
    ) throws {
        guard let value else { return }
        guard hints[hint] == nil else {
            throw CommandFailure(
                code: "INVALID_QUERY", message: "\(hint) stands in the hints and as \(option).",
                path: hint, remedy: "Give it once.", status: .usage)
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
                throw CommandFailure(
                    code: "INVALID_QUERY", message: "A path is missing in \"\(text)\".", path: name,
                    remedy: "Write paths with commas between them, such as name,-age.")
            }
            result[String(path)] = isMinus ? descending : .int32(1)
        }
        return result
    }
}

extension QueryArguments {
    /// The query and the hints that the words of the command line come to.
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
    /// Adds the order, if one is given.
    func add(to hints: inout BSONDocument) throws {
        let order = try orderby.map { BSONValue.document(try JSONArguments.order($0)) }
        try JSONArguments.add(order, "$orderby", "--orderby", to: &hints)
    }
}

extension QueryOptions {
    /// The query and the hints that the words of the command line come to.
    func resolved() throws -> (query: BSONDocument, hints: BSONDocument) {
        var (query, hints) = try arguments.resolved()
        try order.add(to: &hints)
        let fields = try fields.map { BSONValue.document(try JSONArguments.fields($0)) }
        try JSONArguments.add(fields, "$fields", "--fields", to: &hints)
        return (query, hints)
    }
}
