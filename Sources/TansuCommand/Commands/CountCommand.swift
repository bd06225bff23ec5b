import ArgumentParser
import TansuBSON

struct CountCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Counts the documents that a query matches.",
        discussion: """
            The exit code is 0 even when no document matches.

            EXAMPLE:
              tansu count people.tansu people '{"age": {"$gte": 18}}'
            """
    )

    @OptionGroup var target: CollectionArgument
    @OptionGroup var arguments: QueryArguments
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        let (query, hints) = try arguments.resolved()
        return try OpenDatabase.with(target, .read) { opened in
            let count = try opened.existingCollection(target.collection).count(query, hints: hints)
            try printResult(["count": BSONValue(count)], text: String(count), asJSON: output.json)
            return .success
        }
    }
}
