import ArgumentParser
import Tansu
import TansuBSON

struct RepairCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Salvages a corrupt database into a new one.",
        discussion: """
            The command copies every readable document into a new database and rebuilds collections and indexes. \
            It does not change the corrupt database. When data is lost, the command lists it on standard error, \
            together with documents whose content is uncertain, and exits with 1.

            EXAMPLE:
              tansu repair people.tansu repaired.tansu
            """
    )

    @Argument(help: "The folder of the corrupt database.", completion: .directory)
    var from: String
    @Argument(help: "The folder of the new database. It must not exist.", completion: .directory)
    var to: String
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try checkPath(from, of: "database")
        try checkPath(to, of: "new database")
    }

    func execute() throws -> CommandExitCode {
        let report = try ProgressBar.showing(label: from) { progress in
            try creatingDestination(to) { try Database.repair(from: from, to: to, progress: progress) }
        }
        if !output.json {
            let suspectCount = report.unprotected + report.olderDocuments + report.uncertainDocuments
            let lines =
                ProblemFormatter.lines(report.problems, of: report.problemCount)
                + ProblemFormatter.lines(report.suspects, of: suspectCount)
            for line in lines { writeError("tansu: \(line)") }
        }
        let lost = report.isComplete ? "" : "; \(losses(report))"
        try printResult(
            [
                "to": .string(to), "documents": BSONValue(report.documents),
                "unprotected": BSONValue(report.unprotected),
                "collections": BSONValue(report.collections), "indexes": BSONValue(report.indexes),
                "lostBytes": BSONValue(report.lostBytes), "lostCommits": BSONValue(report.lostCommits),
                "lostDocuments": BSONValue(report.lostDocuments),
                "olderDocuments": BSONValue(report.olderDocuments),
                "uncertainDocuments": BSONValue(report.uncertainDocuments),
                "suspects": ProblemFormatter.documents(report.suspects),
                "byCollection": BSONValue(report.byCollection.map { .document(statistics($0)) }),
                "problems": ProblemFormatter.documents(report.problems),
                "problemCount": BSONValue(report.problemCount),
            ],
            text: "\(NumberFormat.count(report.documents, "document")) of "
                + "\(NumberFormat.count(report.collections, "collection")) salvaged to \(to)\(lost)",
            asJSON: output.json, done: "\"\(to)\" is complete")
        return report.isComplete ? .success : .incomplete
    }

    /// A summary of the losses: "3 commits, 2 known documents and 4.0 kB could not be read".
    private func losses(_ report: Database.RepairReport) -> String {
        "\(NumberFormat.count(report.lostCommits, "commit")), "
            + "\(NumberFormat.count(report.lostDocuments, "known document")) and "
            + "\(NumberFormat.bytes(Int64(report.lostBytes))) could not be read"
    }

    private func statistics(_ collection: Database.SalvagedCollection) -> BSONDocument {
        [
            "name": .string(collection.name), "documents": BSONValue(collection.documents),
            "unprotected": BSONValue(collection.unprotected), "older": BSONValue(collection.older),
            "uncertain": BSONValue(collection.uncertain), "lost": BSONValue(collection.lost),
        ]
    }
}
