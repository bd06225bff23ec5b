import ArgumentParser
import TansuBSON

struct CountCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Counts the documents that a query matches.",
        discussion: """
            Exits with 0 also when there are none: 0 is an answer.

            EXAMPLE:
              tansu count people.tansu people '{"age": {"$gte": 18}}'
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The query, a JSON object; {} or none matches every document.")
    var query: String = "{}"
    @Argument(help: "Hints, a JSON object: $skip and $max apply.")
    var hints: String = "{}"
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        let query = try JSONArguments.document(query, name: "query")
        let hints = try JSONArguments.document(hints, name: "hints")
        return try Store.with(target.database, .read) { store in
            let count = try store.existingCollection(target.collection).count(query, hints: hints)
            try printAnswer(["count": BSONValue(count)], text: String(count), asJSON: output.json)
            return .success
        }
    }
}
