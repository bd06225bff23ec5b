import ArgumentParser
import TansuBSON

struct IndexCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "index",
        abstract: "Creates, lists and drops a collection's indexes.",
        discussion: "An index makes queries and sorting fast; it never changes an answer.",
        subcommands: [Create.self, List.self, Drop.self]
    )

    struct Create: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Creates an index over one or more paths.",
            discussion: """
                The keys are paths with commas between them, a minus for descending, or a JSON object. \
                Creating the same index again does no harm. On a terminal, a line shows how far a long build is.

                EXAMPLES:
                  tansu index create people.tansu people name,-age
                  tansu index create people.tansu people '{"pets.species": 1}' --name by_kind
                  tansu index create people.tansu people mail --unique --sparse
                  tansu index create people.tansu people tag --partial-filter '{"age": 18}'
                """
        )

        @OptionGroup var target: CollectionArgument
        @Argument(help: "The keys: \"name,-age\" or a JSON object such as {\"name\": 1, \"age\": -1}.")
        var keys: String
        @Option(help: "The index's name; made from the keys unless given.") var name: String?
        @Flag(help: "Refuse documents with values that another document has.") var unique = false
        @Flag(help: "Leave out documents that have none of the paths.") var sparse = false
        @Flag(help: "Index strings without regard to letter case, for queries that ask for that.")
        var caseInsensitive = false
        @Option(
            help: ArgumentHelp(
                "Leave out documents that this query (of comparisons, $in, $exists and $begin) does not match.",
                valueName: "query"))
        var partialFilter: String?
        @OptionGroup var output: OutputOptions

        func execute() throws -> Outcome {
            let keys = try JSONArguments.keys(keys)
            let filter = try partialFilter.map { try JSONArguments.document($0, name: "--partial-filter") }
            return try Store.with(target.database, .write) { store in
                _ = try store.existingCollection(target.collection)
                let progress = ProgressLine(label: name ?? Store.indexName(for: keys))
                defer { progress.clear() }
                let name = try store.createIndex(
                    name, on: target.collection, keys: keys, unique: unique, sparse: sparse,
                    caseInsensitive: caseInsensitive, partialFilter: filter
                ) { state in
                    progress.update(documents: state.done, fraction: state.fraction)
                }
                progress.clear()
                let elapsed = Numbers.duration(progress.elapsed)
                try printAnswer(
                    ["name": .string(name)], text: "Index \(name) is there (\(elapsed))",
                    asJSON: output.json)
                return .success
            }
        }
    }

    struct List: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists a collection's indexes.",
            discussion: """
                Exits with 1 when there are none.

                EXAMPLE:
                  tansu index list people.tansu people
                """
        )

        @OptionGroup var target: CollectionArgument
        @OptionGroup var output: OutputOptions

        func execute() throws -> Outcome {
            try Store.with(target.database, .read) { store in
                let indexes = try store.indexDocuments(of: target.collection)
                if output.json {
                    try printAnswer(
                        ["indexes": BSONValue(indexes.map { .document($0) })], text: "", asJSON: true)
                } else if indexes.isEmpty {
                    writeError("tansu: The collection has no index but that of _id.")
                } else {
                    // Rare options have a column only when an index has one of them.
                    let options = ["sparse", "caseInsensitive", "partialFilter"].filter { option in
                        indexes.contains { $0[option] != nil }
                    }
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
                The documents stay; queries that used it get slower, not different.

                EXAMPLE:
                  tansu index drop people.tansu people by_kind
                """
        )

        @OptionGroup var target: CollectionArgument
        @Argument(help: "The index's name.") var name: String
        @OptionGroup var output: OutputOptions

        func execute() throws -> Outcome {
            try Store.with(target.database, .write) { store in
                try store.existingCollection(target.collection).dropIndex(name)
                try printAnswer(
                    ["dropped": .string(name)], text: "Index \(name) is dropped", asJSON: output.json)
                return .success
            }
        }
    }
}
