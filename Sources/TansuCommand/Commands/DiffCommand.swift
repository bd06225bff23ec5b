import ArgumentParser
import Foundation
import Tansu
import TansuBSON

struct DiffCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compares the documents of two databases.",
        discussion: """
            The documents of each collection are compared by their _id. A line "- people 7" is a document that only the \
            first database has, "+ people 7" one of the second alone, and "~ people 7: age, pets.0.name" one that differs, \
            with the paths. With --json each line is a JSON object, with the documents as well. Indexes and options are \
            not compared.

            The exit code is 0 when the documents are the same, and 1 when they differ. Options for a key count for each of \
            the databases that is encrypted.

            EXAMPLES:
              tansu diff people.tansu people.tansu
              tansu diff people.tansu people.tansu --collection people --json
            """
    )

    @Argument(help: "The first database's folder.", completion: .directory) var first: String
    @Argument(help: "The second database's folder.", completion: .directory) var second: String
    @Option(help: ArgumentHelp("Compare this collection only; may be repeated.", valueName: "name"))
    var collection: [String] = []
    @OptionGroup var opening: OpeningOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try checkPath(first, of: "first database")
        try checkPath(second, of: "second database")
    }

    func execute() throws -> CommandExitCode {
        try OpenDatabase.with(first, .read, opening, keys: keys(of: first)) { left in
            try OpenDatabase.with(second, .read, opening, keys: keys(of: second)) { right in
                let names = try collections(left, right)
                let count = try Interruption.handled {
                    try left.database.read { first in
                        try right.database.read { second in
                            try names.reduce(0) { count, name in
                                try count
                                    + compare(name, first.collection(name), second.collection(name), left.database)
                            }
                        }
                    }
                }
                return count == 0 ? .success : .incomplete
            }
        }
    }

    /// Where the key of a database comes from, if it is encrypted.
    private func keys(of path: String) -> KeySource {
        let file = URL(fileURLWithPath: path).appendingPathComponent("KEY").path
        return FileManager.default.fileExists(atPath: file) ? opening.key.source : KeySource(prefix: "--")
    }

    /// The collections of both, each once.
    private func collections(_ left: OpenDatabase, _ right: OpenDatabase) throws -> [String] {
        let names = try left.database.collectionNames()
        let others = try right.database.collectionNames()
        let all = names + others.filter { other in !names.contains { $0 == other } }
        for name in collection where !all.contains(where: { $0 == name }) {
            throw CommandError(
                code: "NOT_FOUND", message: "Neither database has the collection \"\(name)\"", path: name)
        }
        return collection.isEmpty ? all.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } : collection
    }

    /// Writes the differences of a collection, and returns their number.
    private func compare(
        _ name: String, _ first: Database.Collection<BSONDocument>, _ second: Database.Collection<BSONDocument>,
        _ database: Database
    ) throws -> Int {
        var comparison = try CollectionComparison(first, second, database)
        let writer = OutputWriter()
        var count = 0
        while let difference = try comparison.next() {
            count += 1
            try writer.writeLine(output.json ? Self.json(difference, name) : Self.line(difference, name))
        }
        try writer.flush()
        return count
    }

    private static func line(_ difference: CollectionComparison.Difference, _ name: String) -> String {
        let id = { (document: BSONDocument) in document["_id"]?.description ?? "" }
        let text =
            switch difference {
            case .first(let document): "- \(name) \(id(document))"
            case .second(let document): "+ \(name) \(id(document))"
            case .changed(let document, _, let paths):
                "~ \(name) \(id(document)): \(paths.isEmpty ? "the order of the fields" : paths.joined(separator: ", "))"
            }
        return TextTable.printable(text)
    }

    private static func json(_ difference: CollectionComparison.Difference, _ name: String) -> String {
        var line: BSONDocument = ["collection": .string(name)]
        switch difference {
        case .first(let document):
            line["id"] = document["_id"]
            line["first"] = .document(document)
        case .second(let document):
            line["id"] = document["_id"]
            line["second"] = .document(document)
        case .changed(let first, let second, let paths):
            line["id"] = first["_id"]
            line["paths"] = BSONValue(paths.map { .string($0) })
            (line["first"], line["second"]) = (.document(first), .document(second))
        }
        return line.json()
    }
}
