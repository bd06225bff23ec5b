import ArgumentParser
import TansuBSON

struct RemoveCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes the documents that a query matches, or one by its _id.",
        discussion: """
            Give either --id or a query. The query {} removes all documents. The exit code is 1 when no document \
            was removed.

            EXAMPLES:
              tansu remove people.tansu people --id mike
              tansu remove people.tansu people '{"age": {"$gt": 30}}'
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The query, a JSON object.") var query: String?
    @Argument(help: "Hints, a JSON object. $orderby, $skip and $max restrict the matches.")
    var hints: String = "{}"
    @Option(help: ArgumentHelp("The _id of the one document to remove.", valueName: "id"))
    var id: String?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if (id == nil) == (query == nil) {
            throw ValidationError("Expected either \"--id\" or a query")
        }
    }

    func execute() throws -> CommandExitCode {
        let query = try query.map { try JSONArguments.document($0, name: "query") }
        let hints = try JSONArguments.document(hints, name: "hints")
        return try OpenDatabase.with(target.database, .write) { opened in
            let collection = try opened.existingCollection(target.collection)
            let removed: Int
            if let query {
                removed = try collection.remove(query, hints: hints)
            } else {
                removed = try collection.remove(id: JSONArguments.id(id ?? "")) ? 1 : 0
            }
            try printResult(
                ["removed": BSONValue(removed)], text: "\(NumberFormat.count(removed, "document")) removed",
                asJSON: output.json)
            return removed == 0 ? .incomplete : .success
        }
    }
}
