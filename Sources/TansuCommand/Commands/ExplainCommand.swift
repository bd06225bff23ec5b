import ArgumentParser
import TansuBSON

struct ExplainCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Runs a query and prints its plan.",
        discussion: """
            The command prints the access path (an index scan with its bounds, or a collection scan), the numbers \
            of examined index keys and documents, the number of results, the time and the other candidate plans.

            EXAMPLE:
              tansu explain people.tansu people '{"name": {"$begin": "M"}}' --orderby name
            """
    )

    @OptionGroup var target: CollectionArgument
    @OptionGroup var options: QueryOptions
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        let (query, hints) = try options.resolved()
        return try OpenDatabase.with(target, .read) { opened in
            let plan = try opened.existingCollection(target.collection)
                .find(query, hints: hints).explain().document
            if output.json {
                try printResult(["plan": .document(plan)], text: "", asJSON: true)
            } else {
                let text = PlanFormatter(plan, terminal: .output) { keys in
                    OpenDatabase.indexCommand(
                        target.database, target.collection, keys: keys, key: target.opening.key)
                }
                try printLine(text.lines().joined(separator: "\n"))
            }
            return .success
        }
    }
}
