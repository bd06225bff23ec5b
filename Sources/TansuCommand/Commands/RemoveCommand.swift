import ArgumentParser
import TansuBSON

struct RemoveCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes the documents that a query matches, or one by its _id.",
        discussion: """
            Give either --id or a query. The query {} removes all documents; the command asks first on a terminal, \
            unless --yes is given. The exit code is 1 when no document was removed.

            EXAMPLES:
              tansu remove people.tansu people --id mike
              tansu remove people.tansu people '{"age": {"$gt": 30}}'
              tansu remove people.tansu people '{}' --sort -age --limit 1
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The query, a JSON object.") var query: String?
    @Argument(help: "Hints, a JSON object. $orderby, $skip and $max restrict the matches.")
    var hints: String = "{}"
    @Option(
        parsing: .unconditional, help: ArgumentHelp("The _id of the one document to remove.", valueName: "id"))
    var id: String?
    @OptionGroup var order: OrderOption
    @OptionGroup var range: RangeOptions
    @OptionGroup var confirmation: ConfirmationOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if (id == nil) == (query == nil) {
            throw ValidationError("Expected either \"--id\" or a query")
        }
        if id != nil, order.orderby != nil || range.skip != nil || range.max != nil {
            throw ValidationError("\"--id\" names one document; an order or a limit needs a query")
        }
    }

    func execute() throws -> CommandExitCode {
        let query = try query.map { try JSONArguments.document($0, name: "query") }
        var hints = try JSONArguments.document(hints, name: "hints")
        try order.add(to: &hints)
        try range.add(to: &hints)
        return try OpenDatabase.with(target, .write) { opened in
            let collection = try opened.existingCollection(target.collection)
            let removed: Int
            if let query {
                // A hint of 0 is no limit.
                let limit = (hints["$max"] ?? hints["$limit"])?.int64Value ?? 0
                if query.isEmpty, limit == 0 {
                    let count = NumberFormat.count(try collection.count(), "document")
                    try Confirmation.ask(
                        "Remove all of \"\(target.collection)\", \(count)?", yes: confirmation.yes)
                }
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
