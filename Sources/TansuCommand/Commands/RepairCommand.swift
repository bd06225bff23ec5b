import ArgumentParser
import Tansu
import TansuBSON

struct RepairCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Salvages a damaged database into a new one.",
        discussion: """
            Every document that can be read goes into the new database, with its collections and indexes; \
            the damaged one is not changed. When something was lost, it is listed on standard error, with \
            the documents that may not be what they were, and the command exits with 1.

            EXAMPLE:
              tansu repair people.tansu mended.tansu
            """
    )

    @Argument(help: "The damaged database's folder.", completion: .directory)
    var from: String
    @Argument(help: "The new database's folder; nothing may be there yet.", completion: .directory)
    var to: String
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        let report = try ProgressLine.telling(label: from) { progress in
            try creating(to) { try Database.repair(from: from, to: to, progress: progress) }
        }
        if !output.json {
            ReportText.tell(report.problems, of: report.problemCount)
            ReportText.tell(
                report.doubtful, of: report.unprotected + report.olderDocuments + report.uncertainDocuments)
        }
        let lost = report.isComplete ? "" : "; \(losses(report))"
        try printAnswer(
            [
                "to": .string(to), "documents": BSONValue(report.documents),
                "unprotected": BSONValue(report.unprotected),
                "collections": BSONValue(report.collections), "indexes": BSONValue(report.indexes),
                "lostBytes": BSONValue(report.lostBytes), "lostCommits": BSONValue(report.lostCommits),
                "lostDocuments": BSONValue(report.lostDocuments),
                "olderDocuments": BSONValue(report.olderDocuments),
                "uncertainDocuments": BSONValue(report.uncertainDocuments),
                "doubtful": ReportText.documents(report.doubtful),
                "byCollection": BSONValue(report.byCollection.map { .document(figures($0)) }),
                "problems": ReportText.documents(report.problems),
                "problemCount": BSONValue(report.problemCount),
            ],
            text: "\(Numbers.count(report.documents, "document")) of "
                + "\(Numbers.count(report.collections, "collection")) salvaged to \(to)\(lost)",
            asJSON: output.json)
        return report.isComplete ? .success : .incomplete
    }

    /// What was lost, in words: "3 commits, 2 documents and 4 KB could not be read".
    private func losses(_ report: Database.RepairReport) -> String {
        "\(Numbers.count(report.lostCommits, "commit")), \(Numbers.count(report.lostDocuments, "known document")) and "
            + "\(Numbers.bytes(Int64(report.lostBytes))) could not be read"
    }

    private func figures(_ collection: Database.CollectionFigures) -> BSONDocument {
        [
            "name": .string(collection.name), "documents": BSONValue(collection.documents),
            "unprotected": BSONValue(collection.unprotected), "older": BSONValue(collection.older),
            "uncertain": BSONValue(collection.uncertain), "lost": BSONValue(collection.lost),
        ]
    }
}
