import ArgumentParser

/// How every command answers.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Answer with one JSON object, for programs; mistakes too.")
    var json = false
}

/// The database that a command works on.
struct DatabaseArgument: ParsableArguments {
    @Argument(help: "The database's folder.", completion: .directory)
    var database: String
}

/// The collection that a command works on.
struct CollectionArgument: ParsableArguments {
    @Argument(help: "The database's folder.", completion: .directory)
    var database: String

    @Argument(help: "The collection's name.")
    var collection: String
}

/// A query as the commands take it: JSON texts, and options for how much of the answer is wanted.
struct QueryArguments: ParsableArguments {
    @Argument(help: "The query, a JSON object; {} or none matches every document.")
    var query: String = "{}"

    @Argument(help: "Hints, a JSON object such as {\"$max\": 5}.")
    var hints: String = "{}"

    @Option(name: .long, help: ArgumentHelp("Leave out that many first.", valueName: "n"))
    var skip: Int?

    @Option(name: .long, help: ArgumentHelp("Stop after that many.", valueName: "n"))
    var max: Int?

    @Flag(help: "Fail when a sort or groups do not fit into memory, instead of using temporary files.")
    var noDiskUse = false

    func validate() throws {
        if let skip, skip < 0 { throw ValidationError("--skip takes 0 or more, not \(skip).") }
        if let max, max < 0 { throw ValidationError("--max takes 0 or more, not \(max).") }
    }
}

/// The order in which a command takes what it works on.
struct OrderOption: ParsableArguments {
    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp(
            "Sort by these paths: \"name,-age\" (a minus for descending) or a JSON object.",
            valueName: "paths"))
    var orderby: String?
}

/// A query for documents that are shown.
struct QueryOptions: ParsableArguments {
    @OptionGroup var arguments: QueryArguments
    @OptionGroup var order: OrderOption

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp(
            "Show only these fields: \"name,age\", without some: \"-tags\", or a JSON object.",
            valueName: "fields"))
    var fields: String?
}
