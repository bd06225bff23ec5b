import TansuBSON

/// What a text that is being typed may become.
public struct TextCompletion: Sendable, Hashable {
    /// The text with the whole word in place of its beginning.
    public let text: String

    /// The word, as a document has it.
    public let word: String

    /// How many documents have it.
    public let documents: Int
}

/// What a text may have been meant to be: "did you mean".
public struct TextSuggestions: Sendable, Hashable {
    /// A word that the index has not, and those that it has instead.
    public struct Word: Sendable, Hashable {
        /// Where the word is in the text.
        public let range: Range<String.Index>

        /// Similar words, the best first; none where nothing is similar.
        public let suggestions: [Suggestion]
    }

    /// A word of the index.
    public struct Suggestion: Sendable, Hashable {
        /// The word.
        public let text: String

        /// How many documents have it.
        public let documents: Int

        /// In how many characters it differs.
        public let distance: Int
    }

    /// The text with the best suggestion in place of each word; the text itself when there is none.
    public let text: String

    /// The words that the index has not.
    public let words: [Word]

    /// Whether there is a suggestion for one of the words.
    public var hasSuggestions: Bool { words.contains { !$0.suggestions.isEmpty } }
}

extension Database.Collection {
    /// The words of the collection's index of words that the last word of a text may become, most frequent first.
    ///
    /// ```swift
    /// let endings = try articles.completions(of: "dark ro", limit: 5)
    /// print(endings.map(\.text))  // ["dark roast", "dark roasted"]
    /// ```
    ///
    /// There are none when the text ends with something else than a word.
    ///
    /// - Parameters:
    ///   - text: What is being typed.
    ///   - limit: How many words at most, 1 to 50.
    /// - Throws: ``TansuError`` with `.invalidQuery`: the collection has no index of words, or the limit is out of range.
    public func completions(of text: String, limit: Int = 10) throws -> [TextCompletion] {
        let answer = try session.engine.completions(of: text, limit: limit, in: name)
        let start = answer["start"]?.intValue ?? text.utf8.count
        let before = text[..<text.utf8.index(text.startIndex, offsetBy: start)]
        return answer.documentList("completions").map { completion in
            let word = completion["text"]?.stringValue ?? ""
            return TextCompletion(
                text: before + word, word: word, documents: completion["documents"]?.intValue ?? 0)
        }
    }

    /// The words that the last word of a text may become, most frequent first.
    ///
    /// - Parameters:
    ///   - text: What is being typed.
    ///   - limit: How many words at most, 1 to 50.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func completions(of text: String, limit: Int = 10) async throws -> [TextCompletion] {
        try await session.runCancellable(.read) { try self.using($0).completions(of: text, limit: limit) }
    }

    /// Words of the collection's index of words in place of those of a text that it has not, such as misspelt ones.
    ///
    /// ```swift
    /// print(try articles.suggestions(for: "drak roast").text)  // dark roast
    /// ```
    ///
    /// - Parameters:
    ///   - text: What was searched for.
    ///   - limit: How many suggestions for a word at most, 1 to 50.
    /// - Throws: ``TansuError`` with `.invalidQuery`: the collection has no index of words, or the limit is out of range.
    public func suggestions(for text: String, limit: Int = 10) throws -> TextSuggestions {
        let answer = try session.engine.suggestions(for: text, limit: limit, in: name)
        var places = TextPlaces(text)
        return TextSuggestions(
            text: answer["text"]?.stringValue ?? text,
            words: answer.documentList("words").map { word in
                TextSuggestions.Word(
                    range: places.range(word),
                    suggestions: word.documentList("suggestions").map {
                        TextSuggestions.Suggestion(
                            text: $0["text"]?.stringValue ?? "", documents: $0["documents"]?.intValue ?? 0,
                            distance: $0["distance"]?.intValue ?? 0)
                    })
            })
    }

    /// Words in place of those of a text that the index of words has not, such as misspelt ones.
    ///
    /// - Parameters:
    ///   - text: What was searched for.
    ///   - limit: How many suggestions for a word at most, 1 to 50.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func suggestions(for text: String, limit: Int = 10) async throws -> TextSuggestions {
        try await session.runCancellable(.read) { try self.using($0).suggestions(for: text, limit: limit) }
    }
}
