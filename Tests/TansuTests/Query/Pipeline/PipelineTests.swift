import Tansu
import TansuTestSupport
import Testing

@Suite("Aggregation pipelines")
struct PipelineTests {
    struct Species: Codable, Sendable, Equatable {
        var id: String?
        var number: Int
        var age: Double
    }

    private let bySpecies: Database.Pipeline<BSONDocument> = [
        ["$group": ["_id": "$pet.species", "number": ["$sum": 1], "age": ["$avg": "$age"]]],
        ["$sort": ["_id": 1]],
    ]
    private let species = [
        Species(id: nil, number: 1, age: 7), Species(id: "cat", number: 2, age: 23.5),
        Species(id: "dog", number: 1, age: 35),
    ]

    @Test("Stages as documents make rows of a Codable type")
    func rows() throws {
        let (_, people) = try fourPeople()
        let rows = try people.aggregate(bySpecies, as: Species.self)
        #expect(try rows.all() == species)
        #expect(try rows.first() == species[0])
        let cursor = try rows.makeCursor()
        #expect(try cursor.next() == species[0])
        cursor.close()
        var seen: [Species] = []
        try rows.forEach { seen.append($0) }
        #expect(seen == species)
        #expect(try people.aggregate([["$match": ["age": 1]]]).first() == nil)
    }

    @Test("Rows are documents unless a type is given")
    func documents() throws {
        let (_, people) = try fourPeople()
        let pipeline = Database.Pipeline<BSONDocument>(documents: [["$match": ["age": 35]], ["$count": "n"]])
        #expect(try people.aggregate(pipeline).all() == [["n": 2]])
    }

    @Test("Rows are read asynchronously, in an array or one after another")
    func asynchronous() async throws {
        let (db, people) = try fourPeople()
        let rows = try people.aggregate(bySpecies, as: Species.self)
        #expect(try await rows.all() == species)
        #expect(try await rows.first() == species[0])
        var seen: [Species] = []
        for try await row in rows { seen.append(row) }
        #expect(seen == species)
        #expect(try await rows.explain().stages.map(\.name) == ["$group", "$sort"])
        let isolated = try await db.read { snapshot in
            try await people.save(["_id": 6])
            return try await snapshot.collection("people").aggregate([.count(as: "n")]).all()
        }
        #expect(isolated == [["n": 4]])
    }

    @Test("A row that cannot be decoded is an error, or is skipped")
    func undecodable() throws {
        struct Named: Codable, Sendable { var id: String; var number: Int }
        let (_, people) = try fourPeople()
        #expect(throws: DecodingError.self) { try people.aggregate(bySpecies, as: Named.self).all() }
        let readable = people.decoding(.skipping())
        #expect(try readable.aggregate(bySpecies, as: Named.self).all().map(\.id) == ["cat", "dog"])
        #expect(try readable.aggregate(bySpecies, as: Named.self).first()?.id == "cat")
    }

