import ArgumentParser

struct FindCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Prints the documents that a query matches.",
        discussion: """
            The command prints one JSON object per line (relaxed extended JSON), a table with one heading, or with \
            --json one object with all documents. The exit code is 1 when no document matches.

            EXAMPLES:
              tansu find people.tansu people '{"age": {"$gt": 30}}'
              tansu find people.tansu people '{"age": {"$lt": 40}}' --sort -age --limit 5 --table
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
        return try OpenDatabase.with(target, .read) { opened in
            try opened.checkCollection(target.collection)
            let writer = ResultWriter(
                format: table ? .table : output.json ? .json : .lines, canonical: canonical)
            // A table that reads the documents twice needs the same snapshot for both.
            let count = try opened.database.read { snapshot in
                let found = try snapshot.collection(target.collection).find(query, hints: hints)
                return try writer.write { try found.forEach($0) }
            }
            return count == 0 ? .incomplete : .success
        }
    }
}
