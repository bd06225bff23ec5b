import ArgumentParser
import Tansu
import TansuBSON

struct CollectionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collections",
        abstract: "Lists, creates, renames and drops collections.",
        discussion: "The default subcommand is `list`: `tansu collections people.tansu`.",
        subcommands: [List.self, Create.self, Rename.self, Drop.self],
        defaultSubcommand: List.self
    )

    struct List: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the collections, their document counts and their compression.",
            discussion: """
                The exit code is 1 when the database has no collections.

                EXAMPLE:
                  tansu collections people.tansu
                """
        )

        @OptionGroup var target: DatabaseArgument
        @OptionGroup var output: OutputOptions

        func execute() throws -> CommandExitCode {
            try OpenDatabase.with(target, .read) { opened in
                let collections = try opened.database.collections().map { info -> BSONDocument in
                    var document: BSONDocument = ["name": .string(info.name), "documents": BSONValue(info.documents)]
                    if info.compression != .uncompressed {
                        document["compression"] = .string(info.compression.rawValue)
                    }
                    return document
                }
                if output.json {
                    try printResult(
                        ["collections": BSONValue(collections.map { .document($0) })], text: "",
                        asJSON: true)
                } else if collections.isEmpty {
                    writeError("tansu: The database has no collections")
                } else {
                    // Most databases have none.
                    let options = collections.contains { $0["compression"] != nil } ? ["compression"] : []
                    try printTable(collections, columns: ["name", "documents"] + options)
                }
                return collections.isEmpty ? .incomplete : .success
            }
        }
    }

    struct Create: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Creates a collection, or changes the compression of one.",
            discussion: """
                Saving and importing create collections as well, so this is needed for the compression only. The \
                compression counts from the next compaction on, which `tansu compact` runs. The command creates the \
                database if it does not exist.

                EXAMPLE:
                  tansu collections create people.tansu letters --compression lz4
                """
        )

        @OptionGroup var target: CollectionArgument
        @OptionGroup var options: CompressionOption
        @OptionGroup var output: OutputOptions

        func execute() throws -> CommandExitCode {
            try OpenDatabase.with(target, .create) { opened in
                let existed = try opened.database.collectionNames().contains(target.collection)
                try opened.database.ensureCollection(target.collection, compression: options.compression)
                let info = try opened.database.collections().first { $0.name == target.collection }
                let compression = info?.compression ?? .uncompressed
                try printResult(
                    [
                        "collection": .string(target.collection), "created": .bool(!existed),
                        "compression": .string(compression.rawValue),
                    ],
                    text: "Collection \(target.collection) \(existed ? "exists" : "created"), compression "
                        + compression.rawValue,
                    asJSON: output.json)
                return .success
            }
        }
    }

    struct Rename: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Renames a collection.",
            discussion: """
                EXAMPLE:
                  tansu collections rename people.tansu crowd friends
                """
        )

        @OptionGroup var target: CollectionArgument
        @Argument(help: "The new name.") var newName: String
        @OptionGroup var output: OutputOptions

        func execute() throws -> CommandExitCode {
            try OpenDatabase.with(target, .write) { opened in
                try opened.checkCollection(target.collection)
                try opened.database.renameCollection(target.collection, to: newName)
                try printResult(
                    ["collection": .string(newName)],
                    text: "Collection \(target.collection) renamed to \(newName)", asJSON: output.json)
                return .success
            }
        }
    }

    struct Drop: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Drops a collection with its documents and indexes.",
            discussion: """
                The command asks first on a terminal, unless --yes is given.

                EXAMPLE:
                  tansu collections drop people.tansu friends
                """,
            aliases: ["remove"]
        )

        @OptionGroup var target: CollectionArgument
        @OptionGroup var confirmation: ConfirmationOption
        @OptionGroup var output: OutputOptions

        func execute() throws -> CommandExitCode {
            try OpenDatabase.with(target, .write) { opened in
                let count = try opened.existingCollection(target.collection).count()
                try Confirmation.ask(
                    "Drop collection \"\(target.collection)\" with \(NumberFormat.count(count, "document"))?",
                    yes: confirmation.yes)
                try opened.database.dropCollection(target.collection)
                try printResult(
                    ["dropped": .string(target.collection)],
                    text: "Collection \(target.collection) dropped", asJSON: output.json)
                return .success
            }
        }
    }
}
