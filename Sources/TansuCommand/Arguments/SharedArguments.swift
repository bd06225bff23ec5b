import ArgumentParser

/// The output options of every command.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print one JSON object, for errors too.")
    var json = false
}

/// The database argument of commands.
struct DatabaseArgument: ParsableArguments {
    @Argument(help: "The database's folder.", completion: .directory)
    var database: String
}

/// The database and collection arguments of commands.
struct CollectionArgument: ParsableArguments {
    @Argument(help: "The database's folder.", completion: .directory)
    var database: String

    @Argument(help: "The collection's name.")
    var collection: String
}

/// The query arguments of commands: a query, hints, and options for the limits of the result.
struct QueryArguments: ParsableArguments {
    @Argument(help: "The query, a JSON object. {} matches every document.")
    var query: String = "{}"

    @Argument(help: "Hints, a JSON object such as {\"$max\": 5}.")
    var hints: String = "{}"

    @Option(name: .long, help: ArgumentHelp("Skip the first n results.", valueName: "n"))
    var skip: Int?

    @Option(name: .long, help: ArgumentHelp("Return n results at most.", valueName: "n"))
    var max: Int?

    @Flag(help: "Fail when a sort or groups exceed the memory limit, instead of using temporary files.")
    var noDiskUse = false

    func validate() throws {
        if let skip, skip < 0 { throw ValidationError("\"--skip\" must be 0 or more, not \(skip)") }
        if let max, max < 0 { throw ValidationError("\"--max\" must be 0 or more, not \(max)") }
    }
}

/// The option for the order of the results.
struct OrderOption: ParsableArguments {
    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp(
            "Sort by these paths: \"name,-age\" (a minus for descending) or a JSON object.",
            valueName: "paths"))
    var orderby: String?
}

/// The query arguments and options of commands that print documents.
struct QueryOptions: ParsableArguments {
    @OptionGroup var arguments: QueryArguments
    @OptionGroup var order: OrderOption

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp(
            "Return only these fields: \"name,age\", all except some: \"-tags\", or a JSON object.",
            valueName: "fields"))
    var fields: String?
}
