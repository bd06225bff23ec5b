import ArgumentParser
import TansuBSON

struct DistinctCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "distinct",
        abstract: "Prints the distinct values of a path.",
        discussion: """
            The command prints one value per line (relaxed extended JSON) in ascending order. Each element of an \
            array is a value. --skip and --max apply to the values. The exit code is 1 when there is no value.

            EXAMPLES:
              tansu distinct people.tansu people pets.species
              tansu distinct people.tansu people name '{"age": {"$gt": 30}}' --max 5
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The dotted path.") var path: String
    @OptionGroup var arguments: QueryArguments
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        let (query, hints) = try arguments.resolved()
        return try OpenDatabase.with(target, .read) { opened in
            let values = try opened.existingCollection(target.collection)
                .distinct(path, query, hints: hints)
            if output.json {
                try printResult(["values": BSONValue(values)], text: "", asJSON: true)
            } else {
                let writer = OutputWriter()
                for value in values { try writer.writeLine(value.description) }
                try writer.flush()
            }
            return values.isEmpty ? .incomplete : .success
        }
    }
}
