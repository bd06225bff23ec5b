#if TansuSync
import Foundation
import TansuSync

/// What CouchDB answered to pushed revisions; the README beside the file says where it is from.
struct RevisionHistory: Decodable {
    struct Push: Decodable {
        let rev: String
        let ids: [String]
        let deleted: Bool?
    }

    struct Leaf: Decodable, Hashable {
        let rev: String
        let start: Int
        let ids: [String]
        let deleted: Bool?
    }

    struct State: Decodable {
        let changes: [String]
        let winner: String
        let deleted: Bool?
        let get: Answer
        let conflicts: [String]?
        let deletedConflicts: [String]?
        let revsInfo: [String]?
        let leaves: [Leaf]
        let allDocs: String
    }

    /// A status as a number, or as text with the reason.
    enum Answer: Decodable {
        case found
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self = (try? container.decode(Int.self)) == 200 ? .found : .text(try container.decode(String.self))
        }
    }

    struct Step: Decodable {
        let push: [Push]
        let state: State
    }

    struct Compacted: Decodable {
        let revsInfo: [String]?
    }

    let id: String
    let kind: String
    let revsLimit: Int
    let hash: [String: String]
    let steps: [Step]
    let afterCompact: Compacted
    let getRevAfterCompact: [String: String]

    static func all() throws -> [RevisionHistory] {
        // Not `resourceURL`, because Foundation takes a folder named Resources as that of an application.
        let file = Bundle.module.bundleURL.appendingPathComponent("Resources/revisions/revtree-oracle.json")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { path in
            let words = path[path.count - 1].stringValue.split(separator: "_")
            // Letters and revisions stay as they are.
            return Key(words.count < 2 ? words.joined() : words[0] + words.dropFirst().map(\.capitalized).joined())
        }
        return try decoder.decode([RevisionHistory].self, from: Data(contentsOf: file))
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ text: String) { stringValue = text }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    /// A revision of the file, such as "3-d", with its hash.
    func revision(_ text: String) throws -> Revision {
        guard let dash = text.firstIndex(of: "-"), let generation = Int(text[..<dash]),
            let hash = hash[String(text[text.index(after: dash)...])]
        else { throw RevisionHistoryProblem(text: "\(id): \(text)") }
        return try Revision(generation: generation, hash: hash)
    }

    func path(_ push: Push) throws -> RevisionPath {
        try RevisionPath(start: revision(push.rev).generation, ids: push.ids.compactMap { hash[$0] })
    }

    /// A revision as the file writes it.
    func letters(_ revision: Revision) -> String {
        let letter = hash.first { (try? Revision(generation: 1, hash: $0.value).hashText) == revision.hashText }?
            .key
        return "\(revision.generation)-\(letter ?? revision.hashText)"
    }
}

struct RevisionHistoryProblem: Error {
    let text: String
}
#endif
