import Foundation
public import Tansu

extension Search {
    /// Which attributes of a document are compared.
    public enum Attribute: Sendable, Hashable, Codable, ExpressibleByStringLiteral {
        /// The one at a dotted path: `owner.city`. A backslash is before a dot that belongs to a name.
        case path(String)
        /// All that have a name, at any depth, such as `city`. Served by an index if that is a wildcard index on everything.
        case named(String)
        /// All attributes, at any depth.
        case any

        /// The attribute at a dotted path.
        public init(stringLiteral value: String) { self = .path(value) }
    }

    /// How an attribute is compared.
    public enum Match: Sendable, Hashable, Codable {
        /// Equals the value; null is also what is missing at a path.
        case equal(BSONValue)
        /// The documents that `equal` does not find.
        case notEqual(BSONValue)
        /// Is text that begins with another.
        case begins(String)
        /// Is text that contains another.
        case contains(String)
        /// Is text that ends with another.
        case ends(String)
        /// Is greater, and of the same kind.
        case greater(BSONValue)
        /// Is greater or equal, and of the same kind.
        case greaterOrEqual(BSONValue)
        /// Is less, and of the same kind.
        case less(BSONValue)
        /// Is less or equal, and of the same kind.
        case lessOrEqual(BSONValue)
        /// Is between two values of one kind, in either order, both included.
        case between(BSONValue, BSONValue)
        /// Equals one of the values.
        case `in`([BSONValue])
        /// Is there, also if it is null.
        case exists
        /// Is not there.
        case notExists
    }

    /// What comparisons of text ignore. Other values are compared as without it.
    public struct Ignoring: OptionSet, Sendable, Hashable, Codable {
        /// One bit for each option.
        public let rawValue: Int

        /// Options by their bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Upper and lower case.
        public static let `case` = Self(rawValue: 1)

        /// Accents and other marks on letters: "é" is "e". Letters are compared one by one: "ß" is not "ss". It reads all
        /// documents of the collection, unless another part of the search has an index. Not for comparisons by order.
        public static let accents = Self(rawValue: 2)
    }

    /// Which documents are found: a comparison, or several that are joined.
    ///
    /// ```swift
    /// let expression: Search.Expression = .init("age", .greater(12)) && !.init(.named("city"), .equal("Paris"))
    /// ```
    public struct Expression: Sendable, Hashable {
        /// More levels than that are an error when the search runs: a query has at most 100.
        static let maxDepth = 40

        indirect enum Content: Sendable, Hashable {
            case comparison(Attribute, Match, Ignoring)
            case query(BSONDocument)
            case all([Expression])
            case any([Expression])
            case not(Expression)
            /// It had too many levels, which are not kept: freeing them would need a deep stack.
            case tooDeep
        }

        let content: Content
        let depth: Int

        /// A comparison.
        ///
        /// - Parameters:
        ///   - attribute: What is compared: a path, or `.named` or `.any`.
        ///   - match: How, and with what.
        ///   - ignoring: What comparisons of text ignore.
        public init(_ attribute: Attribute, _ match: Match, ignoring: Ignoring = []) {
            self.init(.comparison(attribute, match, ignoring), depth: 1)
        }

        /// A document query.
        public static func query(_ query: BSONDocument) -> Self { Self(.query(query), depth: 1) }

        /// All of the expressions hold. Every document is found when there is none.
        public static func all(of expressions: [Expression]) -> Self {
            Self(.all(expressions.flatMap { if case .all(let parts) = $0.content { parts } else { [$0] } }))
        }

        /// One of the expressions holds, or several. No document is found when there is none.
        public static func any(of expressions: [Expression]) -> Self {
            Self(.any(expressions.flatMap { if case .any(let parts) = $0.content { parts } else { [$0] } }))
        }

        /// Both hold.
        public static func && (a: Self, b: Self) -> Self { all(of: [a, b]) }

        /// One of them holds, or both.
        public static func || (a: Self, b: Self) -> Self { any(of: [a, b]) }

        /// The documents that the expression does not find.
        public static prefix func ! (a: Self) -> Self {
            if case .not(let expression) = a.content { expression } else { Self(.not(a)) }
        }

        private init(_ content: Content, depth: Int) {
            self.content = content
            self.depth = depth
        }

        private init(_ content: Content) {
            let depth =
                switch content {
                case .all(let parts), .any(let parts): 1 + (parts.map(\.depth).max() ?? 0)
                case .not(let expression): 1 + expression.depth
                case .comparison, .query, .tooDeep: 1
                }
            let isTooDeep = depth > Self.maxDepth
            self.init(isTooDeep ? .tooDeep : content, depth: isTooDeep ? Self.maxDepth : depth)
        }
    }
}

extension Search.Expression: Codable {
    private enum Key: String, CodingKey { case attribute, match, ignoring, query, all, any, not }

