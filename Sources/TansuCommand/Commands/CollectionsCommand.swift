import ArgumentParser
import TansuBSON

struct CollectionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collections",
        abstract: "Lists, renames and removes collections.",
        discussion: "Without a subcommand it lists: `tansu collections people.tansu`.",
        subcommands: [List.self, Rename.self, Remove.self],
        defaultSubcommand: List.self
    )

    struct List: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the collections with their numbers of documents.",
            discussion: """
                Exits with 1 when there are none.

                EXAMPLE:
                  tansu collections people.tansu
                """
        )

        @OptionGroup var target: DatabaseArgument
        @OptionGroup var output: OutputOptions

        func execute() throws -> Outcome {
            try Store.with(target.database, .read) { store in
                let collections = try store.database.collections().map { info -> BSONDocument in
                    ["name": .string(info.name), "documents": BSONValue(info.documents)]
                }
                if output.json {
                    try printAnswer(
                        ["collections": BSONValue(collections.map { .document($0) })], text: "",
                        asJSON: true)
                } else if collections.isEmpty {
                    writeError("tansu: The database has no collections yet.")
                } else {
                    try printTable(collections, columns: ["name", "documents"])
                }
                return collections.isEmpty ? .incomplete : .success
            }
        }
    }

    struct Rename: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Gives a collection another name.",
            discussion: """
                EXAMPLE:
                  tansu collections rename people.tansu crowd friends
                """
        )

        @OptionGroup var target: CollectionArgument
        @Argument(help: "Its new name.") var newName: String
        @OptionGroup var output: OutputOptions

        func execute() throws -> Outcome {
            try Store.with(target.database, .write) { store in
                _ = try store.existingCollection(target.collection)
                try store.database.renameCollection(target.collection, to: newName)
                try printAnswer(
                    ["collection": .string(newName)],
                    text: "Collection \(target.collection) is now \(newName)", asJSON: output.json)
                return .success
            }
        }
    }

    struct Remove: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes a collection with its documents and indexes.",
            discussion: """
                EXAMPLE:
                  tansu collections remove people.tansu friends
                """
        )

        @OptionGroup var target: CollectionArgument
        @OptionGroup var output: OutputOptions

        func execute() throws -> Outcome {
            try Store.with(target.database, .write) { store in
                _ = try store.existingCollection(target.collection)
                try store.database.removeCollection(target.collection)
                try printAnswer(
                    ["removed": .string(target.collection)],
                    text: "Collection \(target.collection) is removed", asJSON: output.json)
                return .success
            }
        }
    }
}
