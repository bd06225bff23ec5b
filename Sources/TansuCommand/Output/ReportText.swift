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

    /// A document that may not be what it was, on one line: "people, 7: it is an older version".
    static func line(_ doubt: Database.DoubtfulDocument) -> String {
        let why =
            switch doubt.reason {
            case .unprotected: "no checksum protects it; a value in it may be wrong"
            case .older: "it is an older version; the newest is lost"
            case .uncertain: "a lost commit may have changed or deleted it"
            }
        return TextTable.printable("\(doubt.collection), \(doubt.id): \(why)")
    }

    static func documents(_ doubts: [Database.DoubtfulDocument]) -> BSONValue {
        BSONValue(
            doubts.map {
                .document([
                    "collection": .string($0.collection), "_id": $0.id, "reason": .string($0.reason.rawValue),
                ])
            })
    }

    /// Tells of documents on standard error that may not be what they were, and how many more there are.
    static func tell(_ doubts: [Database.DoubtfulDocument], of count: Int) {
        for doubt in doubts { writeError("tansu: \(line(doubt))") }
        if count > doubts.count { writeError("tansu: and \(Numbers.grouped(count - doubts.count)) more") }
    }
}
