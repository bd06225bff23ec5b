import ArgumentParser
import Tansu
import TansuBSON

extension IndexCommand {
    struct Advise: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Suggests indexes for the queries of a file.",
            discussion: """
                Standard input, or --file, is a script of "tansu shell", also of JSON commands, in which ".use" counts; \
                what is no query is skipped. Each query is run once without changing anything, and the planner says which \
                index would have \
                served it. Suggestions of which one is the beginning of another are one. "wasted" is the number of documents \
                that the queries examined and did not return, "ms" how long they took.

                The exit code is 1 when no index is suggested.

                EXAMPLE:
                  echo 'find people {zip: 5}' | tansu index advise people.tansu
                """
        )

        @OptionGroup var target: DatabaseArgument
        @Option(
            name: .shortAndLong, help: ArgumentHelp("The file with the queries.", valueName: "file"),
            completion: .file())
        var file = "-"
        @OptionGroup var output: OutputOptions

        func execute() throws -> CommandExitCode {
            var lines = LineReader(try openByteSource(path: file), limit: ExecCommand.lineLimit)
            return try OpenDatabase.with(target, .read) { opened in
                var queries = QueryScript(runner: JSONRunner(database: opened.database))
                try queries.run(&lines)
                try write(queries.advice, queries.skipped)
                return queries.advice.result().isEmpty ? .incomplete : .success
            }
        }

        private func write(_ advice: IndexAdvice, _ skipped: Int) throws {
            let proposals = advice.result()
            if output.json {
                let list = proposals.map { proposal -> BSONValue in
                    [
                        "collection": .string(proposal.collection), "keys": .document(proposal.keys),
                        "queries": BSONValue(proposal.queries), "wasted": BSONValue(proposal.wasted),
                        "milliseconds": .double(proposal.milliseconds), "example": .string(proposal.example),
                    ]
                }
                return try printResult(
                    [
                        "queries": BSONValue(advice.queries), "served": BSONValue(advice.served),
                        "skipped": BSONValue(skipped), "indexes": BSONValue(list),
                    ], text: "", asJSON: true)
            }
            try printLine(
                "\(NumberFormat.count(advice.queries, "query", "queries")), \(advice.served) served by an index"
                    + (skipped == 0 ? "" : ", \(NumberFormat.count(skipped, "line")) skipped"))
            guard !proposals.isEmpty else { return }
            var table = TextTable(headings: ["collection", "keys", "queries", "wasted", "ms", "example"])
            table.rows = proposals.map { proposal in
                [
                    TextTable.Cell(proposal.collection), TextTable.Cell(proposal.keys.json()),
                    TextTable.Cell(String(proposal.queries), alignment: .right),
                    TextTable.Cell(NumberFormat.grouped(proposal.wasted), alignment: .right),
                    TextTable.Cell(NumberFormat.decimals(proposal.milliseconds, 1), alignment: .right),
                    TextTable.Cell(proposal.example),
                ]
            }
            for line in table.lines(maximumWidth: Terminal.output.width, style: .output) { try printLine(line) }
            try printLine("")
            for proposal in proposals {
                let command = OpenDatabase.indexCommand(
                    target.database, proposal.collection, keys: proposal.keys, key: target.opening.key)
                try printLine(TextTable.printable(command))
            }
        }
    }
}

/// The queries of a script of the shell, which are run to learn what indexes they need.
private struct QueryScript {
    let runner: JSONRunner
    var advice = IndexAdvice()
    /// How many statements were no queries.
    var skipped = 0
    /// The collection of statements that name none.
    private var current: String?

    init(runner: JSONRunner) { self.runner = runner }

    /// Runs the queries of the lines. A signal cancels the running one, too.
    mutating func run(_ lines: inout LineReader) throws {
        let transaction = try runner.begin(write: false)
        defer { _ = try? runner.run(["op": "abort", "transaction": BSONValue(transaction)]) }
        let runner = runner
        try Interruption.handled(cancel: { runner.cancel(transaction) }) {
            var numbered = NumberedStatements()
            var isAtEnd = false
            while !isAtEnd {
                try Interruption.check()
                let statements: [NumberedStatements.Statement]
                switch try lines.next() {
                case .text(let bytes):
                    guard let text = String(utf8: bytes) else {
                        numbered.skipLine()
                        skip("The line is not valid UTF-8", numbered.line)
                        continue
                    }
                    statements = numbered.add(text)
                case .tooLong:
                    numbered.skipLine()
                    skip("The line is too long", numbered.line)
                    continue
                case nil:
                    statements = numbered.end()
                    isAtEnd = true
                }
                for statement in statements {
                    do {
                        if try !add(statement.text, in: transaction) { skipped += 1 }
                    } catch {
                        try Interruption.check()
                        skip(CommandError(Shell.located(error, in: statement.text)).message, statement.line)
                    }
                }
            }
        }
    }

    private mutating func skip(_ reason: String, _ line: Int) {
        writeError(TextTable.printable("tansu: line \(line): \(reason)"))
        skipped += 1
    }

    /// Runs a query, and returns whether the text is one, or says something about the queries after it.
    private mutating func add(_ text: String, in transaction: Int) throws -> Bool {
        let text = text.trimmingSpaces
        if Shell.isComment(text) { return true }
        if text.hasPrefix(".") {
            var scanner = RelaxedScanner(text)
            let command = scanner.token()
            guard command == ".use" else { return false }
            current = try scanner.word()
            return true
        }
        let statement = try StatementParser.parse(text, current: current)
        // A pipeline that writes is not run.
        guard let plan = statement.explained, let name = plan.request["collection"]?.stringValue,
            !CommandLimits.isWrite(plan.request)
        else { return false }
        var request = plan.request
        request["transaction"] = BSONValue(transaction)
        advice.add(try runner.run(request).explainedPlan, collection: name, example: text)
        return true
    }
}
