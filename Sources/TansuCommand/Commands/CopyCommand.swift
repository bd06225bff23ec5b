import ArgumentParser
import Foundation
import Tansu
import TansuBSON

struct CopyCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copies collections into another database.",
        discussion: """
            Documents, indexes and options of the collections, of all or of those that are named, are copied into a new or \
            an existing database, as "tansu dump" and "tansu load" do it, without a file. A document whose _id exists there \
            is an error, unless --mode says otherwise; what was committed before is kept. Other processes may write the \
            first database meanwhile: the copy has one commit of it.

            Options for a key are those of the first database. Options for a new key are those of the second one, and \
            encrypt it if it is new; without them a new one is plain, also when the first is encrypted. Replicated \
            collections are not copied: make a backup, or replicate them.

            EXAMPLES:
              tansu copy people.tansu copied.tansu
              tansu copy people.tansu copied.tansu --collection people --mode save
            """
    )

    @Argument(help: "The folder of the database to copy from.", completion: .directory) var from: String
    @Argument(help: "The folder of the database to copy into.", completion: .directory) var to: String
    @Option(help: ArgumentHelp("Copy this collection only; may be repeated.", valueName: "name"))
    var collection: [String] = []
    @Option(
        help: ArgumentHelp(
            "What becomes of documents whose _id exists: \"insert\" is an error, \"save\" replaces them, \"skip\" keeps them.",
            valueName: "mode"))
    var mode: Database.LoadOptions.Mode = .insert
    @OptionGroup var opening: OpeningOptions
    @OptionGroup(title: "Key of the second database") var new: NewKeyOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try checkPath(from, of: "first database")
        try checkPath(to, of: "second database")
        guard folder(from) != folder(to) else { throw ValidationError("Both databases are \"\(from)\"") }
    }

    private func folder(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

    func execute() throws -> CommandExitCode {
        return try OpenDatabase.with(from, .read, opening) { source in
            for name in collection {
                try CommandLimits.check(name)
                try source.checkCollection(name)
            }
            let names = try collection.isEmpty ? source.database.collectionNames() : collection
            try rejectReplicated(names, source, from)
            return try OpenDatabase.with(to, .create, opening, keys: new.source) { target in
                try rejectReplicated(names, target, to)
                if try source.isEncrypted(), try !target.isEncrypted() {
                    writeError(
                        TextTable.printable(
                            "tansu: Warning: \"\(from)\" is encrypted, and its copy \"\(to)\" is not; the key of a new "
                                + "database is given by one of \(new.source.names)"))
                }
                let report = try ProgressBar.showing(label: to, counted: "document") { progress in
                    try Self.transfer(
                        source.database, target.database, collection.isEmpty ? nil : collection, mode, progress)
                }
                try printResult(
                    [
                        "collections": BSONValue(report.collections), "documents": BSONValue(report.documents),
                        "skipped": BSONValue(report.skipped), "indexes": BSONValue(report.indexes),
                    ],
                    text: "\(NumberFormat.count(report.documents, "document")) copied into "
                        + NumberFormat.count(report.collections, "collection")
                        + (report.skipped == 0 ? "" : ", \(NumberFormat.grouped(report.skipped)) skipped"),
                    asJSON: output.json)
                return .success
            }
        }
    }

    private func rejectReplicated(_ names: [String], _ opened: OpenDatabase, _ path: String) throws {
        let replicated = try opened.replicatedCollections()
        guard let name = names.first(where: { replicated.contains(BytewiseText($0)) }) else { return }
        throw CommandError(
            code: "REPLICATED", message: "The collection \"\(name)\" of \"\(path)\" is replicated", path: name,
            remedy:
                "copy the database with \"tansu backup\" and \"tansu restore\", or replicate it; nothing was changed",
            status: .invalidInput)
    }

    /// Loads a dump while a second thread writes it, through a pipe of the system.
    private static func transfer(
        _ source: Database, _ target: Database, _ collections: [String]?, _ mode: Database.LoadOptions.Mode,
        _ progress: (Database.Progress) throws -> Void
    ) throws -> Database.LoadReport {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw CommandError(code: "IO", message: "Cannot make a pipe: \(systemErrorText())")
        }
        let (reading, writing) = (ends[0], ends[1])
        // The dump ends with an error when nobody reads it any more.
        signal(SIGPIPE, SIG_IGN)
        let fault = Locked<(any Error)?>(nil)
        let ended = DispatchSemaphore(value: 0)
        let thread = Thread {
            let writer = OutputWriter(descriptor: writing)
            do {
                _ = try source.dump(Database.DumpOptions(collections: collections)) { bytes in
                    try writer.write(bytes: bytes)
                }
                try writer.flush()
            } catch { fault.withLock { $0 = error } }
            close(writing)
            ended.signal()
        }
        thread.start()
        let file = FileHandle(fileDescriptor: reading, closeOnDealloc: false)
        let result = Result {
            try target.load(
                Database.LoadOptions(mode: mode),
                from: {
                    let bytes = Array(try file.read(upToCount: 1 << 16) ?? Data())
                    // A dump that ended early is no dump with an end: its own error says why.
                    if bytes.isEmpty, let error = fault.withLock({ $0 }) { throw error }
                    return bytes
                }, progress: progress)
        }
        close(reading)
        ended.wait()
        do { return try result.get() } catch { throw failure(error) }
    }

    /// An error of the load without the line of the dump, which nobody has seen.
    private static func failure(_ error: any Error) -> CommandError {
        var failure = CommandError(error)
        if failure.message.hasPrefix("Line "), let start = failure.message.range(of: ": ")?.upperBound {
            failure.message = String(failure.message[start...])
        }
        if failure.code == "EXISTS" {
            failure.message = failure.message.prefixUntil(";")
            failure.remedy = "\"--mode save\" replaces it, \"--mode skip\" keeps it"
        } else if failure.code == "FULL" {
            failure.remedy = "free space, and repeat it with \"--mode skip\": what was committed is kept"
        } else if failure.remedy.isEmpty {
            failure.remedy = "what was committed before is kept"
        }
        return failure
    }
}
