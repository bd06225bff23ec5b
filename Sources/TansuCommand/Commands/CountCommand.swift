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
    @OptionGroup var arguments: QueryArguments
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        let (query, hints) = try arguments.resolved()
        return try Store.with(target.database, .read) { store in
            let count = try store.existingCollection(target.collection).count(query, hints: hints)
            try printAnswer(["count": BSONValue(count)], text: String(count), asJSON: output.json)
            return .success
        }
    }
}
