import ArgumentParser
import TansuBSON

struct SaveCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Inserts documents, or replaces those with the same _id.",
        discussion: """
            The documents are JSON objects given as arguments. Without arguments, standard input has one object \
            per line or one JSON array. All documents are saved in one transaction; an invalid document aborts it. \
            A document without _id gets an ObjectID. The command prints the ids. It creates the database if it \
            does not exist.

            EXAMPLES:
              tansu save people.tansu people '{"_id": "mike", "name": "Mike", "age": 12}'
              echo '{"name": "Ann", "age": 41}' | tansu save people.tansu people
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The documents. The default is standard input.") var documents: [String] = []
    @Flag(help: "Fail when an _id exists already, instead of replacing the document.") var insert = false
    @OptionGroup var output: OutputOptions

    func execute() throws -> CommandExitCode {
        let documents =
            documents.isEmpty
            ? try readDocuments()
            : try documents.map { try JSONArguments.document($0, name: "document") }
        return try OpenDatabase.with(target.database, .create) { opened in
            let collection = try opened.database.collection(target.collection)
            let ids = insert ? try collection.insert(documents) : try collection.save(documents)
            try printResult(
                ["ids": BSONValue(ids)], text: ids.map(\.description).joined(separator: "\n"),
                asJSON: output.json)
            return .success
        }
    }

    private func readDocuments() throws -> [BSONDocument] {
        let reader = DocumentReader(try openByteSource(path: "-"))
        var documents: [BSONDocument] = []
        while let raw = try reader.next() {
            switch reader.parse(raw) {
            case .success(let document): documents.append(document)
            case .failure(let problem):
                throw CommandError(
                    code: "INVALID_JSON", message: problem.message,
                    path: "standard input, line \(raw.line)",
                    remedy: "no document was saved")
            }
        }
        guard !documents.isEmpty else {
            throw CommandError(
                code: "NO_INPUT", message: "There is no document to save", path: "standard input",
                remedy: "give it as an argument or on standard input", status: .noInput)
        }
        return documents
    }
}
