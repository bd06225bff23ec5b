import ArgumentParser
import Tansu
import TansuBSON

struct SearchCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Searches a collection's index of words, best results first.",
        discussion: """
            The words are a text as people type it: documents have one of the words, all "phrases in quotes", and nothing \
            after a minus; * at the end of a word stands for any ending. A JSON object is a search made of parts, such as \
            {"all": ["dark", {"fuzzy": "expresso"}]}.

            Of each result the score and the _id are printed, and below them what was found: the words in bold on a \
            terminal. The exit code is 1 when nothing is found; then similar words may be suggested. "tansu index create --text" makes the index.

            EXAMPLES:
              tansu search people.tansu people ann
              tansu search people.tansu people 'dog ann' --path name --limit 3
              tansu search people.tansu people 'cat do*' --where '{"age": {"$lt": 40}}'
              tansu search people.tansu people '{"fuzzy": "anne"}' --json
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The words, or a search as a JSON object.")
    var words: String
    @Option(help: ArgumentHelp("Search in this path of the index only; may be repeated.", valueName: "path"))
    var path: [String] = []
    @Option(
        name: [.customLong("where")],
        help: ArgumentHelp("Only documents that also match this query, a JSON object.", valueName: "query"))
    var condition: String?
    @Option(help: "The language of the words, if it is not that of the index.")
    var language: String?
    @OptionGroup var range: RangeOptions
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        let search = try search()
        let condition = try condition.map { try JSONArguments.document($0, name: "--where") } ?? [:]
        return try OpenDatabase.with(target, .read) { opened in
            let found = try opened.existingCollection(target.collection)
            var query = found.search(search).and(condition).limit(range.max ?? 10)
            if let skip = range.skip { query = query.skip(skip) }
            let results = try query.ranked().all()
            let highlighter = try SearchHighlighter(search, index: found.indexes().first { $0.text != nil })
            if output.json {
                let documents = results.map { highlighter.document($0) }
                var response: BSONDocument = ["results": BSONValue(documents.map { .document($0) })]
                if results.isEmpty, let text = suggestion(found) { response["suggestion"] = .string(text) }
                try printResult(response, text: "", asJSON: true)
            } else {
                let writer = OutputWriter()
                for result in results {
                    for line in highlighter.lines(result, on: .output) { try writer.writeLine(line) }
                }
                try writer.flush()
                if results.isEmpty, let text = suggestion(found) {
                    writeError("tansu: Nothing has these words; did you mean: \(TextTable.printable(text))")
                }
            }
            return results.isEmpty ? .incomplete : .success
        }
    }

    /// What may have been meant, when nothing was found by words of a text.
    private func suggestion(_ collection: Database.Collection<BSONDocument>) -> String? {
        guard !isObject, let found = try? collection.suggestions(for: words), found.hasSuggestions else { return nil }
        return found.text
    }

    private var isObject: Bool { words.first { !$0.isWhitespace } == "{" }

    private func search() throws -> TextSearch {
        var search = TextSearch(words)
        if isObject { search = TextSearch(operand: try JSONArguments.document(words, name: "words")) }
        if let language { search = search.language(language) }
        return path.isEmpty ? search : search.in(path)
    }
}

// MARK: - SearchHighlighter

/// Shows what a search has found in the texts of its results.
struct SearchHighlighter {
    private let found: FoundTexts

    /// - Parameter index: The index of words.
    init(_ search: TextSearch, index: Database.IndexInfo?) { found = FoundTexts(search, index: index) }

    /// A result as lines: its score and `_id`, and the best part of each text that has something of the search.
    func lines(_ result: Database.Ranked<BSONDocument>, on terminal: Terminal) -> [String] {
        let id: BSONDocument = ["_id": result.value["_id"] ?? .null]
        let score = String(Int((result.score * 1000).rounded()))
        let padded = String(repeating: "0", count: max(0, 4 - score.count)) + score
        let head = "\(padded.dropLast(3)).\(padded.suffix(3))  \(id.json())"
        return [head]
            + found.places(in: result.value).map { place in
                let text = place.snippet.parts(of: place.text).map { part in
                    let shown = TextTable.printable(String(part.text))
                    return part.isFound ? terminal.bold(shown) : shown
                }
                let before = place.text[..<place.snippet.range.lowerBound].hasWords ? "… " : ""
                let after = place.text[place.snippet.range.upperBound...].hasWords ? " …" : ""
                return "  \(TextTable.printable(place.path)): \(before)\(text.joined())\(after)"
            }
    }

    /// A result as an object of JSON.
    func document(_ result: Database.Ranked<BSONDocument>) -> BSONDocument {
        let highlights = found.places(in: result.value).map { place -> BSONValue in
            let text = place.text[place.snippet.range]
            let ranges = place.snippet.highlights.map { range -> BSONValue in
                let start = text.utf8.distance(from: text.startIndex, to: range.lowerBound)
                let end = text.utf8.distance(from: text.startIndex, to: range.upperBound)
                return [BSONValue(start), BSONValue(end)]
            }
            return ["path": .string(place.path), "snippet": .string(String(text)), "ranges": BSONValue(ranges)]
        }
        return [
            "score": .double(result.score), "document": .document(result.value), "highlights": BSONValue(highlights),
        ]
    }
}

extension Substring {
    /// Whether it is more than signs and spaces.
    fileprivate var hasWords: Bool { contains { $0.isLetter || $0.isNumber } }
}
