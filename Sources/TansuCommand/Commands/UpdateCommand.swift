import ArgumentParser
import TansuBSON

struct UpdateCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Changes the documents that a query matches.",
        discussion: """
            All of it is one commit: one document that an operation does not fit, and nothing is changed. \
            The operations are a JSON object with operators such as $set, $inc and $push, or a whole \
            document for the one match. Exits with 1 when nothing matched and nothing was inserted.

            EXAMPLES:
              tansu update people.tansu people '{"name": "Ann"}' '{"$inc": {"age": 1}}'
              tansu update people.tansu people '{}' '{"$set": {"a": 1}}' --orderby -age
              tansu update people.tansu people '{"_id": 5}' '{"$set": {"n": 1}}' --upsert
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The query, a JSON object; {} matches every document.") var query: String
    @Argument(help: "What happens to each, a JSON object such as {\"$set\": {\"age\": 13}}.")
    var operations: String
    @Argument(help: "Hints, a JSON object such as {\"$arrayFilters\": [{\"big.n\": {\"$gt\": 5}}]}.")
    var hints: String = "{}"
    @OptionGroup var order: OrderOption
    @Option(help: ArgumentHelp("Change that many documents at most.", valueName: "n")) var max: Int?
    @Flag(help: "Insert a document when none matches.") var upsert = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let max, max < 0 { throw ValidationError("--max takes 0 or more, not \(max).") }
    }

    func execute() throws -> Outcome {
        let query = try JSONArguments.document(query, name: "query")
        let operations = try JSONArguments.document(operations, name: "operations")
        let hints = try resolvedHints()
        return try Store.with(target.database, .write) { store in
            let collection = try store.existingCollection(target.collection)
            let result = try collection.update(query, operations, hints: hints)
            try printAnswer(
                [
                    "matched": BSONValue(result.matched), "modified": BSONValue(result.modified),
                    "upserted": BSONValue(result.upserted), "removed": BSONValue(result.removed),
                ],
                text: UpdateText.line(result), asJSON: output.json)
            return result.matched == 0 && result.upserted.isEmpty ? .incomplete : .success
        }
    }

    private func resolvedHints() throws -> BSONDocument {
        var hints = try JSONArguments.document(hints, name: "hints")
        try order.add(to: &hints)
        try JSONArguments.add(max.map { BSONValue($0) }, "$max", "--max", to: &hints)
        try JSONArguments.add(upsert ? .bool(true) : nil, "$upsert", "--upsert", to: &hints)
        return hints
    }
}
