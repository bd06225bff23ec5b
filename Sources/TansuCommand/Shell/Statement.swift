import TansuBSON

/// A statement of the shell: a request in JSON, and how its response is shown.
struct Statement: Equatable {
    enum Shown: Equatable {
        /// Documents, in batches.
        case documents
        /// One document, which may be missing.
        case document
        /// The values of a path.
        case values
        /// The plan of a query.
        case plan
        /// How many documents there are, or what was changed, in words.
        case summary
        /// The response as it is.
        case response
    }

    var request: BSONDocument
    var shown: Shown
}

/// What the shell's statements are called, and what may stand in them.
enum StatementWords {
    static let verbs = [
        "find", "count", "distinct", "get", "aggregate", "save", "insert", "update", "replace", "remove", "explain",
        "index", "dropindex", "create", "drop", "rename",
    ]
    /// The parts of a query after its conditions.
    static let clauses = ["sort", "skip", "limit", "fields", "hints"]
    /// Other names, of SQL and of MongoDB's shell.
    static let synonyms = [
        ("order", "sort"), ("orderby", "sort"), ("max", "limit"), ("select", "fields"), ("project", "fields"),
        ("delete", "remove"), ("query", "find"), ("group", "aggregate"),
    ]

    /// The name by which a word is known here.
    static func known(_ word: String) -> String {
        let word = word.asciiLowercased
        return synonyms.first { $0.0 == word }?.1 ?? word
    }
}

/// The parser of one statement.
struct StatementParser {
    private var scanner: RelaxedScanner
    /// The collection of statements that name none.
    private let current: String?

    init(_ text: String, variables: [BytewiseText: BSONValue], current: String?) {
        scanner = RelaxedScanner(text, variables: variables)
        self.current = current
    }

    /// - Throws: `TypingError`.
    static func parse(
        _ text: String, variables: [BytewiseText: BSONValue] = [:], current: String? = nil
    ) throws -> Statement {
        var parser = StatementParser(text, variables: variables, current: current)
        let statement = try parser.statement()
        parser.scanner.skipSpace()
        guard parser.scanner.isAtEnd else { throw parser.scanner.error("Expected the end of the statement") }
        return statement
    }

    /// - Parameter isExplained: Whether it stands after "explain", which is not repeated.
    private mutating func statement(isExplained: Bool = false) throws -> Statement {
        scanner.skipSpace()
        if scanner.peek == UInt8(ascii: "{") {
            return Statement(request: try scanner.document("a JSON command"), shown: .response)
        }
        let start = scanner.position
        let word = try scanner.word() ?? ""
        switch StatementWords.known(word) {
        case "find": return try query(Statement(request: ["op": "find"], shown: .documents))
        case "count": return try query(Statement(request: ["op": "count"], shown: .summary))
        case "distinct": return try distinct()
        case "get": return try get()
        case "aggregate": return try aggregate()
        case "save": return try save("save")
        case "insert": return try save("insert")
        case "update": return try update("update", "the operations")
        case "replace": return try update("replace", "the new document")
        case "remove": return try remove()
        case "explain" where !isExplained: return try explain()
        case "explain": throw scanner.error("This statement has no plan", at: start, remedy: "explain once")
        case "index": return try index()
        case "dropindex": return try named(["op": "dropIndex"], "name", "the name of the index")
        case "create": return try create()
        case "drop":
            let request: BSONDocument = ["op": "dropCollection", "collection": .string(try collection())]
            return Statement(request: request, shown: .summary)
        case "rename": return try named(["op": "renameCollection"], "to", "the new name")
        default: throw unknown(word, start)
        }
    }

    private func unknown(_ word: String, _ start: Int) -> TypingError {
        let shown = Suggestion.shown(word)
        if word.hasPrefix("db.") {
            return scanner.error(
                "\"\(shown)\" is no statement", at: start, remedy: "write \"find people {age: 5} sort {name: 1}\"")
        }
        let nearest = Suggestion.nearest(to: word, of: StatementWords.verbs)
        return scanner.error(
            word.isEmpty ? "Expected a statement" : "\"\(shown)\" is no statement", at: start,
            remedy: nearest.map { "did you mean \"\($0)\"?" } ?? "\".help\" lists the statements")
    }

    // MARK: Parts

    /// The collection that is named, or else the current one.
    private mutating func collection() throws -> String {
        scanner.skipSpace()
        var ahead = scanner
        // A collection with the name of a clause is in quotes.
        let isQuoted = scanner.peek.map { RelaxedScanner.isQuote($0) } ?? false
        if let word = try ahead.word(),
            isQuoted || !StatementWords.clauses.contains(where: { $0 == StatementWords.known(word) })
        {
            scanner = ahead
            return word
        }
        if let current { return current }
        throw scanner.error("Expected the name of a collection", remedy: "\".use NAME\" names it for all statements")
    }

