import Tansu
import TansuBSON

// The import of databases of other programs.
extension ImportCommand {
    /// Imports the collections of another database, each with its indexes.
    func importDatabase(_ foreign: some ForeignDatabase) throws -> CommandExitCode {
        let collections = try selected(of: foreign)
        let rejects = try rejects.map { try RejectsFile(path: $0) { nil } }
        if dryRun { return try preview(foreign.faults, collections, rejects) }
        return try OpenDatabase.with(self, .create) { opened in
            // What has no valid name here is a fault below.
            let names = collections.map(\.name).filter {
                !CommandLimits.isOwned($0) && (try? opened.hasCollection($0)) != nil
            }
            if drop { try confirmReplacing(names, in: opened, isAnswered: false) }
            var faults = foreign.faults
            var results: [BSONValue] = []
            let isComplete = try Interruption.handled {
                try forEach(collections, &faults) { collection in
                    let (result, isWhole) = try importCollection(collection, rejects, opened)
                    results.append(.document(result))
                    return isWhole
                }
            }
            if output.json {
                let list = BSONValue(faults.map { .string($0) })
                try printResult(["collections": BSONValue(results), "faults": list], text: "", asJSON: true)
            } else if collections.isEmpty {
                warn("Warning: There is no collection")
            }
            return isComplete ? .success : .incomplete
        }
    }

    /// Prints what an import would do.
    private func preview(
        _ known: [String], _ collections: [ForeignCollection], _ rejects: RejectsFile?
    ) throws -> CommandExitCode {
        var faults = known
        var results: [BSONValue] = []
        let isComplete = try Interruption.handled {
            try forEach(collections, &faults) { collection in
                let source = try collection.open()
                let log = ImportLog(
                    label: collection.label, unit: source.unit, isVerbose: false, asJSON: output.json, rejects: rejects)
                let preview = try log.preview(source, id: nil)
                try log.close()
                var result = log.result(of: preview, collection: collection.name)
                let names = collection.indexes.map { $0.name ?? OpenDatabase.indexName(for: $0.keys) }
                result["indexes"] = BSONValue(names.map { .string($0) })
                result["notes"] = BSONValue(collection.notes.map { .string($0) })
                results.append(.document(result))
                if !output.json {
                    for note in collection.notes { warn("\(collection.label): \(note)") }
                    try log.print(preview, collection: collection.name)
                }
                return preview.rejected == 0
            }
        }
        if output.json {
            let list = BSONValue(faults.map { .string($0) })
            try printResult(["collections": BSONValue(results), "faults": list], text: "", asJSON: true)
        }
        return isComplete ? .success : .incomplete
    }

    /// Calls a closure with each collection. One that cannot be read, or whose name is none here, is a fault; the others are
    /// done nevertheless, unless the import is strict.
    /// - Parameter body: Returns whether all of the collection was read.
    /// - Returns: Whether there was no fault.
    private func forEach(
        _ collections: [ForeignCollection], _ faults: inout [String], _ body: (ForeignCollection) throws -> Bool
    ) throws -> Bool {
        for fault in faults { warn(fault) }
        var isComplete = faults.isEmpty
        for collection in collections {
            do {
                try CommandLimits.check(collection.name)
                isComplete = try body(collection) && isComplete
            } catch {
                var error = CommandError(error)
                let isName = error.code == "INVALID_NAME" || CommandLimits.isOwned(collection.name)
                guard isName || Self.concernsOneCollection(error), !strict else { throw error }
                if isName, foreign.sqlite != nil {
                    error.remedy = "\"--table\" with \"--collection\" gives it another name"
                }
                isComplete = false
                let fault = error.remedy.isEmpty ? error.message : "\(error.message); \(error.remedy)"
                faults.append("Collection \"\(collection.name)\" was not imported completely: \(fault)")
                warn(faults[faults.count - 1])
            }
        }
        return isComplete
    }

    /// The collections that are to be imported.
    private func selected(of foreign: some ForeignDatabase) throws -> [ForeignCollection] {
        guard let collection else { return foreign.collections }
        let found = foreign.collections.filter { $0.name == collection }
        guard found.isEmpty else { return found }
        throw CommandError(
            code: "NOT_FOUND", message: "There is no collection \"\(collection)\"", path: collection,
            remedy: "there are " + foreign.collections.map { "\"\($0.name)\"" }.joined(separator: ", "))
    }

    /// Whether the other collections can be imported after an error: not when it is one of this database.
    private static func concernsOneCollection(_ error: CommandError) -> Bool {
        [
            "NO_INPUT", "WRONG_FILE", "TOO_LARGE", "SQLITE", "BAD_GZIP", "BAD_ZSTD",
        ].contains(error.code)
    }

    private func importCollection(
        _ collection: ForeignCollection, _ rejects: RejectsFile?, _ opened: OpenDatabase
    ) throws -> (result: BSONDocument, isWhole: Bool) {
        let source = try collection.open()
        let log = ImportLog(
            label: collection.label, unit: source.unit, isVerbose: verbose, asJSON: output.json, rejects: rejects)
        var notes = collection.notes
        var codec = compression.compression ?? collection.compression
        if compression.compression == nil, codec == .lz4, !Database.engineLibraries.contains("liblz4") {
            codec = nil
            notes.append("It is not compressed, because this program was built without LZ4")
        }
        let job = try run(source, into: collection.name, codec, log, opened)
        // A collection without documents is imported, too.
        if try !opened.hasCollection(collection.name) {
            try opened.database.ensureCollection(collection.name, compression: codec)
        }
        var (indexes, refused) = try createIndexes(collection, opened)
        if let (rules, level) = collection.validator {
            do { try opened.database.setValidator(rules, for: collection.name, level: level) } catch let error
                as TansuError
            {
                refused.append("The validator was not set: \(CommandError(error).message)")
            }
        }
        var result = log.result(of: job, collection: collection.name)
        result["indexes"] = BSONValue(indexes.map { .string($0) })
        result["notes"] = BSONValue((notes + refused).map { .string($0) })
        if !output.json {
            for note in notes + refused { warn("\(collection.label): \(note)") }
            var text = log.text(of: job, collection: collection.name)
            if !indexes.isEmpty { text += ", \(NumberFormat.count(indexes.count, "index", "indexes"))" }
            try printLine(text)
        }
        return (result, job.rejected == 0 && refused.isEmpty)
    }

    /// Creates the indexes of a collection.
    /// - Returns: Their names, and why others cannot be created.
    private func createIndexes(
        _ collection: ForeignCollection, _ opened: OpenDatabase
    ) throws -> (names: [String], refused: [String]) {
        var names: [String] = []
        var refused: [String] = []
        for index in collection.indexes {
            let name = index.name ?? OpenDatabase.indexName(for: index.keys)
            do {
                try ProgressBar.showing(label: "\(collection.name) \(name)", counted: "document") { progress in
                    try opened.database.collection(collection.name)
                        .ensureIndex(name, keys: index.keys, options: index.options, progress: progress)
                }
                names.append(name)
            } catch let error as TansuError where Self.indexFaults.contains(error.code) {
                refused.append("Index \"\(name)\" was not created: \(CommandError(error).message)")
            }
        }
        return (names, refused)
    }

    /// The errors of an index that another program has and that is none here.
    private static let indexFaults: [TansuError.Code] = [
        .invalidName, .invalidIndex, .exists, .notUnique, .tooLarge, .unsupported, .invalidQuery,
    ]

    private func warn(_ text: String) {
        if !output.json { writeError(TextTable.printable("tansu: \(text)")) }
    }
}
