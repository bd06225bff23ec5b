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