    /// Reads an expression.
    ///
    /// - Throws: `DecodingError` when there is none, or it has too many levels.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let expression: Self
        if let parts = try container.decodeIfPresent([Self].self, forKey: .all) {
            expression = .all(of: parts)
        } else if let parts = try container.decodeIfPresent([Self].self, forKey: .any) {
            expression = .any(of: parts)
        } else if let part = try container.decodeIfPresent(Self.self, forKey: .not) {
            expression = !part
        } else if let query = try container.decodeIfPresent(BSONDocument.self, forKey: .query) {
            expression = .query(query)
        } else {
            expression = Self(
                try container.decode(Search.Attribute.self, forKey: .attribute),
                try container.decode(Search.Match.self, forKey: .match),
                ignoring: try container.decodeIfPresent(Search.Ignoring.self, forKey: .ignoring) ?? [])
        }
        guard expression.content != .tooDeep else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "The expression has too many levels"))
        }
        self = expression
    }

    /// Writes the expression.
    ///
    /// - Throws: What the encoder throws; `EncodingError` for an expression with too many levels.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch content {
        case .comparison(let attribute, let match, let ignoring):
            try container.encode(attribute, forKey: .attribute)
            try container.encode(match, forKey: .match)
            if !ignoring.isEmpty { try container.encode(ignoring, forKey: .ignoring) }
        case .query(let query): try container.encode(query, forKey: .query)
        case .all(let parts): try container.encode(parts, forKey: .all)
        case .any(let parts): try container.encode(parts, forKey: .any)
        case .not(let expression): try container.encode(expression, forKey: .not)
        case .tooDeep:
            throw EncodingError.invalidValue(
                self, .init(codingPath: encoder.codingPath, debugDescription: "The expression has too many levels"))
        }
    }
}

// MARK: - Query

extension Search.Expression {
    /// The query for the expression.
    ///
    /// - Throws: `TansuError` with `.invalidArgument`.
    var query: BSONDocument {
        get throws {
            switch content {
            case .comparison(let attribute, let match, let ignoring):
                return try match.condition(on: attribute.queryPath, ignoring)
            case .query(let query): return query
            case .all(let parts):
                return parts.isEmpty ? [:] : ["$and": BSONValue(try parts.map { .document(try $0.query) })]
            case .any(let parts):
                // Nothing is found by none of them.
                return parts.isEmpty
                    ? ["$nor": [[:]]] : ["$or": BSONValue(try parts.map { .document(try $0.query) })]
            case .not(let expression): return ["$nor": [.document(try expression.query)]]
            case .tooDeep:
                throw TansuError(
                    .invalidArgument,
                    "The expression of a search has more than \(Self.maxDepth) levels; join its parts on one level")
            }
        }
    }
}

extension Search.Attribute {
    /// The path that a query has for it.
    var queryPath: String {
        get throws {
            switch self {
            case .path(let path):
                try path.checkAttribute()
                guard path.first != "$", path != "*", path != "**", !path.hasPrefix("**.") else {
                    throw TansuError(
                        .invalidArgument,
                        "The path of an attribute has a meaning of its own in a query; use .any or .named, or escape it",
                        context: path)
                }
                return path
            case .named(let name):
                try name.checkAttribute()
                return "**."
                    + name.reduce(into: "") { text, character in
                        if character == "." || character == "\\" || character == "*" { text.append("\\") }
                        text.append(character)
                    }
            case .any: return "**"
            }
        }
    }
}

extension String {
    /// Throws for what names no attribute.
    func checkAttribute() throws {
        guard !isEmpty, !utf8.contains(0) else {
            throw TansuError(
                .invalidArgument,
                "The name of an attribute is empty or has a NUL character; name one that documents have",
                context: self)
        }
    }
}

extension Search.Match {
    fileprivate func condition(on path: String, _ ignoring: Search.Ignoring) throws -> BSONDocument {
        switch self {
        case .equal(let value): return try Self.equality(value, path, ignoring)
        case .notEqual(let value): return ["$nor": [.document(try Self.equality(value, path, ignoring))]]
        case .begins(let text): return Self.text("$begin", text, path, ignoring) { AccentFolding.begins($0) }
        case .contains(let text): return Self.text("$contains", text, path, ignoring) { AccentFolding.contains($0) }
        case .ends(let text): return Self.text("$endsWith", text, path, ignoring) { AccentFolding.ends($0) }
        case .greater(let value): return try Self.comparison("$gt", [value], path, ignoring)
        case .greaterOrEqual(let value): return try Self.comparison("$gte", [value], path, ignoring)
        case .less(let value): return try Self.comparison("$lt", [value], path, ignoring)
        case .lessOrEqual(let value): return try Self.comparison("$lte", [value], path, ignoring)
        case .between(let one, let other): return try Self.comparison("$bt", [one, other], path, ignoring)
        case .in(let values):
            // Of text that is compared otherwise, and of regular expressions, which $in takes for patterns, one by one.
            let single = values.filter { $0.isText && !ignoring.isEmpty || $0.regularExpressionValue != nil }
            let others = values.filter { !single.contains($0) }
            for value in others { try value.checkDate() }
            let list: BSONDocument = [path: ["$in": BSONValue(others)]]
            guard !single.isEmpty else { return list }
            let parts = try single.map { BSONValue.document(try Self.equality($0, path, ignoring)) }
            return ["$or": BSONValue(others.isEmpty ? parts : parts + [.document(list)])]
        case .exists: return [path: ["$exists": true]]
        case .notExists: return [path: ["$exists": false]]
        }
    }

