import Tansu
import TansuTestSupport
import Testing

@Suite("Updates by pipelines")
struct PipelineUpdateTests {
    @Test("New values are computed of those that a document has")
    func update() throws {
        let (_, people) = try fourPeople()
        let result = try people.update(
            ["age": ["$gt": 10]],
            with: [.set(["next": ["$add": ["$age", 1]], "species": "$pet.species"]), .unset("pet")])
        #expect(result.matched == 3 && result.modified == 3)
        let mike = try #require(try people.get(1))
        #expect(mike["next"] == 13 && mike["species"] == "cat" && mike["pet"] == nil)
        let inserted = try people.update(["_id": 9], with: [.set(["n": 1])], hints: ["$upsert": true])
        #expect(inserted.upserted == [9])
    }

    @Test("The documents are those of a condition")
    func condition() throws {
        let people = try patientDatabase().collection("people", of: Person.self)
        try people.save([Person(name: "mike", age: 12), Person(name: "omar", age: 7)])
        #expect(try people.update(where: { $0.age > 10 }, with: [.set(["name": ["$toUpper": "$name"]])]).modified == 1)
        #expect(try people.find().all().map(\.name) == ["MIKE", "omar"])
    }

    @Test("Updates may run asynchronously")
    func asynchronous() async throws {
        let people = try patientDatabase().collection("people", of: Person.self)
        try await people.save([Person(name: "mike", age: 12), Person(name: "omar", age: 7)])
        #expect(try await people.update(where: { $0.age < 10 }, with: [.set(["age": 8])]).modified == 1)
        #expect(try await people.update(["age": 12], with: [.set(["age": 13])]).modified == 1)
        #expect(try await people.find().all().map(\.age) == [13, 8])
    }

    @Test("A stage that updates do not take is an error")
    func mistake() throws {
        let (_, people) = try fourPeople()
        let error = #expect(throws: TansuError.self) { try people.update([:], with: [.limit(1)]) }
        #expect(error?.code == .invalidQuery && error?.context.hasPrefix("$pipeline") == true)
    }
}
