import ArgumentParser
import TansuBSON

struct DistinctCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "distinct",
        abstract: "Prints the different values that a path has.",
        discussion: """
            One value a line (relaxed extended JSON), the least first; of arrays their elements. --skip \
            and --max are about values. Exits with 1 when there is none.

            EXAMPLES:
              tansu distinct people.tansu people pets.species
              tansu distinct people.tansu people name '{"age": {"$gt": 30}}' --max 5
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The path, with dots between its fields.") var path: String
    @OptionGroup var arguments: QueryArguments
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        let (query, hints) = try arguments.resolved()
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
