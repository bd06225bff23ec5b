import Tansu
import TansuBSON

/// What long tasks on a whole database came to, for people.
enum ReportText {
    /// A problem on one line: "log-1.tlog at 4,096, people, by_name: the checksum is wrong".
    static func line(_ problem: Database.Problem) -> String {
        var place = problem.file
        if let offset = problem.offset { place += "\(place.isEmpty ? "byte" : " at") \(Numbers.grouped(offset))" }
        let parts = [place, problem.collection ?? "", problem.index ?? ""].filter { !$0.isEmpty }
        return TextTable.printable((parts.isEmpty ? "" : parts.joined(separator: ", ") + ": ") + problem.message)
    }

    /// A problem as a document, without what is not known.
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

    /// Tells of problems on standard error, and how many more there are than the report lists.
    static func tell(_ problems: [Database.Problem], of count: Int) {
        for problem in problems { writeError("tansu: \(line(problem))") }
        if count > problems.count { writeError("tansu: and \(Numbers.grouped(count - problems.count)) more") }
    }
}
