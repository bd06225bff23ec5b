import TansuBSON

/// What an index of words is searched for: the operand of `$text`.
///
/// A text is a search as people type it: words, `"phrases"`, `prefixes*` and `-exclusions`. Other searches are made by the
/// functions of this type, and combined by `&&`, `||` and `!`:
///
/// ```swift
/// articles.search("dark \"french roast\" -decaf")
/// articles.search(.phrase("french roast") && .fuzzy("expresso") && !.word("decaf"))
/// articles.search(.prefix("roas").in(\Article.title).boosted(by: 2) || "coffee")
/// ```
///
/// `docs/text-search.md` has what each of them finds.
public struct TextSearch: Sendable {
    /// A search, which may be an element of another one.
    private enum Content: Sendable, Hashable {
        /// Words as people type them.
        case text(String)
        case document(BSONDocument)
    }

    private var content: Content
    /// What is said of the whole search: its language and the like.
    private var options: BSONDocument = [:]
    /// Why it cannot be used, such as a key path without a stored name.
    private var fault: TansuError?

    /// The search for a text as people type it: documents with one of its words, all of its `"phrases"`, and none of the
    /// words after a minus. `*` at the end of a word stands for any ending.
    ///
    /// As a part of another search, a text is a list of words and phrases, all of which are parts themselves: `"dark roast" && …`
    /// wants both words. A minus excludes in whole searches only.
    ///
    /// - Parameter text: The text.
    public init(_ text: String) {
        content = .text(text)
    }

    /// A search as a document, such as one of JSON.
    ///
    /// - Parameter operand: The operand of `$text`, in either of its forms.
    public init(operand: BSONDocument) {
        content = .document(operand)
    }

    private init(_ document: BSONDocument, like parts: [TextSearch] = []) {
        content = .document(document)
        for part in parts { options.merge(part.options) }
        fault = parts.lazy.compactMap(\.fault).first
    }

    /// The operand of `$text`.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`: the stored name of a property is not known.
    func operand() throws -> BSONDocument {
        if let fault { throw fault }
        var operand: BSONDocument
        switch content {
        case .text(let text): operand = ["$search": .string(text)]
        case .document(let document): operand = document
        }
        let isTyped = operand["$search"] != nil
        for (name, value) in options {
            operand[isTyped ? Self.typedNames[name] ?? name : name] = value
        }
        return operand
    }

    /// The options of the search for a text that have other names.
    private static let typedNames = [
        "language": "$language", "caseSensitive": "$caseSensitive", "diacriticSensitive": "$diacriticSensitive",
    ]
}

extension TextSearch: ExpressibleByStringInterpolation {
    /// The search for a text as people type it.
    public init(stringLiteral text: String) {
        self.init(text)
    }
}

extension TextSearch: Hashable {}

extension BSONDocument {
    fileprivate mutating func merge(_ other: BSONDocument) {
        for (key, value) in other { self[key] = value }
    }
}

// MARK: - Words

extension TextSearch {
    /// A word. If it has signs that divide it, as `state-of-the-art`, its parts next to one another.
    public static func word(_ word: String) -> Self { Self(["word": .string(word)]) }

    /// Words next to one another.
    public static func phrase(_ words: String) -> Self { Self(["phrase": .string(words)]) }

    /// Words that begin so. Of several words the last is the beginning, and all must be there: `new yor`.
    public static func prefix(_ beginning: String) -> Self { Self(["prefix": .string(beginning)]) }

    /// Words that differ in a few characters: inserted, left out, replaced, or two neighbours swapped.
    ///
    /// - Parameters:
    ///   - word: The word.
    ///   - distance: In how many characters at most, 1 or 2.
    ///   - same: How many characters at the beginning are as they are, 0 to 8.
    public static func fuzzy(_ word: String, distance: Int = 1, same: Int = 0) -> Self {
        Self(["fuzzy": .string(word), "distance": BSONValue(distance), "same": BSONValue(same)])
    }

    /// Words near one another.
    ///
    /// - Parameters:
    ///   - words: The words.
    ///   - distance: How many words away from the first one the others are at most, 1 to 1000.
    ///   - ordered: Whether they are one after the other.
    public static func near(_ words: [String], within distance: Int = 10, ordered: Bool = false) -> Self {
        Self([
            "near": BSONValue(words.map { .string($0) }), "within": BSONValue(distance), "ordered": .bool(ordered),
        ])
    }
}

// MARK: - Combining

extension TextSearch {
    /// What all of some searches find.
    public static func all(_ searches: [TextSearch]) -> Self {
        Self(["all": BSONValue(searches.map(\.element))], like: searches)
    }

    /// What at least one of some searches finds.
    public static func any(_ searches: [TextSearch]) -> Self {
        Self(["any": BSONValue(searches.map(\.element))], like: searches)
    }

    /// What both find.
    public static func && (a: Self, b: Self) -> Self {
        let (first, second) = (a.lists, b.lists)
        var document: BSONDocument = [:]
        for (name, list) in [("all", first.all + second.all), ("not", first.not + second.not)] where !list.isEmpty {
            document[name] = BSONValue(list)
        }
        return Self(document, like: [a, b])
    }

    /// What one of the two finds, or both.
    public static func || (a: Self, b: Self) -> Self {
        Self(["any": BSONValue(a.alternatives + b.alternatives)], like: [a, b])
    }

