#if TansuServer
import TansuBSON

/// The path of a request by CouchDB's rules: parts between slashes, decoded one by one (so that `%2F` is a slash inside a
/// part, and `+` a space). Empty parts do not count: `//db//a/` is `db`, `a`.
struct RequestPath: Sendable, Equatable {
    /// The path as it was sent, without query and fragment.
    let raw: String
    /// The decoded parts. The second one of `/db/_design%2Fx` and `/db/_local%2Fx` is two.
    let parts: [String]
    /// Whether the slash after `_design` was encoded.
    let hasEncodedDesignSlash: Bool

    static func == (a: Self, b: Self) -> Bool {
        a.raw == b.raw && a.parts == b.parts && a.hasEncodedDesignSlash == b.hasEncodedDesignSlash
    }

    /// - Parameter path: The path as it was sent, without the query.
    /// - Throws: ``HTTPFailure`` when a part is not UTF-8.
    init(_ path: String) throws {
        raw = path
        var parts = try path.utf8.split(separator: UInt8(ascii: "/")).map { try percentDecoded($0) }
        hasEncodedDesignSlash = parts.count > 1 && parts[1].hasPrefix("_design/")
        if parts.count > 1 {
            for prefix in ["_design", "_local"] {
                guard let name = parts[1].dropping(prefix: prefix + "/"), !name.isEmpty else { continue }
                parts.replaceSubrange(1...1, with: [prefix, name])
                break
            }
        }
        self.parts = parts
    }
}

/// The names that a client may give to a new database. Collections that an app has made may have others, and are served too.
enum DatabaseName {
    /// The name of a collection has 120 bytes at most, and those of the revisions and attachments of a database are longer
    /// than its own.
    static let maximumBytes = 102

    /// - Throws: ``HTTPFailure`` with CouchDB's reasons.
    static func check(_ name: String) throws {
        let bytes = name.utf8
        let isFirst: (UInt8) -> Bool = { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        let isOther: (UInt8) -> Bool = {
            isFirst($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "_$()+/-".utf8.contains($0)
        }
        guard system.contains(name) || (bytes.first.map(isFirst) == true && bytes.allSatisfy(isOther)) else {
            throw HTTPFailure(
                .badRequest, "illegal_database_name",
                "Name: '\(name)'. Only lowercase characters (a-z), digits (0-9), and any of the characters _, $, (, ), +, -, "
                    + "and / are allowed. Must begin with a letter.")
        }
        guard bytes.count <= maximumBytes else {
            throw HTTPFailure(
                .badRequest, "database_name_too_long", "At least one path segment of `\(name)` is too long.")
        }
    }

    /// Those that begin with an underscore and are allowed.
    static let system = ["_users", "_replicator", "_global_changes"]
}

/// The query of a request: names and values in their order, decoded; `&` or `;` is between them. Reading a value as a type throws CouchDB's errors.
struct QueryParameters: Sendable {
    let items: [(name: String, value: String)]

    /// - Parameter query: The text after the `?`, without a fragment.
    /// - Throws: ``HTTPFailure`` when it is not UTF-8.
    init(_ query: String) throws {
        items = try query.utf8.split(whereSeparator: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }).map {
            item in
            let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (try percentDecoded(parts[0]), parts.count > 1 ? try percentDecoded(parts[1]) : "")
        }
    }

    /// The first value of a name.
    subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    func contains(_ name: String) -> Bool { items.contains { $0.name == name } }

    /// `true` or `false`; nil when the name is missing.
    func bool(_ name: String) throws -> Bool? {
        switch self[name] {
        case nil: nil
        case "true": true
        case "false": false
        case let value?: throw HTTPFailure.queryParseError("Invalid boolean parameter: \(Self.quoted(value))")
        }
    }

    func integer(_ name: String) throws -> Int? {
        guard let value = self[name] else { return nil }
        guard let number = Int(value) else {
            throw HTTPFailure.queryParseError("Invalid value for integer: \(Self.quoted(value))")
        }
        return number
    }

    /// An integer that is not negative; CouchDB calls that positive.
    func positiveInteger(_ name: String) throws -> Int? {
        guard let number = try integer(name) else { return nil }
        guard number >= 0 else {
            throw HTTPFailure.queryParseError(
                "Invalid value for positive integer: \(Self.quoted(self[name] ?? ""))")
        }
        return number
    }

    /// A value that is JSON text.
    func json(_ name: String) throws -> BSONValue? {
        guard let value = self[name] else { return nil }
        do {
            return try BSONValue(plainJSON: value)
        } catch {
            throw HTTPFailure.invalidJSON
        }
    }

    private static func quoted(_ text: String) -> String { BSONValue.string(text).extendedJSON() }
}

/// Decodes `%XX` and `+` (a space).
///
/// - Throws: ``HTTPFailure`` when a `%` is without two hex digits, or the bytes are not UTF-8.
func percentDecoded(_ text: Substring.UTF8View) throws -> String {
    guard text.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
        return try validated(Array(text))
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text
    while let byte = rest.popFirst() {
        switch byte {
        case UInt8(ascii: "+"):
            bytes.append(UInt8(ascii: " "))
        case UInt8(ascii: "%"):
            guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
                throw HTTPFailure(
                    .badRequest, "invalid_url_encoding", "The URL has a % that two hex digits do not follow")
            }
            bytes.append(high << 4 | low)
        default:
            bytes.append(byte)
        }
    }
    return try validated(bytes)
}

private func validated(_ bytes: [UInt8]) throws -> String {
    guard let text = String(utf8: bytes) else {
        throw HTTPFailure.badRequest("The URL is not valid UTF-8")
    }
    return text
}

func hexValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
}
#endif
