import Foundation
import Tansu
import Testing

@Suite("Text sorted for people")
struct LocaleTests {
    private struct Person: Codable, Sendable, Identifiable { var id: Int; var name: String; var nick: String? }

    private func people(_ names: [String], nicks: [String?] = []) throws -> Database.Collection<Person> {
        let people = try Database(.memory).collection("people", of: Person.self)
        for (id, name) in names.enumerated() {
            try people.save(Person(id: id, name: name, nick: id < nicks.count ? nicks[id] : nil))
        }
        return people
    }

    @Test("Letters have the order of the language, and numbers that of their values")
    func order() throws {
        let people = try people(["Zoe", "Ärger", "adam", "Östen", "Alba"])
        let german = try people.find().all(sortedBy: \.name, locale: Locale(identifier: "de_DE")).map(\.name)
        #expect(german == ["adam", "Alba", "Ärger", "Östen", "Zoe"])
        let swedish = try people.find().all(sortedBy: \.name, locale: Locale(identifier: "sv_SE")).map(\.name)
        #expect(swedish == ["adam", "Alba", "Zoe", "Ärger", "Östen"])
        let files = try self.people(["file 10", "file 9"]).find().all(
            sortedBy: \.name, locale: Locale(identifier: "en"))
        #expect(files.map(\.name) == ["file 9", "file 10"])
    }

    @Test("What has no text comes first, and last when descending; equal texts keep the query's order")
    func missing() async throws {
        let people = try people(["a", "b", "c", "d"], nicks: ["x", nil, "x", "é"])
        let locale = Locale(identifier: "fr_FR")
        #expect(try await people.find().all(sortedBy: \.nick, locale: locale).map(\.id) == [1, 3, 0, 2])
        let descending = try await people.find().sorted(by: \.name, .descending)
            .all(sortedBy: \.nick, .descending, locale: locale)
        #expect(descending.map(\.id) == [2, 0, 3, 1])
    }
}
