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
                With --json their references, timestamps and validators are listed as well. The exit code is 1 when the database has \
                no collections.

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
                    if output.json {
                        if let timestamps = info.timestamps {
                            document["timestamps"] = .document(try BSONEncoder().encode(timestamps))
                        }
                        if !info.references.isEmpty {
                            document["references"] = BSONValue(
                                try info.references.map { .document(try BSONEncoder().encode($0)) })
                        }
                        if let validator = info.validator { document["validator"] = .document(validator) }
                        if info.validationLevel != .strict {
                            document["validationLevel"] = .string(info.validationLevel.rawValue)
                        }
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
            abstract: "Creates a collection, or changes the options of one.",
            discussion: """
                Saving and importing create collections as well, so this is needed for the options only. The \
                compression counts from the next compaction on, which `tansu compact` runs. With --timestamps every \
                save sets the fields createdAt and updatedAt. The command creates the database if it does not exist.

                With --validator every document must satisfy a query or a schema, {"$jsonSchema": {...}}; {} ends it. The level says \
                what becomes of one that does not: "strict" (the default) refuses it, and needs documents that satisfy it; \
                "moderate" refuses it unless it violated it before; "warn" saves it and counts it (`tansu stats`); "off" saves it.

                EXAMPLES:
                  tansu collections create people.tansu letters --compression lz4
                  tansu collections create people.tansu notes --timestamps
                  tansu collections create people.tansu pets --validator '{"age": {"$gte": 0}}' --validation-level warn
                """
        )

        @OptionGroup var target: CollectionArgument
        @OptionGroup var options: CompressionOption
        @Flag(inversion: .prefixedNo, help: "Date the documents at their insertion and at each save.")
        var timestamps: Bool?
        @Option(
            parsing: .unconditional,
            help: ArgumentHelp("What documents satisfy, a query or a schema as a JSON object.", valueName: "json"))
        var validator: String?
        @Option(
            help: ArgumentHelp("What becomes of documents that violate the validator.", valueName: "level"))
        var validationLevel: Database.ValidationLevel?
        @OptionGroup var output: OutputOptions

        func execute() throws -> CommandExitCode {
            try OpenDatabase.with(target, .create) { opened in
                let existed = try opened.hasCollection(target.collection)
                try opened.database.ensureCollection(target.collection, compression: options.compression)
                if let timestamps {
                    try opened.database.setTimestamps(timestamps ? Database.Timestamps() : nil, of: target.collection)
                }
                try setValidator(of: opened.database)
                let info = try Session(opened.database).collectionInfo(target.collection)
                let compression = info?.compression ?? .uncompressed
                var result: BSONDocument = [
                    "collection": .string(target.collection), "created": .bool(!existed),
                    "compression": .string(compression.rawValue),
                ]
                if info?.timestamps != nil { result["timestamps"] = true }
                try printResult(
                    result,
                    text: "Collection \(target.collection) \(existed ? "exists" : "created"), compression "
                        + compression.rawValue + (info?.timestamps == nil ? "" : ", timestamps"),
                    asJSON: output.json)
                return .success
            }
        }

        /// Sets the validator, its level, or both.
        private func setValidator(of database: Database) throws {
            guard validator != nil || validationLevel != nil else { return }
            let info = try Session(database).collectionInfo(target.collection)
            try database.setValidator(
                try validator.map { try JSONArguments.document($0, name: "validator") } ?? info?.validator,
                for: target.collection, level: validationLevel ?? info?.validationLevel ?? .strict)
        }
    }

    struct Rename: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Renames a collection.",
            discussion: """
                A replicated collection keeps its revisions and attachments.

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
                try CommandLimits.check(newName: newName)
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
                try opened.drop(target.collection)
                try printResult(
                    ["dropped": .string(target.collection)],
                    text: "Collection \(target.collection) dropped", asJSON: output.json)
                return .success
            }
        }
    }
}

extension Database.ValidationLevel: ExpressibleByArgument {}