    /// What is excluded from another search: `.word("roast") && !.word("dark")`. Alone it finds nothing, and is an error.
    public static prefix func ! (search: Self) -> Self {
        Self(["not": BSONValue(search.alternatives)], like: [search])
    }

    /// The search as an element of a list.
    private var element: BSONValue {
        switch content {
        case .text(let text): .string(text)
        case .document(let document): .document(document)
        }
    }

    /// The elements of which it finds what has all, and those that it excludes.
    private var lists: (all: [BSONValue], not: [BSONValue]) {
        guard case .document(let document) = content, document.keys.allSatisfy({ ["all", "not"].contains($0) }) else {
            return ([element], [])
        }
        return (document.list("all"), document.list("not"))
    }

    /// The elements of which it finds what has one.
    private var alternatives: [BSONValue] {
        guard case .document(let document) = content, document.count == 1, document["any"] != nil else {
            return [element]
        }
        return document.list("any")
    }

    /// The search that finds what all of several operands do; `nil` when one is a text as people type it, which is no
    /// element of a list.
    static func joined(_ operands: [BSONDocument], by list: String) -> BSONDocument? {
        guard !operands.contains(where: { $0["$search"] != nil }) else { return nil }
        var common: BSONDocument = [:]
        let elements = operands.map { operand in
            var element = operand
            for name in commonNames {
                if let value = element.removeValue(forKey: name) { common[name] = value }
            }
            return BSONValue.document(element)
        }
        var joined: BSONDocument = [list: BSONValue(elements)]
        joined.merge(common)
        return joined
    }

    /// What only a whole search has.
    private static let commonNames = ["language", "caseSensitive", "diacriticSensitive", "k1", "b"]
}

extension BSONDocument {
    fileprivate func list(_ name: String) -> [BSONValue] { self[name]?.arrayValue.map(Array.init) ?? [] }
}

// MARK: - Places and weights

extension TextSearch {
    /// The same search in some paths of the index only. Parts that name paths of their own keep them.
    ///
    /// - Parameter paths: The dotted paths.
    public func `in`(_ paths: String...) -> Self { restricted(to: paths) }

    /// The same search in some paths of the index only. Parts that name paths of their own keep them.
    ///
    /// - Parameter paths: The dotted paths.
    public func `in`(_ paths: [String]) -> Self { restricted(to: paths) }

    /// The same search in some properties only: `.word("roast").in(\Article.title)`. Parts that name paths of their own keep
    /// them.
    ///
    /// - Parameter keyPaths: The properties, which the index has.
    public func `in`<Root>(_ keyPaths: PartialKeyPath<Root>...) -> Self {
        do { return restricted(to: try keyPaths.map { try $0.storedPath() }) } catch {
            var search = self
            search.fault = fault ?? error as? TansuError ?? TansuError(.invalidQuery, failureReason(of: error))
            return search
        }
    }

    func restricted(to paths: [String]) -> Self {
        adding("path", paths.count == 1 ? .string(paths[0]) : BSONValue(paths.map { .string($0) }))
    }

    /// The same search with a score that is multiplied by a factor.
    ///
    /// - Parameter factor: A positive number up to 1,000,000.
    public func boosted(by factor: Double) -> Self { adding("boost", .double(factor)) }

    /// The search as a document with one more member. What has it already becomes an element of a document of its own.
    private func adding(_ name: String, _ value: BSONValue) -> Self {
        var document: BSONDocument
        switch content {
        case .text(let text): document = ["any": [.string(text)]]
        case .document(let present): document = present
        }
        if document[name] != nil { document = ["all": [.document(document)]] }
        document[name] = value
        var search = self
        search.content = .document(document)
        return search
    }
}

extension PartialKeyPath {
    /// The dotted path at which the property is stored in the documents of its root.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`: it is not known (see ``StoredFieldNaming``).
    func storedPath() throws -> String {
        func keys<Value>(_ type: Value.Type) throws -> [String] {
            guard let keyPath = self as? KeyPath<Root, Value> else { throw NamingFailure.unreadable }
            return try StoredFieldNames.shared.keys(of: keyPath, isTop: true)
        }
        do {
            return try FieldPath(keys: try _openExistential(Swift.type(of: self).valueType, do: keys)).dotted()
        } catch let failure as NamingFailure {
            throw failure.error(self, isTop: true)
        }
    }
}

// MARK: - The whole search

extension TextSearch {
    /// The same search with words of another language than that of the index.
    ///
    /// - Parameter language: A code of ISO 639 ("en") or a name of Snowball ("english"); "none" leaves words as they are.
    public func language(_ language: String) -> Self { with("language", .string(language)) }

    /// The same search, which takes account of letter case.
    public func caseSensitive(_ isSensitive: Bool = true) -> Self { with("caseSensitive", .bool(isSensitive)) }

    /// The same search, which takes account of accents.
    public func diacriticSensitive(_ isSensitive: Bool = true) -> Self {
        with("diacriticSensitive", .bool(isSensitive))
    }

    /// The same search with other parameters of its score, BM25F.
    ///
    /// - Parameters:
    ///   - k1: How much further occurrences of a word add, 0 (nothing) to 1000.
    ///   - b: How much the length of a document matters, 0 (not at all) to 1.
    public func scored(k1: Double = 1.2, b: Double = 0.75) -> Self { with("k1", .double(k1)).with("b", .double(b)) }

    private func with(_ name: String, _ value: BSONValue) -> Self {
        var search = self
        search.options[name] = value
        return search
    }
}
