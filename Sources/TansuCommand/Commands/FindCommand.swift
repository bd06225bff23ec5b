import ArgumentParser

struct FindCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Prints the documents that a query matches.",
        discussion: """
            The command prints one JSON object per line (relaxed extended JSON), a table, or with --json one \
            object with all documents. The exit code is 1 when no document matches.

            EXAMPLES:
              tansu find people.tansu people '{"age": {"$gt": 30}}'
              tansu find people.tansu people '{"age": {"$lt": 40}}' --orderby -age --table
              tansu find people.tansu people '{}' '{"$orderby": {"age": -1}, "$max": 1}'
            """
    )

    @OptionGroup var target: CollectionArgument
    @OptionGroup var options: QueryOptions
    @Flag(help: "Print a table, cut to the terminal's width.") var table = false
    @Flag(help: "Print canonical extended JSON, which preserves all types.") var canonical = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if table, output.json || canonical {
            throw ValidationError("\"--table\" cannot be combined with \"--json\" or \"--canonical\"")
        }
    }

    func execute() throws -> CommandExitCode {
        let (query, hints) = try options.resolved()
        return try OpenDatabase.with(target.database, .read) { opened in
            let collection = try opened.existingCollection(target.collection)
            var writer = ResultWriter(
                format: table ? .table : output.json ? .json : .lines, canonical: canonical)
            try collection.find(query, hints: hints).forEach { try writer.write($0) }
            try writer.finish()
            return writer.count == 0 ? .incomplete : .success
        }
    }
}
