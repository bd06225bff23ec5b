import ArgumentParser
import Tansu
import TansuBSON

/// The options of an index of words.
struct WordIndexOptions: ParsableArguments {
    @Flag(help: "Index the words of the texts at the paths, for \"tansu search\".") var text = false

    @Option(
        help: ArgumentHelp(
            "How much paths count for the score, 1 to 1000: \"title=3,body=2\" or a JSON object. 1 for the others.",
            valueName: "weights"))
    var weights: String?

    @Option(help: "The language of the texts, for stems: a code such as en, a name such as english, or none.")
    var language: String?

    @Option(help: ArgumentHelp("The path where a document names its own language.", valueName: "path"))
    var languageField: String?

    @Flag(help: "Keep no positions: the index is smaller, and documents are read to find phrases.")
    var noPositions = false

    /// The keys of an index of words, and its options; of other indexes the keys as they are.
    ///
    /// - Throws: `CommandError` for keys of both kinds, and for options that another index does not have.
    func resolved(_ keys: BSONDocument) throws -> (BSONDocument, Database.TextIndexOptions?) {
        let isGiven = keys.contains { $0.value == "text" }
        guard text || isGiven else {
            let given = [
                ("--weights", weights != nil), ("--language", language != nil),
                ("--language-field", languageField != nil), ("--no-positions", noPositions),
            ]
            guard let option = given.first(where: \.1)?.0 else { return (keys, nil) }
            throw CommandError(
                code: "INVALID_INDEX", message: "Option \"\(option)\" is for an index of words", path: option,
                remedy: "add \"--text\"", status: .usage)
        }
        if let other = keys.first(where: { $0.value != (isGiven ? "text" : 1) }) {
            throw CommandError(
                code: "INVALID_INDEX",
                message: "Path \"\(other.key)\" of an index of words has the direction \(other.value)",
                path: other.key, remedy: "leave out the direction, or make another index", status: .usage)
        }
        return (
            BSONDocument(keys.map { ($0.key, "text") }),
            Database.TextIndexOptions(
                weights: try weights.map(Self.weights) ?? [:], language: language ?? "none",
                languageField: languageField, keepsPositions: !noPositions)
        )
    }

    /// The weights of "title=3,body=2" or of a JSON object.
    private static func weights(_ text: String) throws -> [String: Int] {
        if text.first(where: { !$0.isWhitespace }) == "{" {
            return Dictionary(
                try JSONArguments.document(text, name: "--weights").map {
                    ($0.key, try weight($0.value.intValue, text))
                }
            ) { $1 }
        }
        return Dictionary(
            try text.split(separator: ",").map { part in
                let sign = part.lastIndex(of: "=") ?? part.endIndex
                return (String(part[..<sign]), try weight(Int(part[sign...].dropFirst()), text))
            }
        ) { $1 }
    }

    private static func weight(_ weight: Int?, _ text: String) throws -> Int {
        guard let weight, (1...1000).contains(weight) else {
            throw CommandError(
                code: "INVALID_INDEX", message: "The weights \"\(text)\" are not understood", path: "--weights",
                remedy: "give each path a whole number from 1 to 1000, as in title=3,body=2", status: .usage)
        }
        return weight
    }
}