    private static func equality(
        _ value: BSONValue, _ path: String, _ ignoring: Search.Ignoring
    ) throws -> BSONDocument {
        try value.checkDate()
        guard case .string(let text) = value else { return [path: ["$eq": value]] }
        return Self.text("$eq", text, path, ignoring) { AccentFolding.equals($0) }
    }

    private static func text(
        _ name: String, _ text: String, _ path: String, _ ignoring: Search.Ignoring, _ pattern: (String) -> String
    ) -> BSONDocument {
        if ignoring.contains(.accents) {
            var regex: BSONDocument = ["$regex": .string(pattern(text))]
            if ignoring.contains(.case) { regex["$options"] = "i" }
            return [path: .document(regex)]
        }
        let condition: BSONDocument = [name: .string(text)]
        return [path: .document(ignoring.contains(.case) ? ["$icase": .document(condition)] : condition)]
    }

    private static func comparison(
        _ name: String, _ values: [BSONValue], _ path: String, _ ignoring: Search.Ignoring
    ) throws -> BSONDocument {
        for value in values {
            try value.checkDate()
            switch value {
            case .null, .undefined, .minKey, .maxKey, .regularExpression:
                throw TansuError(
                    .invalidArgument, "A comparison by order with \"\(value)\" finds nothing of its kind; give a value",
                    context: path)
            default: break
            }
        }
        let isText = values.allSatisfy(\.isText)
        guard !(isText && ignoring.contains(.accents)) else {
            throw TansuError(
                .invalidArgument, "A comparison by order cannot ignore accents; use .case, or none", context: path)
        }
        let condition: BSONDocument = [name: values.count == 1 ? values[0] : BSONValue(values)]
        return [path: .document(isText && ignoring.contains(.case) ? ["$icase": .document(condition)] : condition)]
    }
}

extension BSONValue {
    fileprivate var isText: Bool { stringValue != nil }

    /// Throws for what a date that is no number, or beyond all dates, becomes.
    fileprivate func checkDate() throws {
        switch self {
        case .date(.min), .date(.max):
            throw TansuError(.invalidArgument, "A date of a search is out of range; give one that can be stored")
        default: break
        }
    }
}

// MARK: - AccentFolding

/// Regular expressions that find text whatever marks its letters have.
///
/// Every letter of the text stands for itself and all letters that are it with marks, in one code point or followed by combining marks.
enum AccentFolding {
    static func equals(_ text: String) -> String { #"\A\p{Mn}*"# + pattern(text) + #"\z"# }
    static func begins(_ text: String) -> String { #"\A\p{Mn}*"# + pattern(text) }
    static func contains(_ text: String) -> String { pattern(text) }
    static func ends(_ text: String) -> String { pattern(text) + #"\z"# }

    /// The letters that are another with marks, by that.
    private static let composed: [Unicode.Scalar: [Unicode.Scalar]] = {
        var letters: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        // Where Unicode has letters that decompose into one and marks: before CJK, and the presentation forms of Hebrew.
        for number in [0xC0...0x30FF, 0xFB1D...0xFB4E].joined() {
            guard let scalar = Unicode.Scalar(UInt32(number)) else { continue }
            let parts = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars
            guard parts.count > 1, let base = parts.first, parts.dropFirst().allSatisfy(\.isMark) else { continue }
            letters[base, default: []].append(scalar)
        }
        return letters
    }()

    private static func pattern(_ text: String) -> String {
        var pattern = ""
        // Composed again, because Hangul is stored in syllables, which are no letters with marks.
        var base = String.UnicodeScalarView()
        base.append(contentsOf: text.decomposedStringWithCanonicalMapping.unicodeScalars.filter { !$0.isMark })
        for scalar in String(base).precomposedStringWithCanonicalMapping.unicodeScalars {
            pattern += "["
            for letter in [scalar] + (composed[scalar] ?? []) {
                pattern += #"\x{"# + String(letter.value, radix: 16) + "}"
            }
            pattern += #"]\p{Mn}*"#
        }
        return pattern
    }
}

extension Unicode.Scalar {
    /// Whether it is a mark on the letter before it.
    fileprivate var isMark: Bool { properties.generalCategory == .nonspacingMark }
}
