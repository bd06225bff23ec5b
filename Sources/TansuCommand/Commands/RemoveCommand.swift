import ArgumentParser
import TansuBSON

struct RemoveCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes the document with an _id, or all that a query matches.",
        discussion: """
            Either --id or a query must be given; the query {} removes every document. Exits with 1 when \
            there was nothing to remove.

            EXAMPLES:
              tansu remove people.tansu people --id mike
              tansu remove people.tansu people '{"age": {"$gt": 30}}'
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The query, a JSON object.") var query: String?
    @Argument(help: "Hints, a JSON object: with $orderby, $skip and $max not all matches go.")
    var hints: String = "{}"
    @Option(help: ArgumentHelp("The _id of the one document to remove.", valueName: "id"))
    var id: String?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if (id == nil) == (query == nil) {
            throw ValidationError("Say what to remove: either --id ID or a query.")
        }
    }

    func execute() throws -> Outcome {
        let query = try query.map { try JSONArguments.document($0, name: "query") }
        let hints = try JSONArguments.document(hints, name: "hints")
        return try Store.with(target.database, .write) { store in
            let collection = try store.existingCollection(target.collection)
            let removed: Int
            if let query {
                removed = try collection.remove(query, hints: hints)
            } else {
                removed = try collection.remove(id: JSONArguments.id(id ?? "")) ? 1 : 0
            }
            try printAnswer(
                ["removed": BSONValue(removed)], text: "\(Numbers.count(removed, "document")) removed",
                asJSON: output.json)
            return removed == 0 ? .incomplete : .success
        }
    }
}
