#if TansuServer
import Foundation
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuServer
@testable import TansuSync

@Suite("Remote: the documentation")
struct RemoteGuideTests {
    @available(macOS 14, *)
    @Test("The examples of docs/remote.md run")
    func examples() async throws {
        try opening()
        try await RunningServer.run { server in
            let url = "http://127.0.0.1:\(server.port)/people"
            try await using(RemoteCollection(url: url, of: Person.self))
        }
    }

    private func opening() throws {
        let people = try RemoteCollection(
            url: "https://example.org/people", of: Person.self, credentials: .session("anna", password: "…"))
        #expect(people.url == "https://example.org/people")
    }

    private func using(_ people: RemoteCollection<Person>) async throws {
        try await people.create()
        try await people.save(Person(name: "mike", age: 12, pet: Pet(species: "cat")))
        let cats = try await people.find { $0.pet.species == "cat" && $0.age > 10 }.all()
        for try await person in people.find(["age": ["$gte": 12]]) {
            print(person.name)
        }
        try await people.ensureIndex("by_age", on: ["age": .ascending])
        let oldest = try await people.find { $0.age > 0 }.sorted(by: \.age, .descending).first()
        let some = try await people.find(mango: ["age": ["$gt": 10]]).count()
        #expect(cats.map(\.name) == ["mike"] && oldest == cats.first && some == 1)
    }

    @Test("Every example of the page is here")
    func examplesAreHere() throws {
        let page = try GuidePage("docs/remote.md", testedBy: #filePath)
        #expect(page.lines.count > 10)
        for line in page.lines { #expect(page.test.contains(line), "\(line)") }
    }
}
#endif
