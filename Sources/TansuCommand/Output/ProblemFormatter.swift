import Tansu
import TansuBSON

/// The formatting of the problems that verification and repair report.
enum ProblemFormatter {
    /// The line of a problem: "log-1.tlog at 4,096, people, by_name: checksum mismatch".
    static func line(_ problem: Database.Problem) -> String {
        var location = problem.file
        if let offset = problem.offset {
            location += "\(location.isEmpty ? "byte" : " at") \(NumberFormat.grouped(offset))"
        }
        let parts = [location, problem.collection ?? "", problem.index ?? ""].filter { !$0.isEmpty }
        return TextTable.printable((parts.isEmpty ? "" : parts.joined(separator: ", ") + ": ") + problem.message)
    }

    /// A problem as a document that omits unknown properties.
    static func document(_ problem: Database.Problem) -> BSONDocument {
        var document: BSONDocument = [:]
        if !problem.file.isEmpty { document["file"] = .string(problem.file) }
        if let offset = problem.offset { document["offset"] = .int64(offset) }
        if let size = problem.size { document["size"] = BSONValue(size) }
        if let collection = problem.collection { document["collection"] = .string(collection) }
        if let index = problem.index { document["index"] = .string(index) }
        document["message"] = .string(problem.message)
        return document
    }

    static func documents(_ problems: [Database.Problem]) -> BSONValue {
        BSONValue(problems.map { .document(document($0)) })
    }

    /// The lines of problems, and a line with the number of problems that the report does not list.
    static func lines(_ problems: [Database.Problem], of count: Int) -> [String] {
        problems.map { line($0) } + remainder(count - problems.count)
    }

    /// The line of a document whose content is uncertain: "people, 7: it is an older version".
    static func line(_ document: Database.SuspectDocument) -> String {
        let why =
            switch document.reason {
            case .unprotected: "it has no valid checksum, so a value may be wrong"
            case .older: "it is an older version, the newest is lost"
            case .uncertain: "a lost commit may have changed or removed it"
            }
        return TextTable.printable("\(document.collection), \(document.id): \(why)")
    }

    static func documents(_ documents: [Database.SuspectDocument]) -> BSONValue {
        BSONValue(
            documents.map {
                .document([
                    "collection": .string($0.collection), "_id": $0.id, "reason": .string($0.reason.rawValue),
                ])
            })
    }

    /// The lines of documents whose content is uncertain, and a line with the number of those that are not listed.
    static func lines(_ documents: [Database.SuspectDocument], of count: Int) -> [String] {
        documents.map { line($0) } + remainder(count - documents.count)
    }

    private static func remainder(_ count: Int) -> [String] {
        count > 0 ? ["and \(NumberFormat.grouped(count)) more"] : []
    }
}
