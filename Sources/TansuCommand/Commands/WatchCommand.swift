import ArgumentParser
import Foundation
import Tansu
import TansuBSON

struct WatchCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Prints changes as they are committed.",
        discussion: """
            The command prints a line for each change of a document or a collection, whichever process commits it, until \
            Ctrl-C ends it. With --query these are the changes of documents that match before or after the change alone. With \
            --json each line is a JSON object, whose "sequence" continues with --since where a line with "last" was.

            If compaction has rewritten commits that were not printed yet, the command fails with NOT_FOUND: read \
            everything, and begin again, or print all that the log has with --since 0.

            EXAMPLES:
              tansu watch people.tansu people --query '{"age": {"$gt": 30}}' --seconds 1
              tansu watch people.tansu --since 0 --limit 3 --json
            """
    )

    @Argument(help: "The database's folder.", completion: .directory) var database: String
    @Argument(help: "The collection's name. The default is all collections.") var collection: String?
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Print changes of documents that match this query only.", valueName: "query"))
    var query: String?
    @Option(
        help: ArgumentHelp("Begin after this commit, 0 for all that the log has. The default is now.", valueName: "n"))
    var since: Int?
    @Flag(help: "Print the documents as they were before the change as well.") var before = false
    @Option(help: ArgumentHelp("End after so many changes.", valueName: "n")) var limit: Int?
    @Option(help: ArgumentHelp("End after so many seconds.", valueName: "n")) var seconds: Double?
    @OptionGroup var opening: OpeningOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try checkPath(database, of: "database")
        if let since, since < 0 { throw ValidationError("\"--since\" must be 0 or more, not \(since)") }
        if let limit, limit < 1 { throw ValidationError("\"--limit\" must be 1 or more, not \(limit)") }
        if let seconds, !(0...1e9).contains(seconds) {
            throw ValidationError("\"--seconds\" must be between 0 and 1000000000, not \(seconds)")
        }
    }

    func execute() throws -> CommandExitCode {
        let query = try query.map { try JSONArguments.document($0, name: "query") }
        return try OpenDatabase.with(database, .follow, opening) { opened in
            let runner = JSONRunner(database: opened.database)
            var options: BSONDocument = ["after": true, "before": .bool(before || query != nil)]
            if let collection {
                options["collections"] = [.string(collection)]
                if try !opened.hasCollection(collection) {
                    writeError(TextTable.printable("tansu: There is no collection \"\(collection)\" yet"))
                }
            }
            // A wrong query is an error before there is a change.
            if let query { _ = try Self.matches([:], query, runner) }
            let feed: BSONValue
            do {
                let since = since.map { BSONValue($0) } ?? "now"
                let request: BSONDocument = ["op": "openFeed", "since": since, "options": .document(options)]
                feed = try runner.run(request)["feed"] ?? .null
            } catch var error as CommandError where error.code == "NOT_FOUND" {
                error.message = error.message.prefixUntil(";")
                error.remedy = "read everything, and begin again without \"--since\", or with \"--since 0\""
                throw error
            }
            defer { _ = try? runner.run(["op": "closeFeed", "feed": feed]) }
            do { try Interruption.handled { try follow(feed, query, runner) } } catch let error as CommandError
                where error.status == .interrupted
            {}
            return .success
        }
    }

    private func follow(_ feed: BSONValue, _ query: BSONDocument?, _ runner: JSONRunner) throws {
        let writer = OutputWriter()
        let end = seconds.map { ContinuousClock.now + .milliseconds(Int64($0 * 1000)) }
        var left = limit ?? .max
        while left > 0 {
            try Interruption.check()
            if let end, ContinuousClock.now >= end { return }
            let changes = try runner.run(["op": "nextChanges", "feed": feed, "batch": 100, "timeoutMs": 100])
            for var change in changes.documentList("changes") where left > 0 {
                if let query, try !isOf(query, change, runner) { continue }
                if !before { change["before"] = nil }
                try writer.writeLine(output.json ? change.json() : Self.line(change))
                left -= 1
            }
            try writer.flush()
        }
    }

    /// Whether a change is of a document that matches. A document that is not known any more may have; a collection does
    /// not.
    private func isOf(_ query: BSONDocument, _ change: BSONDocument, _ runner: JSONRunner) throws -> Bool {
        let documents = [change["before"], change["after"]].compactMap { $0?.documentValue }
        if documents.isEmpty { return change["id"] != nil }
        return try documents.contains { try Self.matches($0, query, runner) }
    }

    /// Whether the engine finds a document that is not stored.
    private static func matches(_ document: BSONDocument, _ query: BSONDocument, _ runner: JSONRunner) throws -> Bool {
        let stages: BSONValue = [
            ["$documents": [["$literal": .document(document)]]], ["$match": .document(query)], ["$count": "n"],
        ]
        do {
            return try !runner.run(["op": "aggregate", "pipeline": stages]).documentList("documents").isEmpty
        } catch var error as CommandError {
            // The place in the query, which is a stage here only.
            let place = "1.$match"
            if error.path.hasPrefix(place) { error.path = String(error.path.dropFirst(place.count + 1)) }
            throw error
        }
    }

    /// A change in words: "update people 7 {…}".
    private static func line(_ change: BSONDocument) -> String {
        let words = [
            change["kind"]?.stringValue, change["collection"]?.stringValue,
            change["to"].map { "to \($0.stringValue ?? "")" },
            change["id"]?.description, change["before"]?.description,
            change["before"] == nil || change["after"] == nil ? nil : "→",
            change["after"]?.description,
        ]
        let text = words.compactMap { $0 }.joined(separator: " ")
        return Terminal.output.isInteractive ? TextTable.printable(text) : text
    }
}