    private mutating func query(_ statement: Statement) throws -> Statement {
        var statement = statement
        statement.request["collection"] = .string(try collection())
        try conditions(&statement.request)
        try clauses(&statement.request)
        return statement
    }

    private mutating func conditions(_ request: inout BSONDocument) throws {
        scanner.skipSpace()
        if let byte = scanner.peek, byte == UInt8(ascii: "{") || byte == UInt8(ascii: "$") {
            request["query"] = .document(try scanner.document("the query"))
        }
    }

    /// The clauses up to the end, as hints.
    private mutating func clauses(_ request: inout BSONDocument, upsert: Bool = false) throws {
        var hints = BSONDocument()
        var given: [String] = []
        while true {
            scanner.skipSpace()
            let start = scanner.position
            if scanner.isAtEnd { break }
            guard let word = try scanner.word() else { throw scanner.error("Expected the end of the statement") }
            let clause = StatementWords.known(word)
            if given.contains(where: { $0 == clause }) {
                throw scanner.error("\"\(clause)\" stands here twice", at: start, remedy: "leave one of them out")
            }
            given.append(clause)
            switch clause {
            case "sort": hints["$orderby"] = .document(try paths(JSONArguments.order))
            case "fields": hints["$fields"] = .document(try paths(JSONArguments.fields))
            case "skip": hints["$skip"] = try number()
            case "limit": hints["$max"] = try number()
            case "hints": for (key, value) in try scanner.document("hints") { hints[key] = value }
            case "upsert" where upsert: hints["$upsert"] = true
            default:
                let words = StatementWords.clauses + (upsert ? ["upsert"] : [])
                let nearest = Suggestion.nearest(to: word, of: words).map { "did you mean \"\($0)\"?" }
                throw scanner.error(
                    "\"\(Suggestion.shown(word))\" is no part of this statement", at: start,
                    remedy: nearest ?? "its parts are \(words.joined(separator: ", "))")
            }
        }
        if !hints.isEmpty { request["hints"] = .document(hints) }
    }

    /// Paths as a document, or as "name,-age", which is in quotes if it has spaces.
    private mutating func paths(_ parse: (String) throws -> BSONDocument) throws -> BSONDocument {
        scanner.skipSpace()
        let start = scanner.position
        if scanner.peek == UInt8(ascii: "{") { return try scanner.document("paths") }
        let isQuoted = scanner.peek.map(RelaxedScanner.isQuote) ?? false
        let text = isQuoted ? try scanner.word() ?? "" : scanner.token()
        let hasQuoteInside = !isQuoted && text.utf8.contains(where: RelaxedScanner.isQuote)
        if hasQuoteInside || isQuoted && (scanner.peek ?? 0x20) > 0x20 {
            throw scanner.error(
                "Quotes are around all paths", at: start, remedy: "write 'first name,-age', or an object")
        }
        do { return try parse(text) } catch let error as CommandError {
            throw scanner.error(error.message, at: start, remedy: error.remedy)
        }
    }

    private mutating func number() throws -> BSONValue {
        scanner.skipSpace()
        let start = scanner.position
        if let number = try? scanner.value(), let value = number.int64Value, value >= 0 { return number }
        throw scanner.error("Expected a number", at: start)
    }

    // MARK: Statements

    private mutating func distinct() throws -> Statement {
        var names: [String] = []
        var ahead = scanner
        while names.count < 2, let word = try ahead.word() {
            let isClause = StatementWords.clauses.contains { $0 == StatementWords.known(word) }
            if isClause, !names.isEmpty, current != nil { break }
            names.append(word)
            scanner = ahead
        }
        guard let path = names.last, let collection = names.count == 2 ? names[0] : current else {
            throw scanner.error("Expected a collection and a path", remedy: "write \"distinct people pets.species\"")
        }
        var request: BSONDocument = ["op": "distinct", "collection": .string(collection), "path": .string(path)]
        try conditions(&request)
        try clauses(&request)
        return Statement(request: request, shown: .values)
    }

    private mutating func get() throws -> Statement {
        var ahead = scanner
        var name = try ahead.word()
        ahead.skipSpace()
        if ahead.isAtEnd, let current { name = current } else { scanner = ahead }
        scanner.skipSpace()
        guard let name, let byte = scanner.peek else {
            throw scanner.error("Expected a collection and an _id", remedy: "write \"get people 7\"")
        }
        let token = scanner.nextToken
        let isValue =
            RelaxedScanner.isQuote(byte) || "{[$".utf8.contains(byte) || token.utf8.contains(UInt8(ascii: "("))
        let id = try isValue ? scanner.value() : JSONArguments.id(scanner.token())
        return Statement(request: ["op": "get", "collection": .string(name), "id": id], shown: .document)
    }

