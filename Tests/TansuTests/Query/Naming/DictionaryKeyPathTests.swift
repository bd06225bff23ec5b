import Tansu
import Testing

@Suite("Key paths into dictionaries")
struct DictionaryKeyPathTests {
    private struct Game: Codable, Sendable, Identifiable {
        var id: Int
        var scores: [String: Int] = ["a": 3]
        var part = Part()
        struct Part: Codable, Sendable { var scores: [String: Int]? }
    }

    private struct Named: Codable, Sendable, Identifiable, StoredFieldNaming {
        var id: Int
        var scores: [String: Int] = ["a": 3]
        static var storedFieldNames: [PartialKeyPath<Named>: String] { [\.scores["a"]: "scores.a"] }
    }

    private func message(_ body: () throws -> Void) -> String {
        let error = #expect(throws: TansuError.self) { try body() }
        #expect(error?.code == .invalidQuery)
        #expect(error?.context.contains("0x") == false)
        return error?.message ?? ""
    }

    @Test("They are errors that say what to write instead of a name that would be a field of its own")
    func advice() throws {
        let games = try Database(.memory).collection("games", of: Game.self)
        try games.save(Game(id: 1))
        for message in [
            message { try games.update(where: { $0.id == 1 }) { $0.set(\.scores["a"], 5) } },
            message { _ = try games.find().sorted(by: \.scores["a"]) },
            message { _ = try games.find().distinct(\.scores["a"]) },
            message { _ = try games.find().aggregate(.max(\.scores["a"])) },
            message { try games.ensureIndex(on: \.scores["a"]) },
            message { _ = try games.find().sorted(by: \.part.scores?["a"]) },
        ] {
            #expect(message.contains("which key of a dictionary"))
            #expect(!message.contains("StoredFieldNaming"))
        }
        // What it says instead.
        try games.update(["_id": 1], ["$set": ["scores.a": 5]])
        #expect(try games.get(1)?.scores == ["a": 5])
        #expect(try games.find { $0.scores["a"] == 5 }.sorted(by: "scores.a").count() == 1)
    }

    @Test("A name that is listed for one is an error, too")
    func named() throws {
        let db = try Database(.memory)
        let named = try db.collection("named", of: Named.self)
        try named.save(Named(id: 1))
        #expect(
            message { try named.update(where: { $0.id == 1 }) { $0.set(\.scores["a"], 5) } }
                .contains("which key of a dictionary"))
        #expect(try db.collection("named").get(1) == ["_id": 1, "scores": ["a": 3]])
    }
}
