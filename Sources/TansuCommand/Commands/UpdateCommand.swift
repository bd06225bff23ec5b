import ArgumentParser
import Tansu
import TansuBSON

struct UpdateCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Updates the documents that a query matches.",
        discussion: """
            The operations are a JSON object with operators such as $set, $inc and $push; with --replace, a \
            document that replaces a single match. All documents are updated in one transaction; an operation \
            that fails for one document aborts it. The exit code is 1 when no document matched and none was inserted.

            EXAMPLES:
              tansu update people.tansu people '{"name": "Ann"}' '{"$inc": {"age": 1}}'
              tansu update people.tansu people '{}' '{"$set": {"a": 1}}' --orderby -age
              tansu update people.tansu people '{"_id": 5}' '{"$set": {"n": 1}}' --upsert
              tansu update people.tansu people '{"_id": 5}' '{"name": "Ann"}' --replace
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The query, a JSON object. {} matches every document.") var query: String
    @Argument(
        help: "The update operations, a JSON object such as {\"$set\": {\"age\": 13}}; with --replace a document.")
    var operations: String
    @Argument(help: "Hints, a JSON object such as {\"$arrayFilters\": [{\"big.n\": {\"$gt\": 5}}]}.")
    var hints: String = "{}"
    @OptionGroup var order: OrderOption
    @OptionGroup var range: RangeOptions
    @Flag(help: "Insert a document when no document matches.") var upsert = false
    @Flag(help: "Replace the whole document that matches.") var replace = false
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        let query = try JSONArguments.document(query, name: "query")
        var operations = try JSONArguments.document(operations, name: "operations")
        if replace {
            operations = ["$replace": .document(try CommandLimits.here.stored(operations, in: target.collection))]
        }
        try CommandLimits.here.check(operations: operations, in: target.collection, isReplicated: false)
        let hints = try resolvedHints()
        return try OpenDatabase.with(target, .write) { opened in
            try opened.checkCollection(target.collection)
            let isReplicated = try opened.isReplicated(target.collection)
            try CommandLimits.here.check(operations: operations, in: target.collection, isReplicated: isReplicated)
            let result = try opened.database.write { transaction in
                do {
                    let collection = try transaction.collection(target.collection)
                    let result = try collection.update(query, operations, hints: hints)
                    for id in isReplicated ? result.upserted : [] {
                        if let document = try collection.get(id) {
                            try SyncLayer.check(document, in: target.collection)
                        }
                    }
                    return result
                } catch let error as TansuError { throw failure(error) }
            }
            try printResult(
                [
                    "matched": BSONValue(result.matched), "modified": BSONValue(result.modified),
                    "upserted": BSONValue(result.upserted), "removed": BSONValue(result.removed),
                ],
                text: summary(result), asJSON: output.json)
            return result.matched == 0 && result.upserted.isEmpty ? .incomplete : .success
        }
    }

    /// An error in the words of the options.
    private func failure(_ error: TansuError) -> CommandError {
        var failure = CommandError(error)
        guard error.code == .invalidQuery, failure.message.contains("can replace only one") else { return failure }
        failure.message = failure.message.prefixUntil(";").replacing(
            "\"$replace\"", with: replace ? "\"--replace\"" : "\"$replace\"")
        failure.remedy = "give \"--limit 1\", or use \"$set\""
        return failure
    }

    /// A summary of the result: "2 documents matched, 1 modified".
    private func summary(_ result: Database.UpdateResult) -> String {
        var text = "\(NumberFormat.count(result.matched, "document")) matched"
        text += result.removed > 0 ? ", \(result.removed) removed" : ", \(result.modified) modified"
        if !result.upserted.isEmpty {
            text += ", inserted: " + result.upserted.map(\.description).joined(separator: ", ")
        }
        return text
    }

    private func resolvedHints() throws -> BSONDocument {
        var hints = try JSONArguments.document(hints, name: "hints")
        try order.add(to: &hints)
        try range.add(to: &hints)
        try JSONArguments.add(upsert ? .bool(true) : nil, "$upsert", "--upsert", to: &hints)
        return hints
    }
}
