import ArgumentParser
import TansuBSON

struct DistinctCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "distinct",
        abstract: "Prints the different values that a path has.",
        discussion: """
            One value a line (relaxed extended JSON), the least first; of arrays their elements. Exits \
            with 1 when there is none.

            EXAMPLES:
              tansu distinct people.tansu people pets.species
              tansu distinct people.tansu people name '{"age": {"$gt": 30}}' '{"$max": 5}'
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The path, with dots between its fields.") var path: String
    @Argument(help: "The query, a JSON object; {} or none matches every document.")
    var query: String = "{}"
    @Argument(help: "Hints, a JSON object: $skip and $max apply to the values.")
    var hints: String = "{}"
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        let query = try JSONArguments.document(query, name: "query")
        let hints = try JSONArguments.document(hints, name: "hints")
        return try Store.with(target.database, .read) { store in
            let values = try store.existingCollection(target.collection)
                .distinct(path, query, hints: hints)
            if output.json {
                try printAnswer(["values": BSONValue(values)], text: "", asJSON: true)
            } else {
                let writer = OutputWriter()
                for value in values { try writer.writeLine(value.description) }
                try writer.flush()
            }
            return values.isEmpty ? .incomplete : .success
        }
    }
}
