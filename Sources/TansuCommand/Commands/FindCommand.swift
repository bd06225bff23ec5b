import ArgumentParser

struct FindCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Prints the documents that a query matches.",
        discussion: """
            One JSON object a line (relaxed extended JSON), or a table, or with --json one object with \
            all of them. Exits with 1 when no document matches.

            EXAMPLES:
              tansu find people.tansu people '{"age": {"$gt": 30}}'
              tansu find people.tansu people '{"age": {"$lt": 40}}' --orderby -age --table
              tansu find people.tansu people '{}' '{"$orderby": {"age": -1}, "$max": 1}'
            """
    )

    @OptionGroup var target: CollectionArgument
    @OptionGroup var options: QueryOptions
    @Flag(help: "Print a table, cut to the terminal's width.") var table = false
    @Flag(help: "Print canonical extended JSON, which keeps every type.") var canonical = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if table, output.json || canonical {
            throw ValidationError("--table is for people: it goes with neither --json nor --canonical.")
        }
    }

    func execute() throws -> Outcome {
        let (query, hints) = try options.resolved()
        return try Store.with(target.database, .read) { store in
            let collection = try store.existingCollection(target.collection)
            var answer = AnswerWriter(
                style: table ? .table : output.json ? .json : .lines, canonical: canonical)
            try collection.find(query, hints: hints).forEach { try answer.write($0) }
            try answer.finish()
            return answer.count == 0 ? .incomplete : .success
        }
    }
}
