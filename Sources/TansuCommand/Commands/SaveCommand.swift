import ArgumentParser
import TansuBSON

struct SaveCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Saves documents: inserts them, or replaces those with the same _id.",
        discussion: """
            The documents are JSON objects given as arguments, or come from standard input (one a line, or \
            one JSON array) when there is none. All of them are one commit: one bad document, and nothing \
            is saved. A document without _id gets one; the ids are printed. The database is made if it is \
            not there.

            EXAMPLES:
              tansu save people.tansu people '{"_id": "mike", "name": "Mike", "age": 12}'
              echo '{"name": "Ann", "age": 41}' | tansu save people.tansu people
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The documents; standard input when there is none.") var documents: [String] = []
    @Flag(help: "Refuse documents whose _id is taken, instead of replacing those.") var insert = false
    @OptionGroup var output: OutputOptions

    func execute() throws -> Outcome {
        let documents =
            documents.isEmpty
            ? try readDocuments()
            : try documents.map { try JSONArguments.document($0, name: "document") }
        return try Store.with(target.database, .create) { store in
            let collection = try store.database.collection(target.collection)
            let ids = insert ? try collection.insert(documents) : try collection.save(documents)
            try printAnswer(
                ["ids": BSONValue(ids)], text: ids.map(\.description).joined(separator: "\n"),
                asJSON: output.json)
            return .success
        }
    }

    private func readDocuments() throws -> [BSONDocument] {
        let reader = RecordReader(try openByteSource(path: "-"))
        var documents: [BSONDocument] = []
        while let record = try reader.next() {
            switch reader.document(of: record) {
            case .success(let document): documents.append(document)
            case .failure(let problem):
                throw CommandFailure(
                    code: "INVALID_JSON", message: problem.message,
                    path: "standard input, line \(record.line)",
                    remedy: "Nothing was saved.")
            }
        }
        guard !documents.isEmpty else {
            throw CommandFailure(
                code: "NO_INPUT", message: "There is no document to save.", path: "standard input",
                remedy: "Give it as an argument or on standard input.", status: .noInput)
        }
        return documents
    }
}
