#if TansuSync
import Foundation
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

/// Queries over a replicated collection with stored indexes against the evaluation of the same documents in memory.
@Suite("Find: Mango's queries over stored documents")
struct FindTests {
    private func design(_ name: String, _ fields: [String], filter: BSONDocument? = nil) -> DocumentEdit {
        var map: BSONDocument = ["fields": .document(BSONDocument(fields.map { ($0, "asc") }))]
        if let filter { map["partial_filter_selector"] = .document(filter) }
        return DocumentEdit(
            id: "_design/\(name)",
            fields: [
                "language": "query",
                "views": [name: ["map": .document(map), "reduce": "_count", "options": ["def": ["fields": []]]]],
            ])
    }

    private func contents(_ collection: ReplicatedCollection) throws -> ([BSONDocument], [Mango.Index]) {
        try collection.read { store in
            var documents: [BSONDocument] = []
            for record in try store.documents() {
                if let document = try store.wholeDocument(record.get()) { documents.append(document) }
            }
            return (documents, try store.findIndexes())
        }
    }

    @Test(
        "Random queries find what they find in memory, in its order, whatever changes between them",
        arguments: 0..<3)
    func random(round: Int) throws {
        let seed = SeededGenerator.seed() &+ UInt64(round)
        var selectors = RandomSelectors(random: SeededGenerator(seed: seed))
        let database = try Database(.memory)
        let people = try database.collection("people")
        try people.save(selectors.documents(40))
        let collection = try ReplicatedCollection.open("people", in: database, create: true)
        let indexes = [
            design("one", ["a"]), design("two", ["a", "b"]), design("inner", ["a.b"]), design("ids", ["b", "_id"]),
            design("revs", ["c", "_rev"]), design("some", ["c"], filter: ["a": ["$exists": true]]),
        ]
        for result in try collection.write({ try $0.save(indexes) }) { _ = try result.get() }

        var compared = 0
        var narrowed = 0
        for step in 0..<250 {
            switch Int.random(in: 0..<4, using: &selectors.random) {
            case 0: try people.save(selectors.documents(Int.random(in: 1...40, using: &selectors.random)))
            case 1: try people.remove(id: "d\(Int.random(in: 0..<40, using: &selectors.random))")
            default: break
            }
            var body: BSONDocument = ["selector": .document(selectors.selector())]
            if Bool.random(using: &selectors.random) {
                let fields = [["a"], ["a", "b"], ["_id"], ["c"]].randomElement(using: &selectors.random) ?? ["a"]
                let direction: BSONValue = Bool.random(using: &selectors.random) ? "asc" : "desc"
                // The sort needs its fields in each result.
                body["selector"] = [
                    "$and": [
                        body["selector"] ?? [:],
                        .document(BSONDocument(fields.map { ($0, ["$gt": nil]) })),
                    ]
                ]
                body["sort"] = .array(BSONArray(fields.map { .document([$0: direction]) }))
            }
            if Bool.random(using: &selectors.random) { body["use_index"] = "some" }
            if Bool.random(using: &selectors.random) { body["fields"] = ["_id", "a"] }
            body["skip"] = .int32(.random(in: 0...3, using: &selectors.random))
            body["limit"] = .int32(.random(in: 0...50, using: &selectors.random))
            let place: Comment = "seed \(seed), step \(step): \(body.extendedJSON())"
            let (documents, definitions) = try contents(collection)
            let expected = Result { try Mango.Query(body).answer(documents, indexes: definitions) }
            let found = Result { try collection.find(try Mango.Query(body)) as Mango.Answer }
            guard case .success(let expected) = expected, case .success(let answer) = found else {
                #expect(name(expected) == name(found) && name(found) != nil, place)
                continue
            }
            #expect(answer.documents == expected.documents, place)
            #expect(answer.bookmark == expected.bookmark, place)
            try page(collection, body, documents, definitions, place)
            compared += 1
            narrowed += answer.isNarrowed ? 1 : 0
        }
        #expect(compared > 50 && narrowed > 5, "seed \(seed): \(narrowed) of \(compared)")
    }

    private func name(_ answer: Result<Mango.Answer, any Error>) -> String? {
        if case .failure(let error) = answer { (error as? Mango.QueryError)?.name ?? "\(error)" } else { nil }
    }

    /// The pages of an answer, each found by the bookmark of the one before, are the whole answer.
    private func page(
        _ collection: ReplicatedCollection, _ body: BSONDocument, _ documents: [BSONDocument],
        _ indexes: [Mango.Index], _ place: Comment
    ) throws {
        var body = body
        body["skip"] = 0
        body["limit"] = 1000
        let all = try Mango.Query(body).answer(documents, indexes: indexes).documents
        body["limit"] = 7
        var pages: [BSONDocument] = []
        while pages.count <= all.count {
            let answer: Mango.Answer = try collection.find(try Mango.Query(body))
            if answer.documents.isEmpty { break }
            pages += answer.documents
            body["bookmark"] = .string(answer.bookmark)
        }
        #expect(pages == all, place)
    }

