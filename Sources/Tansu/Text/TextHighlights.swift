import TansuBSON

/// Where a text has what a search looks for.
public struct TextHighlights: Sendable, Hashable {
    /// A part of a text that is worth showing.
    public struct Snippet: Sendable, Hashable {
        /// The part, which begins and ends with whole words.
        public let range: Range<String.Index>

        /// The places in it that the search finds.
        public let highlights: [Range<String.Index>]

        /// The part, divided into what the search finds and what stands between: for a text on a screen.
        ///
        /// - Parameter text: The text of which it is a part.
        public func parts(of text: String) -> [(text: Substring, isFound: Bool)] {
            var parts: [(text: Substring, isFound: Bool)] = []
            var position = range.lowerBound
            for place in highlights {
                if position < place.lowerBound { parts.append((text[position..<place.lowerBound], false)) }
                parts.append((text[place], true))
                position = place.upperBound
            }
            if position < range.upperBound { parts.append((text[position..<range.upperBound], false)) }
            return parts
        }
    }

    /// All places that the search finds, in their order. They do not overlap.
    public let ranges: [Range<String.Index>]

    /// The parts that have most of the search, in the order of the text. They do not overlap.
    public let snippets: [Snippet]
}

extension Database {
    /// Where a text has what a search looks for, to show why a document was found.
    ///
    /// ```swift
    /// let text = "A dark roast, and a darker one"
    /// let found = try Database.highlights(of: text, for: "dark \"darker one\"")
    /// print(found.ranges.map { text[$0] })  // ["dark", "darker one"]
    /// ```
    ///
    /// - Parameters:
    ///   - text: Any text: no index has to have it.
    ///   - search: The search.
    ///   - language: The language of the text, which should be that of the index; that of the search, or none, when `nil`.
    ///   - path: The dotted path at which documents have the text: what the search looks for in other paths is left out.
    ///   - snippets: How many parts of the text are wanted at most, 0 to 100.
    ///   - snippetWords: How many words each of them has at most, 1 to 1000.
    /// - Throws: ``TansuError`` with the code `.invalidQuery` for an invalid search or an unknown language, `.unsupported` for
    ///   a language in an engine without libstemmer, `.tooLarge` for a text of more than 16 MiB.
    public static func highlights(
        of text: String, for search: TextSearch, language: String? = nil, path: String? = nil, snippets: Int = 0,
        snippetWords: Int = 20
    ) throws -> TextHighlights {
        var options: BSONDocument = ["snippets": BSONValue(snippets), "snippetWords": BSONValue(snippetWords)]
        if let language { options["language"] = .string(language) }
        if let path { options["path"] = .string(path) }
        let answer = try EngineText.highlight(text, search: search.operand(), options: options)
        var places = TextPlaces(text)
        let ranges = answer.documentList("ranges").map { places.range($0) }
        places = TextPlaces(text)
        let parts = answer.documentList("snippets").map { part in
            TextHighlights.Snippet(
                range: places.range(part), highlights: part.documentList("ranges").map { places.range($0) })
        }
        return TextHighlights(ranges: ranges, snippets: parts)
    }
}

/// The indices of a text for numbers of its bytes. It goes on from the last one: a text need not be stored as UTF-8.
struct TextPlaces {
    private let utf8: String.UTF8View
    private var last: (offset: Int, index: String.Index)

    init(_ text: String) {
        utf8 = text.utf8
        last = (0, text.startIndex)
    }

    /// The range between the bytes "start" and "end" of the engine's answer.
    mutating func range(_ place: BSONDocument) -> Range<String.Index> {
        let start = place["start"]?.intValue ?? 0
        let end = place["end"]?.intValue ?? start
        last = (start, utf8.index(last.index, offsetBy: start - last.offset))
        return last.index..<utf8.index(last.index, offsetBy: end - start)
    }
}

extension BSONDocument {
    /// The documents of an array.
    package func documentList(_ name: String) -> [BSONDocument] {
        self[name]?.arrayValue?.compactMap(\.documentValue) ?? []
    }
}
