import Tansu
import TansuBSON

/// The words that Tab offers in the shell.
final class Completion {
    /// Names of fields by collection, as far as some documents tell.
    private var fields: [BytewiseText: [String]] = [:]

    private static let sampleCount = 100
    /// What may stand after a `$`: the operators of conditions, stages, updates and groups that are used most.
    private static let operators = [
        "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$and", "$or", "$nor", "$not", "$exists", "$type",
        "$regex", "$begin", "$elemMatch", "$all", "$size", "$mod", "$text", "$expr", "$jsonSchema", "$match", "$group",
        "$project", "$set", "$unset", "$unwind", "$lookup", "$sort", "$limit", "$skip", "$count", "$sortByCount",
        "$facet", "$bucket", "$sample", "$out", "$merge", "$inc", "$mul", "$min", "$max", "$push", "$addToSet",
        "$pull", "$pop", "$rename", "$setOnInsert", "$sum", "$avg", "$first", "$last", "$dateTrunc",
    ]

    /// Forgets what a statement may have changed.
    func forget() { fields = [:] }

    /// The words for the last one of a text.
    func words(for text: String, _ word: String, in shell: Shell) -> [String] {
        let before = String(decoding: text.utf8.dropLast(word.utf8.count), as: UTF8.self)
        if before.trimmingSpaces.isEmpty {
            let words = word.hasPrefix(".") ? DotCommand.all.map(\.name) : StatementWords.verbs
            return words.filter { $0.hasPrefix(word) }
        }
        if word.hasPrefix("$$") {
            return shell.variables.keys.map { "$$\($0.text)" }.sorted().filter { $0.hasPrefix(word) }
        }
        if word.hasPrefix("$") { return Self.operators.sorted().filter { $0.hasPrefix(word) } }
        return candidates(before, shell).filter { $0.hasPrefix(word) }
    }

    private func candidates(_ before: String, _ shell: Shell) -> [String] {
        var words = before.parts(separatedBy: " ", omittingEmpty: true)
        if words.first == "explain" { words.removeFirst() }
        let depth = before.utf8.reduce(0) { "{[".utf8.contains($1) ? $0 + 1 : "}]".utf8.contains($1) ? $0 - 1 : $0 }
        let collection = words.count > 1 && !words[1].hasPrefix("{") ? words[1] : shell.current
        if depth > 0 { return collection.map { fieldNames(of: $0, shell) } ?? [] }
        switch words.count {
        case 0: return StatementWords.verbs
        case 1 where [".mode", ".timer", ".explain"].contains { $0 == words[0] }:
            return words[0] == ".mode" ? ShellOutput.Mode.allCases.map(\.rawValue) : ["on", "off"]
        case 1: return (try? shell.opened.database.collectionNames()) ?? []
        default:
            let isPath = ["sort", "fields", "distinct", "index"].contains { $0 == words.last || $0 == words[0] }
            return StatementWords.clauses + (isPath ? collection.map { fieldNames(of: $0, shell) } ?? [] : [])
        }
    }

    private func fieldNames(of collection: String, _ shell: Shell) -> [String] {
        if let known = fields[BytewiseText(collection)] { return known }
        var names: [BytewiseText: Void] = [:]
        var request: BSONDocument = [
            "op": "find", "collection": .string(collection), "hints": ["$max": BSONValue(Self.sampleCount)],
        ]
        if let transaction = shell.transaction { request["transaction"] = BSONValue(transaction) }
        try? shell.runner.documents(request) { Self.add($0, "", depth: 0, to: &names) }
        let sorted = names.keys.map(\.text).filter { TextTable.printable($0) == $0 }.sorted()
        fields[BytewiseText(collection)] = sorted
        return sorted
    }

    private static func add(
        _ document: BSONDocument, _ prefix: String, depth: Int, to names: inout [BytewiseText: Void]
    ) {
        for (key, value) in document where names.count < 1000 {
            names[BytewiseText(prefix + key)] = ()
            guard depth < 4 else { continue }
            let inner =
                value.documentValue.map { [$0] } ?? value.arrayValue?.prefix(10).compactMap(\.documentValue) ?? []
            for document in inner { add(document, "\(prefix)\(key).", depth: depth + 1, to: &names) }
        }
    }
}
