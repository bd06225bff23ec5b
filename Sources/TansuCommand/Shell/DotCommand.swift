import Foundation
import Tansu
import TansuBSON

/// The commands of the shell that begin with a dot: what is no statement.
struct DotCommand: Sendable {
    let name: String
    /// The arguments, for the help.
    let arguments: String
    let help: String
    /// Returns whether the shell goes on.
    let run: @Sendable (Shell, inout RelaxedScanner) throws -> Bool

    /// Runs a line, which has a number in a script.
    static func run(_ text: String, in shell: Shell, line: Int = 1) throws -> Bool {
        var scanner = RelaxedScanner(text, variables: shell.variables)
        let name = scanner.token()
        guard let command = all.first(where: { $0.name == name }) else {
            let nearest = Suggestion.nearest(to: name, of: all.map(\.name))
            throw CommandError(
                code: "INVALID_STATEMENT", message: "The shell has no command \"\(Suggestion.shown(name))\"",
                remedy: nearest.map { "did you mean \"\($0)\"?" } ?? "\".help\" lists the commands",
                status: .invalidInput)
        }
        do {
            let goesOn = try command.run(shell, &scanner)
            scanner.skipSpace()
            guard scanner.isAtEnd else { throw scanner.error("\"\(name)\" takes no more arguments") }
            return goesOn
        } catch { throw Shell.located(error, in: text, firstLine: line) }
    }

    static let all: [DotCommand] = [
        DotCommand(name: ".help", arguments: "", help: "list the statements and commands") { shell, _ in
            try shell.output.collecting { try shell.output.line(helpText) }
            return true
        },
        DotCommand(name: ".collections", arguments: "", help: "list the collections") { shell, _ in
            try shell.table(["op": "collections"], "collections", ["name", "documents"])
        },
        DotCommand(name: ".indexes", arguments: "[c]", help: "list the indexes of a collection") { shell, scanner in
            let name = try shell.collection(&scanner)
            return try shell.table(
                ["op": "indexes", "collection": .string(name)], "indexes", ["name", "keys", "entries"])
        },
        DotCommand(name: ".schema", arguments: "[c]", help: "describe the documents of a collection") {
            shell, scanner in
            let name = try shell.collection(&scanner)
            var sample = SchemaSample()
            try shell.inTransaction(isWrite: false) { number in
                let request: BSONDocument = [
                    "op": "aggregate", "collection": .string(name), "transaction": BSONValue(number),
                    "pipeline": [["$sample": ["size": 1000]]],
                ]
                try shell.runner.documents(request) { sample.add($0) }
            }
            try shell.output.collecting {
                if shell.output.mode == .json { return try shell.output.value(.document(sample.document)) }
                for line in sample.text(shell.output.terminal) { try shell.output.line(line) }
            }
            return true
        },
        DotCommand(name: ".use", arguments: "c", help: "name the collection of statements that name none") {
            shell, scanner in
            shell.current = try scanner.word()
            return true
        },
        DotCommand(name: ".mode", arguments: "json|pretty|table|csv", help: "choose the form of documents") {
            shell, scanner in
            let modes = ShellOutput.Mode.allCases
            let word = try scanner.word() ?? ""
            guard let mode = modes.first(where: { $0.rawValue == word }) else {
                throw scanner.error("The modes are \(modes.map(\.rawValue).joined(separator: ", "))")
            }
            shell.output.mode = mode
            return true
        },
        DotCommand(name: ".timer", arguments: "on|off", help: "print how long each statement takes") { shell, scanner in
            shell.showsTime = try flag(&scanner)
            return true
        },
        DotCommand(name: ".explain", arguments: "on|off", help: "print the plan of each query") { shell, scanner in
            shell.showsPlans = try flag(&scanner)
            return true
        },
        DotCommand(
            name: ".set", arguments: "[name value]",
            help: "set a variable, which statements use as $$name; or list them"
        ) { shell, scanner in
            guard let name = try scanner.word() else {
                try shell.output.collecting {
                    for (name, value) in shell.variables.sorted(by: { $0.key < $1.key }) {
                        try shell.output.line(TextTable.printable("$$\(name.text) = \(value)"))
                    }
                }
                return true
            }
            shell.variables[BytewiseText(name)] = try scanner.value()
            return true
        },
        DotCommand(name: ".begin", arguments: "", help: "begin a transaction") { shell, _ in
            guard shell.transaction == nil else { throw wrongState("A transaction is open already", ".savepoint") }
            shell.transaction = try shell.runner.begin(write: !shell.isReader)
            return true
        },
        DotCommand(name: ".commit", arguments: "", help: "commit the transaction") { shell, _ in
            try shell.end("commit")
        },
        DotCommand(
            name: ".rollback", arguments: "", help: "undo everything since the last .savepoint, or else since .begin"
        ) { shell, _ in
            guard shell.savepoints > 0 else { return try shell.end("abort") }
            try shell.inOpenTransaction("rollBackSavepoint")
            shell.savepoints -= 1
            return true
        },
        DotCommand(name: ".savepoint", arguments: "", help: "begin a savepoint in the transaction") { shell, _ in
            try shell.inOpenTransaction("savepoint")
            shell.savepoints += 1
            return true
        },
        DotCommand(name: ".release", arguments: "", help: "end the last savepoint, and keep its changes") { shell, _ in
            guard shell.savepoints > 0 else { throw wrongState("There is no savepoint", ".savepoint") }
            try shell.inOpenTransaction("releaseSavepoint")
            shell.savepoints -= 1
            return true
        },
        DotCommand(name: ".read", arguments: "FILE", help: "run the statements of a file") { shell, scanner in
            let path = try file(&scanner)
            guard shell.depth < 16 else { throw wrongState("Files are read too deeply within each other", ".read") }
            shell.depth += 1
            defer { shell.depth -= 1 }
            return try Script.run(try openByteSource(path: path), in: shell)
        },
        DotCommand(
            name: ".output", arguments: "[FILE]", help: "write results to a file, or to the terminal again"
        ) { shell, scanner in
            scanner.skipSpace()
            try shell.output.send(to: scanner.isAtEnd ? nil : file(&scanner))
            return true
        },
        DotCommand(name: ".open", arguments: "DB", help: "open another database") { shell, scanner in
            try shell.open(file(&scanner))
            return true
        },
        DotCommand(name: ".stats", arguments: "", help: "print the statistics of the database") { shell, _ in
            let stats = StatisticsFormatter.stored(try shell.opened.database.stats())
            try shell.output.collecting {
                if shell.output.mode == .json { return try shell.output.value(.document(stats)) }
                for line in StatisticsFormatter.lines(stats, terminal: shell.output.terminal) {
                    try shell.output.line(line)
                }
            }
            return true
        },
        DotCommand(name: ".quit", arguments: "", help: "end the shell, as Ctrl-D does") { _, _ in false },
    ]

