import Foundation
import Tansu
import TansuBSON

/// The state of a shell, and the running of its statements: each becomes a JSON command.
final class Shell {
    var opened: OpenDatabase
    let output: ShellOutput
    /// Values that statements may use as `$$name`.
    var variables: [BytewiseText: BSONValue] = [:]
    /// The collection of statements that name none.
    var current: String?
    /// The number of the transaction that `.begin` has begun.
    var transaction: Int?
    var savepoints = 0
    var showsTime = false
    var showsPlans = false
    /// Whether the database is open for reading only.
    var isReader: Bool
    let opening: OpeningOptions
    /// How deep `.read` is nested.
    var depth = 0
    /// What Tab offers of the database.
    let completion = Completion()

    init(_ opened: OpenDatabase, isReader: Bool, opening: OpeningOptions, output: ShellOutput) {
        self.opened = opened
        self.isReader = isReader
        self.opening = opening
        self.output = output
    }

    var runner: JSONRunner { JSONRunner(database: opened.database) }

    /// Whether a line is a comment.
    static func isComment(_ text: String) -> Bool { text.hasPrefix("#") || text.hasPrefix("//") }

    /// Runs a statement or a command that begins with a dot.
    /// - Parameter firstLine: The number of its first line, for errors of typing.
    /// - Returns: Whether the shell goes on.
    func run(_ text: String, firstLine: Int = 1) throws -> Bool {
        let text = text.trimmingSpaces
        if Self.isComment(text) { return true }
        try ShellInterrupt.check()
        if isReader, transaction == nil { try runner.run(["op": "refresh"]) }
        if text.hasPrefix(".") { return try DotCommand.run(text, in: self, line: firstLine) }
        let started = ContinuousClock.now
        let statement: Statement
        do { statement = try StatementParser.parse(text, variables: variables, current: current) } catch {
            throw Self.located(error, in: text, firstLine: firstLine)
        }
        completion.forget()
        let elapsed = try output.collecting {
            if showsPlans, let plan = statement.explained { try run(plan) }
            try run(statement)
            // Without the time that a user spends in the pager.
            return started.duration(to: .now)
        }
        if showsTime { writeError(Terminal.error.dim("Time: \(NumberFormat.duration(elapsed))")) }
        return true
    }

