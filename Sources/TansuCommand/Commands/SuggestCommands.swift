import ArgumentParser
import Tansu
import TansuBSON

struct CompleteCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "complete",
        abstract: "Prints the words that the last word of a text may become.",
        discussion: """
            The words are those of the collection's index of words. Each line has the text with a word and the number of \
            documents that have the word; the most frequent words come first. The exit code is 1 when there is none.

            EXAMPLES:
              tansu complete people.tansu people 'cat do'
              tansu complete people.tansu people an --limit 3 --json
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The text, as far as it was typed.")
    var text: String
    @OptionGroup var limit: SuggestionLimit
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        try OpenDatabase.with(target, .read) { opened in
            let words = try opened.existingCollection(target.collection).completions(of: text, limit: limit.limit)
            if output.json {
                let documents = words.map { completion -> BSONValue in
                    [
                        "text": .string(completion.text), "word": .string(completion.word),
                        "documents": BSONValue(completion.documents),
                    ]
                }
                try printResult(["completions": BSONValue(documents)], text: "", asJSON: true)
            } else {
                for word in words { try printLine("\(TextTable.printable(word.text))\t\(word.documents)") }
            }
            return words.isEmpty ? .incomplete : .success
        }
    }
}

struct SuggestCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "suggest",
        abstract: "Prints what a text with misspelt words may have meant.",
        discussion: """
            Words that no document has are replaced by similar ones of the collection's index of words. With --json all \
            suggestions for each word are printed. The exit code is 1 when there is none.

            EXAMPLE:
              tansu suggest people.tansu people 'cta and dog'
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The text.")
    var text: String
    @OptionGroup var limit: SuggestionLimit
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        try OpenDatabase.with(target, .read) { opened in
            let found = try opened.existingCollection(target.collection).suggestions(for: text, limit: limit.limit)
            if output.json {
                let words = found.words.map { word in document(word) }
                try printResult(["text": .string(found.text), "words": BSONValue(words)], text: "", asJSON: true)
            } else if found.hasSuggestions {
                try printLine(TextTable.printable(found.text))
            }
            return found.hasSuggestions ? .success : .incomplete
        }
    }

    private func document(_ word: TextSuggestions.Word) -> BSONValue {
        let suggestions = word.suggestions.map { suggestion -> BSONValue in
            [
                "text": .string(suggestion.text), "documents": BSONValue(suggestion.documents),
                "distance": BSONValue(suggestion.distance),
            ]
        }
        return ["word": .string(String(text[word.range])), "suggestions": BSONValue(suggestions)]
    }
}

/// The option for the number of suggestions.
struct SuggestionLimit: ParsableArguments {
    @Option(help: ArgumentHelp("At most so many words, 1 to 50 (default: 10).", valueName: "n"))
    var limit = 10

    func validate() throws {
        guard (1...50).contains(limit) else {
            throw ValidationError("\"--limit\" must be between 1 and 50, not \(limit)")
        }
    }
}
