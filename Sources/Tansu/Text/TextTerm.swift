import TansuBSON

/// A term of a text: what the text can be found by.
public struct TextTerm: Sendable, Hashable {
    /// The word, folded and reduced to its stem.
    public let term: String

    /// Which word of the text it is, counted from 0. A word with signs in it, such as "foo_bar", is a term as a whole, which
    /// has the position of its first part, and each part is one.
    public let position: Int

    /// Where the word is in the text.
    public let range: Range<String.Index>

    /// What terms are for.
    public enum Purpose: String, Sendable, Hashable, CaseIterable {
        /// All by which the text can be found.
        case index
        /// Those that a text must have to be found by this one: whole words, and pairs of Chinese, Japanese, Korean or
        /// Thai characters without the characters.
        case search
    }
}

extension Database {
    /// The terms of a text, in the order of their positions.
    ///
    /// ```swift
    /// let terms = try Database.terms(of: "The foxes’ café", language: "en")
    /// print(terms.map(\.term))  // ["the", "fox", "cafe"]
    /// ```
    ///
    /// - Parameters:
    ///   - text: Any text, in any script.
    ///   - language: The language whose stems the terms are: a code of ISO 639 ("en") or a name of Snowball ("english");
    ///     "none" leaves words as they are.
    ///   - purpose: What the terms are for.
    /// - Throws: ``TansuError`` with the code `.invalidQuery` for an unknown language, `.unsupported` for a language in an
    ///   engine without libstemmer, `.tooLarge` for a text of more than 16 MiB.
    public static func terms(
        of text: String, language: String = "none", purpose: TextTerm.Purpose = .index
    ) throws -> [TextTerm] {
        let answer = try EngineText.analyze(
            text, options: ["language": .string(language), "purpose": .string(purpose.rawValue)])
        var places = TextPlaces(text)
        return answer.documentList("terms").map { term in
            TextTerm(
                term: term["term"]?.stringValue ?? "", position: term["position"]?.intValue ?? 0,
                range: places.range(term))
        }
    }
}
