import Foundation
import TansuBSON

/// A mistake in what was typed, with the byte where it is.
struct TypingError: Error, Equatable {
    let message: String
    let offset: Int
    var remedy = ""
}

/// A scanner of what is typed in the shell: words, and JSON in a relaxed form.
///
/// Beyond JSON, keys need no quotes, text may be in single quotes, a comma may stand before a closing bracket, `$$name` is
/// a variable, `/text/i` a regular expression, and `ObjectId("…")` and the like are values.
struct RelaxedScanner {
    private let text: [UInt8]
    private(set) var position: Int
    private let variables: [BytewiseText: BSONValue]
    /// The strict JSON of the value that is being scanned.
    private var strict: [UInt8] = []
    /// Where tokens begin in `strict`, and in the text.
    private var origins: [(strict: Int, text: Int)] = []

    /// A value may be nested as deeply as a pipeline's document in a command.
    private static let depthLimit = BSONDocument.maximumDepth + 8

    init(_ text: String, variables: [BytewiseText: BSONValue] = [:]) {
        self.text = Array(text.utf8)
        self.variables = variables
        position = 0
    }

    // MARK: Words

    /// The byte at the position, or nil at the end.
    var peek: UInt8? { position < text.count ? text[position] : nil }

    var isAtEnd: Bool { position == text.count }

    mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
    }

    /// The bytes up to the next space, without moving.
    var nextToken: String {
        String(decoding: text[position...].prefix { $0 != 0x20 && !(0x09...0x0D).contains($0) }, as: UTF8.self)
    }

    /// The word at the position: up to a space or a bracket, or in quotes. Nil when there is none.
    mutating func word() throws -> String? {
        skipSpace()
        guard let byte = peek else { return nil }
        if Self.isQuote(byte) { return try quotedText() }
        let end = text[position...].firstIndex { Self.endsWord($0) } ?? text.count
        guard end > position else { return nil }
        defer { position = end }
        return String(decoding: text[position..<end], as: UTF8.self)
    }

    /// The token up to the next space, which is moved past.
    mutating func token() -> String {
        let token = nextToken
        position += token.utf8.count
        return token
    }

    /// What is left of the text.
    mutating func rest() -> String {
        defer { position = text.count }
        return String(decoding: text[position...], as: UTF8.self).trimmingSpaces
    }

    func error(_ message: String, at offset: Int? = nil, remedy: String = "") -> TypingError {
        TypingError(message: message, offset: offset ?? position, remedy: remedy)
    }

    static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

    private static func endsWord(_ byte: UInt8) -> Bool {
        byte <= 0x20 || "{}[]()\"';,:".utf8.contains(byte)
    }

    private mutating func quotedText() throws -> String {
        strict = []
        let start = position
        try string()
        return try strictValue(start, isStored: false).stringValue ?? ""
    }

    // MARK: Values

    /// The value at the position.
    /// - Parameter isStored: Whether it is a document to store, in which version 1 of extended JSON counts too.
    mutating func value(isStored: Bool = false) throws -> BSONValue {
        skipSpace()
        strict = []
        origins = []
        let start = position
        try scanValue(depth: 1)
        return try strictValue(start, isStored: isStored)
    }

    /// The document at the position.
    mutating func document(_ what: String, isStored: Bool = false) throws -> BSONDocument {
        skipSpace()
        let start = position
        guard let byte = peek, byte == UInt8(ascii: "{") || byte == UInt8(ascii: "$") else {
            throw error("Expected \(what), in braces")
        }
        guard let document = try value(isStored: isStored).documentValue else {
            throw error("Expected \(what), in braces", at: start)
        }
        return document
    }

    private func strictValue(_ start: Int, isStored: Bool) throws -> BSONValue {
        do {
            guard isStored else { return try BSONValue(extendedJSON: strict) }
            return .document(try strict.withUnsafeBytes { try BSONDocument(storedJSON: $0) })
        } catch let failure as BSONError {
            let offset = failure.offset ?? 0
            let origin = origins.last { $0.strict <= offset }
            throw error(failure.message, at: origin?.text ?? start)
        }
    }

    private mutating func scanValue(depth: Int) throws {
        guard depth <= Self.depthLimit else { throw error("The value is nested too deeply") }
        skipSpace()
        origins.append((strict.count, position))
        guard let byte = peek else { throw error("Expected a value at the end") }
        switch byte {
        case UInt8(ascii: "{"): try object(depth)
        case UInt8(ascii: "["): try array(depth)
        case UInt8(ascii: "\""), UInt8(ascii: "'"): try string()
        case UInt8(ascii: "/"): try regularExpression()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        default: try name()
        }
    }

    private mutating func object(_ depth: Int) throws {
        try list(closing: UInt8(ascii: "}")) { scanner in
            guard let byte = scanner.peek else { throw scanner.error("Expected a key or \"}\" at the end") }
            scanner.origins.append((scanner.strict.count, scanner.position))
            if Self.isQuote(byte) {
                try scanner.string()
            } else {
                let end = scanner.text[scanner.position...].firstIndex { Self.endsWord($0) } ?? scanner.text.count
                guard end > scanner.position else { throw scanner.error("Expected a key or \"}\"") }
                let key = String(decoding: scanner.text[scanner.position..<end], as: UTF8.self)
                scanner.position = end
                scanner.strict += Array(jsonText(key).utf8)
            }
            scanner.skipSpace()
            guard scanner.peek == UInt8(ascii: ":") else { throw scanner.error("Expected \":\" after the key") }
            scanner.position += 1
            scanner.strict.append(UInt8(ascii: ":"))
            try scanner.scanValue(depth: depth + 1)
        }
    }

    private mutating func array(_ depth: Int) throws {
        try list(closing: UInt8(ascii: "]")) { try $0.scanValue(depth: depth + 1) }
    }

    /// Scans an opening bracket, items with commas between them, and the closing bracket.
    private mutating func list(closing: UInt8, _ item: (inout Self) throws -> Void) throws {
        let start = position
        strict.append(text[position])
        position += 1
        var isFirst = true
        while true {
            skipSpace()
            guard let byte = peek else { throw error("This bracket is not closed", at: start) }
            if byte == closing {
                position += 1
                return strict.append(closing)
            }
            if !isFirst { strict.append(UInt8(ascii: ",")) }
            isFirst = false
            try item(&self)
            skipSpace()
            if peek == UInt8(ascii: ",") {
                position += 1
            } else if let byte = peek, byte != closing {
                throw error("Expected a comma or \"\(UnicodeScalar(closing))\"")
            }
        }
    }

    private mutating func string() throws {
        let (start, quote) = (position, text[position])
        position += 1
        strict.append(UInt8(ascii: "\""))
        while let byte = peek, byte != UInt8(ascii: "\n") {
            guard byte >= 0x20 else {
                throw error("A text has a control character", remedy: "write it as \\t or \\u\(Self.hex(byte))")
            }
            position += 1
            if byte == quote { return strict.append(UInt8(ascii: "\"")) }
            if byte == UInt8(ascii: "\""), quote != byte {
                strict += Array("\\\"".utf8)
            } else if byte == UInt8(ascii: "\\"), let next = peek {
                // JSON has no escape for a single quote.
                strict += next == UInt8(ascii: "'") ? [next] : [byte, next]
                position += 1
            } else {
                strict.append(byte)
            }
        }
        throw error("The text has no end on its line", at: start)
    }

    /// The four digits of a character in an escape of JSON.
    private static func hex(_ byte: UInt8) -> String { "00" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    private mutating func number() throws {
        if text[position...].starts(with: "-Infinity".utf8) {
            position += 9
            return put(wrapper: "$numberDouble", "-Infinity")
        }
        let end = text[position...].firstIndex { !"+-.0123456789eE".utf8.contains($0) } ?? text.count
        strict += text[position..<end]
        position = end
    }

    private mutating func regularExpression() throws {
        let start = position
        position += 1
        var pattern: [UInt8] = []
        while let byte = peek, byte >= 0x20, byte != UInt8(ascii: "/") {
            position += 1
            pattern.append(byte)
            guard byte == UInt8(ascii: "\\"), let next = peek else { continue }
            if next == UInt8(ascii: "/") { pattern.removeLast() }
            pattern.append(next)
            position += 1
        }
        guard peek == UInt8(ascii: "/") else { throw error("The regular expression has no end", at: start) }
        position += 1
        let end = text[position...].firstIndex { !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } ?? text.count
        let options = String(decoding: text[position..<end], as: UTF8.self)
        position = end
        let quoted = jsonText(String(decoding: pattern, as: UTF8.self))
        strict += Array("{\"$regularExpression\":{\"pattern\":\(quoted),\"options\":\(jsonText(options))}}".utf8)
    }

    /// Scans a literal, a variable, or a call such as `ObjectId("…")`.
    private mutating func name() throws {
        let start = position
        guard var name = try word() else {
            throw error("Expected a value, not \"\(UnicodeScalar(text[position]))\"")
        }
        if name == "new" { name = try word() ?? "" }
        switch name {
        case "true", "false", "null": strict += Array(name.utf8)
        case "NaN", "Infinity": put(wrapper: "$numberDouble", name)
        case _ where peek == UInt8(ascii: "("): try call(name, start)
        case _ where name.hasPrefix("$$"):
            guard let value = variables[BytewiseText(name.dropFirst(2))] else {
                throw error(
                    "The variable \(Suggestion.shown(name)) does not exist", at: start,
                    remedy: "\".set\" lists the variables")
            }
            strict += Array(value.extendedJSON(.canonical).utf8)
        default: throw error("\"\(Suggestion.shown(name))\" is no value", at: start, remedy: "put text in quotes")
        }
    }

    /// What the calls of MongoDB's shell are in extended JSON.
    private static let wrappers: [(names: [String], wrapper: String)] = [
        (["ObjectId", "ObjectID"], "$oid"), (["ISODate", "Date"], "$date"), (["UUID"], "$uuid"),
        (["NumberInt", "Int32"], "$numberInt"), (["NumberLong", "Long"], "$numberLong"),
        (["NumberDecimal", "Decimal128"], "$numberDecimal"), (["Double"], "$numberDouble"),
    ]

    private mutating func call(_ name: String, _ start: Int) throws {
        guard let wrapper = Self.wrappers.first(where: { $0.names.contains { $0 == name } })?.wrapper else {
            throw error(
                "The shell has no function \"\(Suggestion.shown(name))\"", at: start,
                remedy: "it has " + Self.wrappers.map { $0.names[0] }.joined(separator: ", "))
        }
        position += 1
        skipSpace()
        var argument = ""
        if let byte = peek, Self.isQuote(byte) {
            var inner = self
            argument = try inner.quotedText()
            position = inner.position
        } else {
            argument = try word() ?? ""
        }
        skipSpace()
        guard peek == UInt8(ascii: ")") else { throw error("Expected \")\"") }
        position += 1
        if wrapper == "$date" { argument = Self.date(argument) }
        put(wrapper: wrapper, argument)
    }

    /// A date without a time is midnight, and an empty one is now.
    private static func date(_ text: String) -> String {
        if text.isEmpty { return Date().ISO8601Format() }
        return text.utf8.count == 10 ? text + "T00:00:00Z" : text
    }

    private mutating func put(wrapper: String, _ text: String) {
        strict += Array("{\"\(wrapper)\":\(jsonText(text))}".utf8)
    }
}
