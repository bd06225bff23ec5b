import ArgumentParser
import Tansu
import TansuBSON

extension IndexCommand {
    struct Advise: Subcommand {
        static let configuration = CommandConfiguration(
            abstract: "Suggests indexes for the queries of a file.",
            discussion: """
                Each line of standard input, or of --file, is a query: a statement of "tansu shell" or a JSON command; others \
                are skipped. Each query is run once without changing anything, and the planner says which index would have \
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
                let runner = JSONRunner(database: opened.database)
                var advice = IndexAdvice()
                var (number, skipped) = (0, 0)
                try Interruption.handled {
                    while let line = try lines.next() {
                        try Interruption.check()
                        number += 1
                        guard case .text(let bytes) = line, let text = String(utf8: bytes), !text.trimmingSpaces.isEmpty
                        else { continue }
                        do {
                            if try !Self.add(text, to: &advice, runner) { skipped += 1 }
                        } catch {
                            let failure = CommandError(Shell.located(error, in: text))
                            writeError(TextTable.printable("tansu: line \(number): \(failure.message)"))
                            skipped += 1
                        }
                    }
                }
                try write(advice, skipped)
                return advice.result().isEmpty ? .incomplete : .success
            }
        }

        /// Runs a query, unless the line is something else.
        private static func add(_ text: String, to advice: inout IndexAdvice, _ runner: JSONRunner) throws -> Bool {
            let statement = try StatementParser.parse(text)
            guard let plan = statement.explained, let name = plan.request["collection"]?.stringValue else {
                return false
            }
            // A pipeline that writes is not run.
            guard !JSONRunner.isWrite(plan.request) else { return false }
            let response = try runner.run(plan.request)
            advice.add(response.explainedPlan, collection: name, example: text.trimmingSpaces)
            return true
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
                let command = OpenDatabase.indexCommand(target.database, proposal.collection, keys: proposal.keys)
                try printLine(TextTable.printable(command))
            }
        }
    }
}