    private mutating func aggregate() throws -> Statement {
        var request: BSONDocument = ["op": "aggregate", "collection": .string(try collection())]
        scanner.skipSpace()
        if scanner.peek == UInt8(ascii: "[") {
            request["pipeline"] = try scanner.value()
            try clauses(&request)
            return Statement(request: request, shown: .documents)
        }
        request["group"] = .document(try scanner.document("a group, or stages in brackets"))
        try conditions(&request)
        try clauses(&request)
        return Statement(request: request, shown: .documents)
    }

    private mutating func save(_ operation: String) throws -> Statement {
        let collection = try collection()
        var documents: [BSONValue] = []
        repeat {
            scanner.skipSpace()
            if scanner.peek == UInt8(ascii: "[") {
                documents += try scanner.value().arrayValue.map { Array($0) } ?? []
            } else {
                documents.append(.document(try scanner.document("a document", isStored: true)))
            }
            scanner.skipSpace()
        } while !scanner.isAtEnd
        return Statement(
            request: [
                "op": .string(operation), "collection": .string(collection), "documents": .array(BSONArray(documents)),
            ], shown: .summary)
    }

    private mutating func update(_ member: String, _ what: String) throws -> Statement {
        var request: BSONDocument = ["op": "update", "collection": .string(try collection())]
        request["query"] = .document(try scanner.document("the query"))
        scanner.skipSpace()
        if member == "update", scanner.peek == UInt8(ascii: "[") {
            request[member] = try scanner.value()
        } else {
            request[member] = .document(try scanner.document(what, isStored: member == "replace"))
        }
        try clauses(&request, upsert: true)
        return Statement(request: request, shown: .summary)
    }

    private mutating func remove() throws -> Statement {
        var request: BSONDocument = ["op": "remove", "collection": .string(try collection())]
        request["query"] = .document(try scanner.document("the query ({} removes all)"))
        try clauses(&request)
        return Statement(request: request, shown: .summary)
    }

    private mutating func explain() throws -> Statement {
        scanner.skipSpace()
        let start = scanner.position
        var statement = try statement(isExplained: true)
        guard let plan = statement.explained else {
            throw scanner.error("This statement has no plan", at: start, remedy: "explain one that has a query")
        }
        statement = plan
        return statement
    }

    private mutating func index() throws -> Statement {
        var request: BSONDocument = ["op": "createIndex", "collection": .string(try collection())]
        request["keys"] = .document(try paths(JSONArguments.keys))
        scanner.skipSpace()
        if scanner.peek == UInt8(ascii: "{") { request["options"] = .document(try scanner.document("options")) }
        if let name = try scanner.word() { request["name"] = .string(name) }
        return Statement(request: request, shown: .summary)
    }

    private mutating func create() throws -> Statement {
        var request: BSONDocument = ["op": "createCollection", "collection": .string(try collection())]
        scanner.skipSpace()
        if scanner.peek == UInt8(ascii: "{") { request["options"] = .document(try scanner.document("options")) }
        return Statement(request: request, shown: .summary)
    }

    private mutating func named(_ request: BSONDocument, _ member: String, _ what: String) throws -> Statement {
        var request = request
        let collection = try collection()
        guard let name = try scanner.word() else { throw scanner.error("Expected \(what)") }
        request["collection"] = .string(collection)
        request[member] = .string(name)
        return Statement(request: request, shown: .summary)
    }
}

extension Statement {
    /// The statement that explains the query of this one; nil when it has none.
    var explained: Statement? {
        if request["pipeline"] != nil || request["group"] != nil {
            var explained = request
            var hints = request["hints"]?.documentValue ?? [:]
            hints["$explain"] = true
            explained["hints"] = .document(hints)
            return Statement(request: explained, shown: .plan)
        }
        guard ["find", "count", "distinct", "update", "remove"].contains(where: { $0 == request["op"]?.stringValue })
        else { return nil }
        var plan: BSONDocument = ["op": "explain"]
        for member in ["collection", "query", "hints"] { plan[member] = request[member] }
        if var hints = request["hints"]?.documentValue, hints.contains(key: "$upsert") {
            hints["$upsert"] = nil
            plan["hints"] = .document(hints)
        }
        return Statement(request: plan, shown: .plan)
    }
}