    /// An error of typing with its line, its column, and a mark below it.
    static func located(_ error: any Error, in text: String, firstLine: Int = 1) -> any Error {
        guard let error = error as? TypingError else { return error }
        let before = text.utf8.prefix(error.offset)
        let number = before.count { $0 == UInt8(ascii: "\n") } + firstLine
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { text.utf8.index(after: $0) } ?? text.startIndex
        let line = String(decoding: text.utf8[start...].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let lead = String(decoding: text.utf8[start..<before.endIndex], as: UTF8.self)
        // The mark is where the character is on the screen; of a long line only what is around it is shown.
        var shown = TextTable.printable(line)
        var column = DisplayWidth.of(TextTable.printable(lead))
        if column > 60 {
            let from =
                shown.unicodeScalars.index(
                    shown.startIndex, offsetBy: column - 40, limitedBy: shown.endIndex) ?? shown.startIndex
            shown = "…" + String(shown.unicodeScalars[from...])
            column = 41
        }
        shown = TextTable.truncated(shown, width: 100)
        var failure = CommandError(
            code: "INVALID_STATEMENT", message: error.message,
            path: "line \(number), column \(lead.unicodeScalars.count + 1)", remedy: error.remedy, status: .invalidInput
        )
        failure.excerpt = "  \(shown)\n  \(String(repeating: " ", count: column))^"
        return failure
    }

    // MARK: Statements

    /// Runs a statement and writes its result.
    func run(_ statement: Statement) throws {
        if let name = statement.request["collection"]?.stringValue, !Self.creates(statement) {
            try opened.checkCollection(name, in: transaction, runner)
        }
        guard isCancellable(statement.request) else {
            do {
                return try ShellInterrupt.during(cancel: nil) { try show(statement, runner.run(statement.request)) }
            } catch var error as CommandError where error.code == "BUSY" && transaction != nil {
                error.message = "This command cannot run while a transaction is open"
                error.remedy = "end it by \".commit\" or \".rollback\" first"
                throw error
            }
        }
        try inTransaction(isWrite: CommandLimits.isWrite(statement.request)) { number in
            var statement = statement
            statement.request["transaction"] = BSONValue(number)
            if statement.shown == .documents, statement.request["group"] == nil {
                try showDocuments(statement.request)
            } else {
                try show(statement, runner.run(statement.request))
            }
        }
    }

    /// Whether a statement may name a collection that does not exist.
    private static func creates(_ statement: Statement) -> Bool {
        let isUpsert = statement.request["hints"]?.documentValue?["$upsert"] == .bool(true)
        return isUpsert || statement.shown == .response
            || ["save", "insert", "createCollection"].contains { $0 == statement.request["op"]?.stringValue }
    }

    /// Whether an operation can run in a transaction, with which it is cancelled.
    private func isCancellable(_ request: BSONDocument) -> Bool {
        guard request["transaction"] == nil, request["batch"] == nil, let name = request["op"]?.stringValue else {
            return false
        }
        return CommandLimits.writes.contains { $0 == name }
            || [
                "get", "find", "count", "explain", "distinct", "aggregate", "indexes", "collections", "collectionInfo",
                "referrers", "danglingReferences", "complete", "suggest",
            ].contains { $0 == name }
    }

    /// Runs requests in the transaction that is open, or in one of their own. Ctrl-C cancels it.
    func inTransaction(isWrite: Bool, _ body: (Int) throws -> Void) throws {
        let runner = runner
        let number = try transaction ?? runner.begin(write: isWrite)
        do {
            try ShellInterrupt.during(
                cancel: { runner.cancel(number) }
            ) { try body(number) }
        } catch {
            let isCancelled = (error as? CommandError)?.code == "CANCELLED"
            guard transaction == nil || isCancelled else { throw error }
            _ = try? runner.run(["op": "abort", "transaction": BSONValue(number)])
            guard isCancelled else { throw error }
            let hadBegun = transaction != nil
            (transaction, savepoints) = (nil, 0)
            throw CommandError(
                code: "CANCELLED", message: "The statement was cancelled",
                remedy: hadBegun ? "the transaction was rolled back" : "", status: .interrupted)
        }
        if transaction == nil { try runner.run(["op": "commit", "transaction": BSONValue(number)]) }
    }

    /// Writes the documents of a query or a pipeline.
    private func showDocuments(_ request: BSONDocument) throws {
        // A pipeline may write, or give other documents the second time.
        let isPipeline = request["pipeline"] != nil
        var kept: [BSONDocument] = []
        if isPipeline, [.table, .csv].contains(output.mode) { try runner.documents(request) { kept.append($0) } }
        let count = try output.documents { body in
            if isPipeline, [.table, .csv].contains(output.mode) { return try kept.forEach(body) }
            try runner.documents(request) { document in
                try ShellInterrupt.check()
                try body(document)
            }
        }
        if count == 0, output.terminal.isInteractive { try output.line(output.terminal.dim("no documents")) }
    }

    private func show(_ statement: Statement, _ response: BSONDocument) throws {
        switch statement.shown {
        case .documents: _ = try output.documents { try response.documentList("groups").forEach($0) }
        case .document: try output.value(response["document"] ?? .null)
        case .values: for value in response["values"]?.arrayValue ?? [] { try output.value(value) }
        case .plan:
            try show(plan: response.explainedPlan, of: statement.request)
        case .summary: try output.line(TextTable.printable(Self.summary(statement.request, response)))
        case .response: try output.value(.document(response))
        }
    }

    private func show(plan: BSONDocument, of request: BSONDocument) throws {
        guard plan["stages"] == nil, output.terminal.isInteractive || output.mode != .json else {
            return try output.value(.document(plan))
        }
        let formatter = PlanFormatter(plan, terminal: output.terminal) { keys in
            TextTable.printable("index \(request["collection"]?.stringValue ?? "") \(keys.json())")
        }
        for line in formatter.lines() { try output.line(line) }
    }

    /// What a statement has done, in words.
    private static func summary(_ request: BSONDocument, _ response: BSONDocument) -> String {
        let name = request["collection"]?.stringValue ?? ""
        if let count = response["count"]?.intValue { return String(count) }
        if let ids = response["ids"]?.arrayValue {
            let list = ids.prefix(10).map(\.description).joined(separator: ", ")
            return "\(NumberFormat.count(ids.count, "document")) saved: \(list)\(ids.count > 10 ? ", …" : "")"
        }
        if let matched = response["matched"]?.intValue {
            let inserted = response["upserted"]?.arrayValue?.map(\.description).joined(separator: ", ") ?? ""
            return "\(NumberFormat.count(matched, "document")) matched, \(response["modified"]?.intValue ?? 0) modified"
                + (inserted.isEmpty ? "" : ", inserted: \(inserted)")
        }
        if let removed = response["removed"]?.intValue { return "\(NumberFormat.count(removed, "document")) removed" }
        if let index = response["name"]?.stringValue { return "Index \(index) is ready" }
        switch request["op"]?.stringValue {
        case "dropIndex": return "Index \(request["name"]?.stringValue ?? "") dropped"
        case "createCollection": return "Collection \(name) is ready"
        case "dropCollection": return "Collection \(name) dropped"
        case "renameCollection": return "Collection \(name) renamed to \(request["to"]?.stringValue ?? "")"
        default: return response.json()
        }
    }
}

extension BSONDocument {
    /// The plan in the response to a statement that explains.
    var explainedPlan: BSONDocument {
        self["plan"]?.documentValue ?? documentList("documents").first ?? documentList("groups").first ?? [:]
    }
}

extension OpenDatabase {
    /// - Throws: `CommandError` when a collection does not exist, also as the commands of a transaction see it.
    func checkCollection(_ name: String, in transaction: Int?, _ runner: JSONRunner) throws {
        guard let transaction else { return try checkCollection(name) }
        let response = try runner.run(["op": "collections", "transaction": BSONValue(transaction)])
        guard !response.documentList("collections").contains(where: { $0["name"]?.stringValue == name }) else { return }
        throw CommandError(code: "NOT_FOUND", message: "Collection \"\(name)\" does not exist", path: path)
    }
}

extension JSONRunner {
    /// Begins a transaction, and returns its number.
    func begin(write: Bool) throws -> Int {
        let response = try run(["op": "begin", "mode": write ? "write" : "read"])
        return response["transaction"]?.intValue ?? 0
    }

    /// Ends what runs in a transaction, from another thread.
    func cancel(_ transaction: Int) { _ = try? run(["op": "cancel", "transaction": BSONValue(transaction)]) }

    /// Calls a closure with the documents that a request finds. A batch has about a megabyte, as far as the one before tells.
    func documents(_ request: BSONDocument, _ body: (BSONDocument) throws -> Void) throws {
        var request = request
        var batch = 8
        request["batch"] = BSONValue(batch)
        while true {
            let response = try run(request)
            let documents = response.documentList("documents")
            let cursor = response["cursor"] ?? .null
            do { for document in documents { try body(document) } } catch {
                if !cursor.isNull { _ = try? run(["op": "closeCursor", "cursor": cursor]) }
                throw error
            }
            if cursor.isNull { return }
            let size = response.bytes.count / max(1, documents.count)
            batch = max(1, min(batch * 4, (1 << 20) / max(1, size)))
            request = ["op": "next", "cursor": cursor, "batch": BSONValue(batch)]
        }
    }
}