    private static func flag(_ scanner: inout RelaxedScanner) throws -> Bool {
        switch try scanner.word() {
        case "on": true
        case "off": false
        default: throw scanner.error("Expected \"on\" or \"off\"")
        }
    }

    /// The path that is the rest of the line, which may be in quotes.
    private static func file(_ scanner: inout RelaxedScanner) throws -> String {
        scanner.skipSpace()
        guard let byte = scanner.peek else { throw scanner.error("Expected a path") }
        return RelaxedScanner.isQuote(byte) ? try scanner.word() ?? "" : scanner.rest()
    }

    static func wrongState(_ message: String, _ path: String) -> CommandError {
        CommandError(code: "INVALID_STATE", message: message, path: path, status: .invalidInput)
    }

    private static var helpText: String {
        let width = all.map { $0.name.count + $0.arguments.count + 1 }.max() ?? 0
        let lines = all.map { command in
            let head = "\(command.name) \(command.arguments)"
            return "  \(head)\(String(repeating: " ", count: width - head.count))  \(command.help)"
        }
        return """
            Statements end with their line when all brackets are closed, or with a semicolon:
              find people {age: {$gt: 30}} sort {name: 1} limit 5
              count people {age: 30}          distinct people pets.species
              get people 7                    aggregate people [{$sortByCount: "$age"}]
              save people {name: 'Ann'}       update people {name: 'Ann'} {$inc: {age: 1}} upsert
              remove people {age: 30}         replace people {_id: 7} {name: 'Ann'}
              index people name,-age          dropindex people name_1_age_-1
              create people   drop people     rename people friends
              explain find people {age: 30}   {op: "count", collection: "people"}
            Clauses of a query: \(StatementWords.clauses.joined(separator: ", ")). Commands:
            \(lines.joined(separator: "\n"))
            """
    }
}

// MARK: - What the commands do with a shell

extension Shell {
    /// The collection that a command names, or else the current one.
    fileprivate func collection(_ scanner: inout RelaxedScanner) throws -> String {
        guard let name = try scanner.word() ?? current else { throw scanner.error("Expected the name of a collection") }
        try opened.checkCollection(name, in: transaction, runner)
        return name
    }

    /// Writes the documents of a response as a table.
    fileprivate func table(_ request: BSONDocument, _ member: String, _ columns: [String]) throws -> Bool {
        var request = request
        if let transaction { request["transaction"] = BSONValue(transaction) }
        let documents = try runner.run(request).documentList(member)
        try output.collecting {
            if output.mode == .json { return try documents.forEach { try output.value(.document($0)) } }
            let lines = TextTable(documents, columns: columns).lines(
                maximumWidth: output.terminal.width, style: output.terminal)
            for line in documents.isEmpty ? [] : lines { try output.line(line) }
        }
        return true
    }

    fileprivate func inOpenTransaction(_ operation: String) throws {
        guard let transaction else { throw DotCommand.wrongState("No transaction is open", ".begin") }
        try runner.run(["op": .string(operation), "transaction": BSONValue(transaction)])
    }

    /// Ends the transaction.
    fileprivate func end(_ operation: String) throws -> Bool {
        defer { (transaction, savepoints) = (nil, 0) }
        try inOpenTransaction(operation)
        return true
    }

    /// Opens another database instead of the present one, whose transaction must have ended.
    fileprivate func open(_ path: String) throws {
        guard transaction == nil else { throw DotCommand.wrongState("A transaction is open", ".open") }
        let new: OpenDatabase
        do { new = try OpenDatabase(path: path, mode: isReader ? .read : .write, opening) } catch {
            var failure = CommandError(error)
            // Only the options of the shell name a key.
            if ["ENCRYPTED", "WRONG_KEY"].contains(where: { $0 == failure.code }) {
                failure.remedy = "open it by \"tansu shell\" with its key"
            }
            throw failure
        }
        let old = opened
        (opened, current) = (new, nil)
        completion.forget()
        try old.database.close()
    }
}
