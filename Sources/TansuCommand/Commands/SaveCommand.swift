import ArgumentParser
import Tansu
import TansuBSON

struct SaveCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Inserts documents, or replaces those with the same _id.",
        discussion: """
            The documents are JSON objects given as arguments. Without arguments, standard input has one object \
            after another (each on one line or on several), one JSON array, or with --format a table with a header. \
            All documents are saved in one transaction; an invalid document aborts it. A document without _id gets \
            an ObjectID. The command prints the ids. It creates the database if it does not exist.

            EXAMPLES:
              tansu save people.tansu people '{"_id": "mike", "name": "Mike", "age": 12}'
              echo '{"name": "Ann", "age": 41}' | tansu save people.tansu people
              printf 'name,age\\nCem,33\\n' | tansu save people.tansu people --format csv --infer-types
            """
    )

    @OptionGroup var target: CollectionArgument
    @Argument(help: "The documents. The default is standard input.") var documents: [String] = []
    @Flag(help: "Fail when an _id exists already, instead of replacing the document.") var insert = false
    @OptionGroup var input: InputOptions
    @OptionGroup var output: OutputOptions

    /// The documents, and where each comes from.
    private typealias Input = (documents: [BSONDocument], locations: [String])

    func execute() throws -> CommandExitCode {
        var input = try documents.isEmpty ? readDocuments() : parseArguments()
        input.documents = try input.documents.map { try CommandLimits.here.stored($0, in: target.collection) }
        return try OpenDatabase.with(target, .create) { opened in
            if try opened.isReplicated(target.collection) { try checkReplicable(input) }
            let collection = try opened.database.collection(target.collection)
            do {
                let ids = try insert ? collection.insert(input.documents) : collection.save(input.documents)
                try printResult(
                    ["ids": BSONValue(ids)], text: ids.map(\.description).joined(separator: "\n"),
                    asJSON: output.json)
                return .success
            } catch let error as TansuError {
                throw failure(error, input)
            }
        }
    }

    private func checkReplicable(_ input: Input) throws {
        for (index, document) in input.documents.enumerated() {
            do { try SyncLayer.check(document, in: target.collection) } catch var error as CommandError {
                error.document = index
                error.path = input.locations[index]
                error.remedy = "no document was saved"
                throw error
            }
        }
    }

    /// The error with the document that caused it, when it is one of several.
    private func failure(_ error: TansuError, _ input: Input) -> CommandError {
        var failure = CommandError(error)
        guard let offset = error.offset, let index = Int(exactly: offset), input.documents.indices.contains(index)
        else { return failure }
        if error.code == .exists, let id = input.documents[index]["_id"] {
            failure.message = "A document with the _id \(id) exists in collection \"\(target.collection)\""
            failure.remedy = "leave out \"--insert\" to replace it"
        }
        guard [.exists, .notUnique, .invalidDocument, .invalidBSON, .invalidID, .tooLarge].contains(error.code)
        else { return failure }
        failure.document = index
        failure.path = [input.locations[index], failure.path].filter { !$0.isEmpty }.joined(separator: ", ")
        if failure.remedy.isEmpty, input.documents.count > 1 { failure.remedy = "no document was saved" }
        return failure
    }

    private func parseArguments() throws -> Input {
        let parsed = try documents.map { try JSONArguments.document($0, name: "document") }
        return (parsed, parsed.indices.map { "document \($0 + 1)" })
    }

    private func readDocuments() throws -> Input {
        let reader = try input.reader(of: "-")
        var result: Input = ([], [])
        while let raw = try reader.next() {
            let location = "standard input, line \(raw.line)"
            switch reader.parse(raw) {
            case .success(let document):
                result.documents.append(document)
                result.locations.append(location)
            case .failure(let problem):
                throw CommandError(
                    code: "INVALID_JSON", message: problem.message, path: location, remedy: "no document was saved")
            }
        }
        guard !result.documents.isEmpty else {
            throw CommandError(
                code: "NO_INPUT", message: "There is no document to save", path: "standard input",
                remedy: "give it as an argument or on standard input", status: .noInput)
        }
        return result
    }
}
