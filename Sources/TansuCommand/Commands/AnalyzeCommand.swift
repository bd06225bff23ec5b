import ArgumentParser
import Tansu
import TansuBSON

struct AnalyzeCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "analyze",
        abstract: "Prints the terms by which a text can be found.",
        discussion: """
            Each line has the position of a word, counted from 0, its bytes in the text and its term: the word without \
            accents and letter case and, with --language, its stem. Words with signs in them, such as foo_bar, are terms \
            as a whole and by their parts. Chinese, Japanese, Korean and Thai give characters and pairs of them.

            The exit code is 1 when there is no term.

            EXAMPLES:
              tansu analyze "Café foo_bar"
              tansu analyze --language en "running foxes"
              tansu analyze --search "東京都"
            """
    )

    @Argument(help: "The text.")
    var text: String
    @Option(help: "The language whose stems the terms are: a code such as en, a name such as english, or none.")
    var language = "none"
    @Flag(help: "Print the terms that a text must have to be found by this one.")
    var search = false
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        let terms = try Database.terms(of: text, language: language, purpose: search ? .search : .index)
        let utf8 = text.utf8
        func offset(_ index: String.Index) -> Int { utf8.distance(from: utf8.startIndex, to: index) }
        if output.json {
            let documents = terms.map { term -> BSONValue in
                [
                    "term": .string(term.term), "position": BSONValue(term.position),
                    "start": BSONValue(offset(term.range.lowerBound)), "end": BSONValue(offset(term.range.upperBound)),
                ]
            }
            try printResult(["terms": BSONValue(documents)], text: "", asJSON: true)
        } else {
            for term in terms {
                let bytes = "\(offset(term.range.lowerBound))-\(offset(term.range.upperBound))"
                try printLine("\(term.position)\t\(bytes)\t\(term.term)")
            }
        }
        return terms.isEmpty ? .incomplete : .success
    }
}