    @Test("A mistake is an error with the number and the name of its stage")
    func mistakes() throws {
        let (db, people) = try fourPeople()
        let unknown = #expect(throws: TansuError.self) {
            try people.aggregate([["$match": [:]], ["$grope": [:]]]).all()
        }
        #expect(unknown?.code == .invalidQuery && unknown?.context == "1")
        let computed = #expect(throws: TansuError.self) {
            try people.aggregate([["$set": ["n": ["$divide": ["$name", 2]]]]]).all()
        }
        #expect(computed?.code == .invalidQuery && computed?.context.contains("$divide") == true)
        #expect(throws: TansuError.self) { try db.aggregate([["$match": [:]]]).all() }
    }

    @Test("Hints are options and variables of all stages")
    func hints() throws {
        let (_, people) = try fourPeople()
        let rows = try people.aggregate(
            [["$match": ["$expr": ["$gt": ["$age", "$$least"]]]], ["$count": "n"]], hints: ["$let": ["least": 30]])
        #expect(try rows.all() == [["n": 2]])
        #expect(throws: TansuError.self) { try people.aggregate([["$count": "n"]], hints: ["$none": 1]).all() }
    }

    @Test("A pipeline of a database begins with documents, and may look others up")
    func ofDatabase() throws {
        let (db, _) = try fourPeople()
        let pipeline: Database.Pipeline<BSONDocument> = [
            ["$documents": [["who": 2], ["who": 9]]],
            .lookup(from: "people", localField: "who", as: "people"),
            .project(["_id": 0, "who": 1, "names": "$people.name"]),
        ]
        let expected: [BSONDocument] = [["who": 2, "names": ["rosa"]], ["who": 9, "names": []]]
        #expect(try db.aggregate(pipeline).all() == expected)
        #expect(try db.read { try $0.aggregate(pipeline).all() } == expected)
    }

    @Test("In a transaction a pipeline sees what it has written, and a snapshot stays as it was")
    func transactions() throws {
        let (db, people) = try fourPeople()
        let count: Database.Pipeline<BSONDocument> = [.count(as: "n")]
        try db.write { transaction in
            let mine = try transaction.collection("people")
            try mine.save(["_id": 5])
            #expect(try mine.aggregate(count).all() == [["n": 5]])
            #expect(try people.aggregate(count).all() == [["n": 4]])
        }
        try db.read { snapshot in
            try people.save(["_id": 6])
            #expect(try snapshot.collection("people").aggregate(count).all() == [["n": 5]])
            #expect(try people.aggregate(count).all() == [["n": 6]])
        }
    }

    @Test("The explanation has the stages and the plan of the query")
    func explain() throws {
        let (db, people) = try fourPeople()
        try people.ensureIndex("by_age", on: ["age": .ascending])
        let rows = try people.aggregate(
            [["$match": ["age": 35]], ["$group": ["_id": "$name"]]], hints: ["$index": "by_age"])
        let explanation = try rows.explain()
        #expect(explanation.stages.map(\.name) == ["$match", "$group"])
        #expect(explanation.stages.map(\.isInQuery) == [true, false])
        #expect(explanation.stages[1].returned == 2)
        #expect(explanation.query?.plan.accesses.map(\.index) == ["by_age"])
        #expect(explanation.query?.returned == 2)
        #expect(explanation.description.contains("$match: by the query\n$group: returned: 2"))
        #expect(try db.aggregate([["$documents": [["a": 1]]]]).explain().query == nil)
    }

    @Test("$out and $merge write, and are only explained without writing")
    func output() throws {
        let (db, people) = try fourPeople()
        let names = try people.aggregate([.project(["name": 1]), ["$out": "names"]])
        #expect(try names.explain().stages.map(\.name) == ["$project"])
        #expect(try db.collection("names").count() == 0)
        #expect(try names.all().isEmpty)
        #expect(try db.collection("names").count() == 4)
    }

    @Test("What writes may run asynchronously")
    func asynchronousOutput() async throws {
        let (db, people) = try fourPeople()
        let merged = try people.aggregate([.match(["_id": 1]), ["$merge": ["into": "names"]]])
        #expect(try await merged.all().isEmpty)
        for try await _ in try people.aggregate([.match(["_id": 2]), ["$merge": "names"]]) {}
        #expect(try await db.collection("names").find().all().map { $0["age"] } == [12, 35])
    }

    @Test("$out is rolled back with its transaction, and cannot wait for the transaction it is called in")
    func outputInTransaction() throws {
        struct Stop: Error {}
        let (db, people) = try fourPeople()
        #expect(throws: Stop.self) {
            try db.write { transaction in
                _ = try transaction.collection("people").aggregate([["$out": "copy"]]).all()
                #expect(try transaction.collection("copy").count() == 4)
                throw Stop()
            }
        }
        #expect(try db.collection("copy").count() == 0)
        let busy = #expect(throws: TansuError.self) {
            try db.write { _ in try people.aggregate([["$out": "copy"]]).all() }
        }
        #expect(busy?.code == .busy)
    }

    @Test(
        "The collection of migrations cannot be written",
        arguments: [
            ["$out": "tansu.migrations"], ["$out": ["db": "", "coll": "tansu.migrations"]],
            ["$merge": "tansu.migrations"],
            ["$merge": ["into": "tansu.migrations"]], ["$merge": ["into": ["db": "", "coll": "tansu.migrations"]]],
        ] as [BSONDocument])
    func ownCollection(stage: BSONDocument) throws {
        let (_, people) = try fourPeople()
        let error = #expect(throws: TansuError.self) { try people.aggregate(.init(documents: [stage])).all() }
        #expect(error?.code == .invalidArgument)
    }
}
