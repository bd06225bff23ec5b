import ArgumentParser
import TansuBSON

struct IndexCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "index",
        abstract: "Creates, lists and drops a collection's indexes.",
        discussion: "Indexes make queries and sorts faster. They do not affect results.",
        subcommands: [Create.self, List.self, Drop.self, Advise.self]
    )

    struct Create: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Creates an index over one or more paths.",
            discussion: """
                The keys are paths separated by commas, with a minus or "desc" for descending order, or a JSON object. \
                Creating an index that exists already has no effect. A terminal shows the progress of the build.

                With --text the paths are those of texts whose words "tansu search" finds, and {"title": "text"} is the \
                same. "**" is all texts of a document.

                EXAMPLES:
                  tansu index create people.tansu people name,-age
                  tansu index create people.tansu people -age
                  tansu index create people.tansu people '{"pets.species": 1}' --name by_kind
                  tansu index create people.tansu people mail --unique --sparse
                  tansu index create people.tansu people tag --partial-filter '{"age": 18}'
                  tansu index create people.tansu people name,pets.species --text
                """
        )

        @OptionGroup var target: CollectionArgument
        @Argument(help: "The keys: \"name,-age\" or a JSON object such as {\"name\": 1, \"age\": -1}.")
        var keys: String
        @Option(help: "The index's name. The default is derived from the keys.") var name: String?
        @Flag(help: "Reject documents whose values another document has already.") var unique = false
        @Flag(help: "Do not index documents that have none of the paths.") var sparse = false
        @Flag(help: "Index strings case-insensitively, for case-insensitive queries.")
        var caseInsensitive = false
        @Option(
            help: ArgumentHelp(
                "Index only documents that match this query (of comparisons, $exists, $type and $begin).",
                valueName: "query"))
        var partialFilter: String?
        @Option(
            help: ArgumentHelp(
                "How many entries one document may have in the index, by its arrays: 1 to 1000000 (default: 10000).",
                valueName: "n"))
        var maxEntries: Int?
        @OptionGroup(title: "Indexes of words") var words: WordIndexOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if let name, name.isEmpty { throw ValidationError("The name of the index is empty") }
            if let maxEntries, !(1...1_000_000).contains(maxEntries) {
                throw ValidationError("\"--max-entries\" must be between 1 and 1000000, not \(maxEntries)")
            }
            if words.text, unique || sparse || caseInsensitive || maxEntries != nil {
                throw ValidationError(
                    "\"--text\" cannot be combined with \"--unique\", \"--sparse\", \"--case-insensitive\" and \"--max-entries\""
                )
            }
        }

        func execute() throws -> CommandExitCode {
            let (keys, text) = try words.resolved(try JSONArguments.keys(keys))
            let filter = try partialFilter.map { try JSONArguments.document($0, name: "--partial-filter") }
            return try OpenDatabase.with(target, .write) { opened in
                try opened.checkCollection(target.collection)
                let started = ContinuousClock.now
                let label = name ?? OpenDatabase.indexName(for: keys)
                let index = try ProgressBar.showing(label: label, counted: "document") { progress in
                    try opened.createIndex(
                        name, on: target.collection, keys: keys, unique: unique, sparse: sparse,
                        caseInsensitive: caseInsensitive, partialFilter: filter, maxEntries: maxEntries, text: text,
                        progress: progress)
                }
                let elapsed = NumberFormat.duration(started.duration(to: .now))
                try printResult(
                    ["name": .string(index)], text: "Index \(index) is ready (\(elapsed))",
                    asJSON: output.json)
                return .success
            }
        }
    }

    struct List: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists a collection's indexes.",
            discussion: """
                The exit code is 1 when the collection has no indexes.

                EXAMPLE:
                  tansu index list people.tansu people
                """
        )

        @OptionGroup var target: CollectionArgument
        @OptionGroup var output: OutputOptions

        func execute() throws -> CommandExitCode {
            try OpenDatabase.with(target, .read) { opened in
                let indexes = try opened.indexDocuments(of: target.collection)
                if output.json {
                    try printResult(
                        ["indexes": BSONValue(indexes.map { .document($0) })], text: "", asJSON: true)
                } else if indexes.isEmpty {
                    writeError("tansu: Collection \"\(target.collection)\" has no indexes")
                } else {
                    // Optional properties have a column only when an index has one of them.
                    let options = [
                        "sparse", "caseInsensitive", "partialFilter", "maxEntries", "only", "except", "weights",
                        "language", "languageField", "positions",
                    ]
                    .filter { option in indexes.contains { $0[option] != nil } }
                    try printTable(indexes, columns: ["name", "keys", "unique", "entries"] + options)
                }
                return indexes.isEmpty ? .incomplete : .success
            }
        }
    }

    struct Drop: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Drops an index by its name.",
            discussion: """
                Dropping an index does not affect documents or the results of queries.

                EXAMPLE:
                  tansu index drop people.tansu people by_kind
                """
        )

        @OptionGroup var target: CollectionArgument
        @Argument(help: "The index's name.") var name: String
        @OptionGroup var output: OutputOptions

        func execute() throws -> CommandExitCode {
            try OpenDatabase.with(target, .write) { opened in
                try opened.existingCollection(target.collection).dropIndex(name)
                try printResult(
                    ["dropped": .string(name)], text: "Index \(name) dropped", asJSON: output.json)
                return .success
            }
        }
    }
}