    @Test("What CouchDB answered to random queries, with all indexes")
    func recorded() throws {
        let vectors = try Vectors.document("mango-random.json.gz")
        let documents = try #require(vectors["docs"]).elements.compactMap(\.documentValue)
        let database = try Database(.memory)
        let collection = try ReplicatedCollection.open("db", in: database, create: true)
        let edits = documents.map { document in
            DocumentEdit(
                id: document["_id"]?.stringValue ?? "",
                fields: BSONDocument(
                    document.filter { $0.key.utf8.first != UInt8(ascii: "_") }.map { ($0.key, $0.value) }))
        }
        for result in try collection.write({ try $0.save(edits) }) { _ = try result.get() }
        let designs = try #require(vectors["indexes"]).elements.enumerated().map { number, fields in
            let names = fields.elements.compactMap {
                $0.stringValue ?? $0.documentValue.flatMap { Array($0).first?.key }
            }
            return design("i\(number)", names)
        }
        for result in try collection.write({ try $0.save(designs) }) { _ = try result.get() }
        var count = 0
        for each in try #require(vectors["cases"]).elements.compactMap(\.documentValue) where each["ix"] != nil {
            guard let body = each["q"]?.documentValue, each["s"] == 200, let ids = each["ids"]?.elements else {
                continue
            }
            let answer: Mango.Answer = try collection.find(try Mango.Query(body))
            #expect(answer.documents.compactMap { $0["_id"] } == ids, "\(each.extendedJSON())")
            // Where our indexes leave out more than CouchDB's, there is less to warn of.
            let hasWarning = each["w"] != nil
            #expect((answer.warning != nil) == hasWarning || answer.isNarrowed, "\(each.extendedJSON())")
            count += 1
        }
        #expect(count > 250)
    }

    @Test("An index is built in batches, follows what changes meanwhile, and goes with its design document")
    func building() throws {
        let database = try Database(.memory)
        let numbers = try database.collection("numbers")
        let count = FindIndex.batchSize * 2 + 17
        try numbers.save((0..<count).map { ["_id": .string("n\($0)"), "n": .int32(Int32($0 % 1000))] })
        try numbers.save((0..<50).map { ["n": .int32(Int32($0))] })  // ObjectIds
        let collection = try ReplicatedCollection.open("numbers", in: database, create: true)
        _ = try collection.write { try $0.save([design("by", ["n"])]) }[0].get()
        let query = try Mango.Query(["selector": ["n": 7], "limit": 1000])
        let first: Mango.Answer = try collection.find(query)
        #expect(first.documents.count == 12 && first.keysExamined == 12)
        try numbers.save(["_id": "n7", "n": 8])
        try numbers.remove(id: "n1007")
        let second: Mango.Answer = try collection.find(query)
        #expect(second.documents.count == 10 && second.keysExamined == 10)
        #expect(try database.collectionNames().contains { $0.hasPrefix("tansu.index.") })
        let record = try collection.read { try #require(try $0.document("_design/by")) }
        _ = try collection.write {
            try $0.save([DocumentEdit(id: "_design/by", parent: record.winner, isDeleted: true)])
        }[0].get()
        try collection.removeUnusedIndexes()
        #expect(try !database.collectionNames().contains { $0.hasPrefix("tansu.index.") })
        let third: Mango.Answer = try collection.find(query)
        #expect(third.documents.count == 10 && third.warning != nil)
    }

    @Test("After a renaming the indexes are built again, for both names", arguments: [6, 100])
    func renaming(_ length: Int) throws {
        let database = try Database(.memory)
        let name = String(repeating: "p", count: length)
        func found(_ name: String) throws -> [String?] {
            let collection = try ReplicatedCollection.open(name, in: database, create: true)
            let query = try Mango.Query(["selector": ["a": ["$gt": 0]]])
            return try collection.find(query).documents.map { $0["_id"]?.stringValue }
        }
        func fill(_ id: String) throws {
            let collection = try ReplicatedCollection.open(name, in: database, create: true)
            for result in try collection.write({ try $0.save([design("one", ["a"])]) }) { _ = try result.get() }
            try database.collection(name).save(["_id": .string(id), "a": 1])
        }
        try fill("old")
        #expect(try found(name) == ["old"])
        try database.renameCollection(name, to: "other")
        #expect(try found("other") == ["old"])
        try fill("new")
        #expect(try found(name) == ["new"])
        #expect(try found("other") == ["old"])
    }
}
#endif
