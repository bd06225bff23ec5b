import ArgumentParser
import TansuBSON

struct ExplainCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Runs a query and tells how it was answered.",
        discussion: """
            Which index served it and over which bounds, how many keys and documents were looked at, how \
            many were returned, and how long it took.

            EXAMPLE:
              tansu explain people.tansu people '{"name": {"$begin": "M"}}' --orderby name
            """
    )

    @OptionGroup var target: CollectionArgument
    @OptionGroup var options: QueryOptions
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        let (query, hints) = try options.resolved()
        return try Store.with(target.database, .read) { store in
            let plan = try store.existingCollection(target.collection)
                .find(query, hints: hints).explain().document
            if output.json {
                try printAnswer(["plan": .document(plan)], text: "", asJSON: true)
            } else {
                let text = PlanText(plan, terminal: .output) { keys in
                    Store.indexCommand(target.database, target.collection, keys: keys)
                }
                try printLine(text.lines().joined(separator: "\n"))
            }
            return .success
        }
    }
}
