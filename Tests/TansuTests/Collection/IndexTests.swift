import Tansu
import TansuTestSupport
import Testing

@Suite("Indexes")
struct IndexTests {
    @Test("An index is listed with its paths, directions and uniqueness, and dropped by name")
    func listAndDrop() throws {
        let (_, people) = try fourPeople()
        try people.ensureIndex("by_name", on: ["name": .ascending, "age": .descending], unique: true)
        try people.ensureIndex(on: [Database.IndexKey("tags")])
        let indexes = try people.indexes()
        let byName = try #require(indexes.first { $0.name == "by_name" })
        #expect(byName.keys == [Database.IndexKey("name"), Database.IndexKey("age", .descending)])
        #expect(byName.isUnique && !byName.isMultikey)
        #expect(byName.entries == 4)
        let byTags = try #require(indexes.first { $0.name == "tags_1" })
        #expect(!byTags.isUnique && byTags.isMultikey)
        try people.dropIndex("by_name")
        #expect(try people.indexes().map(\.name) == ["tags_1"])
    }

    @Test("Creating the same index again does nothing, the name with another definition is an error")
    func ensureAgain() throws {
        let (_, people) = try fourPeople()
        try people.ensureIndex("i", on: ["name": .ascending])
        try people.ensureIndex("i", on: ["name": .ascending])
        let error = #expect(throws: TansuError.self) { try people.ensureIndex("i", on: ["age": .ascending]) }
        #expect(error?.code == .exists)
        #expect(try people.indexes().count == 1)
    }

    @Test("An index does not change an answer")
    func sameAnswers() throws {
        let (_, people) = try fourPeople()
        let queries: [BSONDocument] = [["age": 35], ["age": ["$lt": 30]], ["tags": ["$in": ["a", "b"]]], ["age": nil]]
        let before = try queries.map { try people.find($0).sorted(by: "age").all() }
        try people.ensureIndex("by_age", on: ["age": .ascending])
        try people.ensureIndex("by_tags", on: ["tags": .descending])
        #expect(try queries.map { try people.find($0).sorted(by: "age").all() } == before)
    }

    @Test("A unique index rejects a value that it has, and keeps the old document")
    func unique() throws {
        let (_, people) = try fourPeople()
        try people.ensureIndex("by_name", on: ["name": .ascending], unique: true)
        let error = #expect(throws: TansuError.self) { try people.save(["_id": 9, "name": "mike"]) }
        #expect(error?.code == .notUnique)
        #expect(try people.get(9) == nil)
        #expect(try people.count(["name": "mike"]) == 1)
    }

    @Test("A duplicate path and an unknown name are errors")
    func mistakes() throws {
        let (_, people) = try fourPeople()
        let twice = #expect(throws: TansuError.self) {
            try people.ensureIndex("i", on: ["name": .ascending, "name": .descending])
        }
        #expect(twice?.code == .invalidIndex)
        let missing = #expect(throws: TansuError.self) { try people.dropIndex("nothing") }
        #expect(missing?.code == .notFound)
    }

    @Test("A sparse unique index lets documents without its paths be, and is listed as such")
    func sparse() throws {
        let (_, people) = try fourPeople()
        let error = #expect(throws: TansuError.self) {
            try people.ensureIndex("tags", on: ["tags": .ascending], unique: true)
        }
        #expect(error?.code == .notUnique)
        try people.update(["_id": 2], ["$set": ["tags": ["c"]]])
        try people.ensureIndex("tags", on: ["tags": .ascending], unique: true, sparse: true)
        let index = try #require(try people.indexes().first)
        #expect(index.isSparse && index.isUnique && !index.isCaseInsensitive && index.partialFilter == nil)
        try people.save(["_id": 9, "name": "none"])
        #expect(throws: TansuError.self) { try people.save(["_id": 10, "tags": ["c"]]) }
    }

    @Test("A case-insensitive index serves case-insensitive queries")
    func caseInsensitive() throws {
        let (_, people) = try fourPeople()
        try people.ensureIndex("names", on: ["name": .ascending], caseInsensitive: true)
        #expect(try people.indexes().first?.isCaseInsensitive == true)
        #expect(try people.names(["name": ["$icase": "MIKE"]], hints: ["$index": "names"]) == ["mike"])
        try people.save(["_id": 9, "name": "MIKE"])
        #expect(try people.names(["name": ["$icase": "Mike"]]) == ["mike", "MIKE"])
        #expect(try people.names(["name": "mike"]) == ["mike"])
    }

    @Test("A partial index has the documents of its filter only")
    func partial() throws {
        let (_, people) = try fourPeople()
        let adults: BSONDocument = ["age": ["$gte": 18]]
        try people.ensureIndex("adults", on: [Database.IndexKey("name")], partialFilter: adults)
        let index = try #require(try people.indexes().first)
        #expect(index.partialFilter == adults)
        #expect(index.entries == 2)
        #expect(
            try people.names(["name": "rosa", "age": ["$gt": 20]], hints: ["$index": "adults"]) == ["rosa"])
        let error = #expect(throws: TansuError.self) {
            try people.names(["name": "mike"], hints: ["$index": "adults"])
        }
        #expect(error?.code == .invalidQuery)
        let other = #expect(throws: TansuError.self) {
            try people.ensureIndex("other", on: ["name": .ascending], partialFilter: ["name": ["$regex": "a"]])
        }
        #expect(other?.code == .invalidIndex)
    }

    @Test("The bound on the entries of one document is an option of the index")
    func maxEntries() throws {
        let (_, people) = try fourPeople()
        try people.ensureIndex("tags", on: ["tags": .ascending], maxEntries: 12_000)
        #expect(try people.indexes().first?.maxEntries == 12_000)
        let tags = BSONValue((0..<11_999).map { BSONValue($0) })
        try people.save(["_id": 9, "tags": tags])
        #expect(try people.count(["tags": 11_998], hints: ["$index": "tags"]) == 1)
        let error = #expect(throws: TansuError.self) {
            try people.update(["_id": 9], ["$push": ["tags": 12_000]])
        }
        #expect(error?.code == .tooLarge && error?.context == "tags")
        try people.dropIndex("tags")
        let other = #expect(throws: TansuError.self) { try people.ensureIndex(on: ["tags": .ascending]) }
        #expect(other?.code == .tooLarge)
        try people.ensureIndex("more", on: [Database.IndexKey("tags")], maxEntries: 1_000_000)
        #expect(try people.indexes().map(\.maxEntries) == [1_000_000])
        let wrong = #expect(throws: TansuError.self) { try people.ensureIndex(on: ["a": .ascending], maxEntries: 0) }
        #expect(wrong?.code == .invalidIndex && wrong?.context == "maxEntries")
    }

    @Test("The async variants take the same options")
    func asyncOptions() async throws {
        let people = try fourPeople().1
        try await people.ensureIndex("tags", on: ["tags": .ascending], sparse: true, maxEntries: 20_000)
        try await people.ensureIndex(
            "adults", on: [Database.IndexKey("name")], caseInsensitive: true, partialFilter: ["age": ["$gte": 18]])
        let indexes = try await people.indexes()
        #expect(indexes.map(\.isSparse) == [true, false])
        #expect(indexes.map(\.maxEntries) == [20_000, nil])
        #expect(indexes.map(\.isCaseInsensitive) == [false, true])
        #expect(indexes.map(\.partialFilter) == [nil, ["age": ["$gte": 18]]])
    }
}
