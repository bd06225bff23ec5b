import ArgumentParser
import Tansu

/// The output options of every command.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print one JSON object, for errors too.")
    var json = false
}

/// The options for opening a database: how long a command waits while another process has it open, and the key.
struct OpeningOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Wait up to this many seconds while another process writes the database. Commands that only read do not wait.",
            valueName: "seconds"))
    var wait = 5.0

    @OptionGroup(title: "Key") var key: KeyOptions

    func validate() throws {
        guard (0...86_400).contains(wait) else {
            throw ValidationError("\"--wait\" must be between 0 and 86400 seconds, not \(wait)")
        }
    }

    var timeout: Duration { .milliseconds(Int64(wait * 1000)) }
}

/// The option for the list of slow calls in the inspector.
struct SlowCallOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "List calls of the database that take this many milliseconds or more in the inspector; 0 lists none.",
            valueName: "ms"))
    var slowCalls = 100

    func validate() throws {
        guard (0...3_600_000).contains(slowCalls) else {
            throw ValidationError("\"--slow-calls\" must be between 0 and 3600000 milliseconds, not \(slowCalls)")
        }
    }
}

/// Arguments that name an existing database.
protocol DatabaseTarget {
    var database: String { get }
    var opening: OpeningOptions { get }
}

extension OpenDatabase {
    /// Opens the database that the arguments name, runs a closure and closes the database.
    static func with<Result>(
        _ target: some DatabaseTarget, _ mode: Mode, configure: (inout Database.Options) -> Void = { _ in },
        _ body: (OpenDatabase) throws -> Result
    ) throws -> Result {
        if !mode.isReading, let target = target as? CollectionArgument { try CommandLimits.check(target.collection) }
        return try with(target.database, mode, target.opening, configure: configure, body)
    }
}

/// - Throws: `ValidationError` when a path of the command line is empty, as a variable of a script may be.
func checkPath(_ path: String, of what: String) throws {
    if path.isEmpty { throw ValidationError("The path of the \(what) is empty") }
}

/// The database argument of commands.
struct DatabaseArgument: ParsableArguments, DatabaseTarget {
    @Argument(help: "The database's folder.", completion: .directory)
    var database: String
    @OptionGroup var opening: OpeningOptions

    func validate() throws { try checkPath(database, of: "database") }
}

/// The database and collection arguments of commands.
struct CollectionArgument: ParsableArguments, DatabaseTarget {
    @Argument(help: "The database's folder.", completion: .directory)
    var database: String

    @Argument(help: "The collection's name.")
    var collection: String
    @OptionGroup var opening: OpeningOptions

    func validate() throws { try checkPath(database, of: "database") }
}

/// The options for the part of the results that is returned or changed.
struct RangeOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("Skip the first n results.", valueName: "n"))
    var skip: Int?

    @Option(
        name: [.customLong("max"), .customLong("limit")],
        help: ArgumentHelp("Stop after n results, at least 1.", valueName: "n"))
    var max: Int?

    func validate() throws {
        if let skip, skip < 0 { throw ValidationError("\"--skip\" must be 0 or more, not \(skip)") }
        if let max, max < 1 {
            throw ValidationError("\"--max\" must be 1 or more, not \(max); leave it out for all results")
        }
    }
}

/// The query arguments of commands: a query, hints, and options for the limits of the result.
struct QueryArguments: ParsableArguments {
    @Argument(help: "The query, a JSON object. {} matches every document.")
    var query: String = "{}"

    @Argument(help: "Hints, a JSON object such as {\"$max\": 5}.")
    var hints: String = "{}"

    @OptionGroup var range: RangeOptions

    @Flag(help: "Fail when a sort or groups exceed the memory limit, instead of using temporary files.")
    var noDiskUse = false
}

/// The option for the order of the results.
struct OrderOption: ParsableArguments {
    @Option(
        name: [.customLong("orderby"), .customLong("sort")], parsing: .unconditional,
        help: ArgumentHelp(
            "Sort by these paths: \"name,-age\" (a minus for descending), \"age desc\" or a JSON object.",
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

/// The option for the compression of a collection.
struct CompressionOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How compaction stores the collection's documents: \"lz4\", or \"none\" for uncompressed.",
            valueName: "codec"))
    var compression: Database.CollectionCompression?
}

extension Database.CollectionCompression: ExpressibleByArgument {}

/// The option that answers a question before it is asked.
struct ConfirmationOption: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do not ask on a terminal.")
    var yes = false
}

/// The preparation of the words of a command line for the argument parser.
enum ArgumentWords {
    /// The commands whose last argument may begin with a minus: a negative _id, a descending path.
    private static let commandsWithMinus: [(words: [String], isArgument: @Sendable (String) -> Bool)] = [
        (["get"], { $0.dropFirst().first.map { $0.isNumber || $0 == "." } ?? false }),
        (["index", "create"], { !$0.hasPrefix("--") && $0 != "-h" }),
    ]
    private static let optionsWithValue: Set<String> = [
        "--name", "--partial-filter", "--wait", "--key-file", "--key-command", "--passphrase-file",
        "--passphrase-command", "--weights", "--language", "--language-field",
    ]

    /// Moves a last argument that begins with a minus to the end, after "--". The parser takes it as an option
    /// otherwise.
    static func prepared(_ words: [String]) -> [String] {
        guard !words.contains("--") else { return words }
        for (command, isArgument) in commandsWithMinus where words.starts(with: command) {
            let found = words.indices.dropFirst(command.count).first { index in
                words[index].count > 1 && words[index].first == "-" && isArgument(words[index])
                    && !optionsWithValue.contains(words[index - 1])
            }
            guard let found else { continue }
            var result = words
            let word = result.remove(at: found)
            // The words before it that are no options must precede it.
            return result + ["--", word]
        }
        return words
    }
}
