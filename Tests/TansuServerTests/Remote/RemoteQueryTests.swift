#if TansuServer
import Foundation
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuServer
@testable import TansuSync

@Suite("Remote: queries")
struct RemoteQueryTests {
    @available(macOS 14, *)
    @Test("Random queries find what a collection of this process finds, or say what a server cannot be asked")
    func random() async throws {
        let seed = SeededGenerator.seed()
        print("remote queries: TANSU_SEED=\(seed)")
        try await RemoteHost.run { host in
            var random = RandomQueries(seed: seed)
            let documents = (0..<120).map { number in
                BSONDocument(joining: ["_id": .string("\(number)")], random.document())
            }
            try await host.far.save(documents)
            // JSON does not tell a small int64 from an int32.
            let asJSON: Database.Collection<BSONDocument> = try Database(.memory).collection("people")
            try await asJSON.save(documents.map { try BSONDocument(extendedJSON: $0.extendedJSON(.relaxed)) })
            let people: RemoteCollection<BSONDocument> = try host.people { $0.pageSize = 50 }
            var (tested, supported) = (0, 0)
            for round in 0..<250 {
                let query = random.query()
                guard let local = try? await asJSON.find(query).all() else { continue }
                tested += 1
                let comment = Comment(rawValue: "TANSU_SEED=\(seed), round \(round): \(query)")
                do {
                    let found = try await people.find(query).all()
                    supported += 1
                    #expect(sortedIDs(found) == sortedIDs(local), comment)
                    if round % 5 == 0 { #expect(try await people.count(query) == local.count, comment) }
                } catch let error as SyncError where error.code == .unsupported {
                    let found = try await people.find(query).scanning().all()
                    #expect(sortedIDs(found) == sortedIDs(local), comment)
                }
            }
            print("remote queries: \(supported) of \(tested) are supported")
            #expect(tested > 200 && supported * 4 > tested * 3)
        }
    }

    @available(macOS 14, *)
    @Test("A small int64 comes as an int32, which queries by type see")
    func integers() async throws {
        try await RemoteHost.run { host in
            try await host.far.save([
                ["_id": "small", "n": .int64(5)], ["_id": "large", "n": .int64(1 << 40)], ["_id": "int", "n": 5],
            ])
            let people: RemoteCollection<BSONDocument> = try host.people()
            #expect(try await people.get("small")?["n"] == .int32(5))
            #expect(sortedIDs(try await people.find(["n": ["$type": "int"]]).all()) == ["int", "small"])
            #expect(sortedIDs(try await people.find(["n": ["$type": "long"]]).all()) == ["large"])
            #expect(sortedIDs(try await people.find(["n": .int64(5)]).all()) == ["int", "small"])
        }
    }

    @available(macOS 14, *)
    @Test("An array in an array is an element without fields")
    func nestedArrays() async throws {
        try await RemoteHost.run { host in
            let values: [BSONValue] = [
                [[]], [[1]], [[[]]], [[["e": 7]]], [["e": 7]], [["e": 8]], [[:]], [5], [nil], [], [[7]],
                [.objectID(ObjectID())], [.date(5)], [.binary(BSONBinary([1]))], [.double(.nan)],
            ]
            try await host.far.save(
                values.enumerated().map { number, value in ["_id": .string("\(number)"), "a": value] })
            let people: RemoteCollection<BSONDocument> = try host.people()
            let conditions: [BSONDocument] = [
                ["e": ["$ne": 7]], ["e": nil], ["$nor": [["e": 7]]], ["e": ["$exists": false]], ["0": 7],
                ["e.f": ["$ne": 7]], ["e": ["$not": ["$gt": 7]]], ["e": ["$nin": [7, 8]]], ["e": 7],
            ]
            for condition in conditions {
                for name in ["$elemMatch", "$allMatch"] {
                    let elements: BSONDocument = [name: .document(condition)]
                    for query: BSONDocument in [["a": .document(elements)], ["a": ["$not": .document(elements)]]] {
                        let found = try await people.find(query).scanning().all()
                        #expect(sortedIDs(found) == sortedIDs(try await host.far.find(query).all()), "\(query)")
                    }
                }
            }
        }
    }

    @available(macOS 14, *)
    @Test("Documents come as they are, with every type")
    func documents() async throws {
        try await RemoteHost.run { host in
            let document: BSONDocument = [
                "_id": "x", "at": .date(5), "n": .int64(1 << 60), "b": .binary(BSONBinary([1])),
                "id": .objectID(ObjectID()), "d": ["e": [1, 2.5, nil]], "t": "日本 é",
            ]
            try await host.far.save(document)
            let people: RemoteCollection<BSONDocument> = try host.people()
            var found = try #require(try await people.get("x"))
            #expect(found["_rev"]?.stringValue?.hasPrefix("1-") == true)
            found["_rev"] = nil
            #expect(found == document)
            #expect(try await people.get("y") == nil)
            let both = try await people.get(ids: ["y", "x", "x"])
            #expect(sortedIDs(both) == ["x", "x"])
            #expect(try await people.revision(of: "x") == host.far.revision(of: "x"))
            #expect(try await people.revision(of: "y") == nil)
        }
    }

    @available(macOS 14, *)
    @Test("Key paths, predicates, fields, limits and other types, as of a local collection")
    func keyPaths() async throws {
        struct Name: Codable { var id: ObjectID; var name: String }
        try await RemoteHost.run { host in
            let people = try host.people(of: Person.self)
            let all = (0..<30).map { number in
                Person(name: "p\(number)", age: number, pet: number % 3 == 0 ? Pet(species: "cat") : nil)
            }
            let saved = try await people.save(all)
            #expect(try saved.map { try $0.get().id } == all.map { .objectID($0.id) })
            let cats = try await people.find { $0.age > 10 && $0.pet.species == "cat" }.all()
            #expect(Set(cats.map(\.age)) == [12, 15, 18, 21, 24, 27])
            #expect(try await people.find(#Predicate { $0.age < 3 }).count() == 3)
            #expect(try await people.find { $0.pet == nil }.count() == 20)
            #expect(try await people.find { $0.id == all[7].id }.first()?.name == "p7")
            #expect(try await people.get(all[3].id) == all[3])
            #expect(try await people.get(ids: [all[2].id, ObjectID(), all[1].id]) == [all[2], all[1]])
            let names = try await people.find { $0.age > 27 }.projected(to: Name.self).all()
            #expect(Set(names.map(\.name)) == ["p28", "p29"])
            #expect(try await people.find().limit(4).all().count == 4)
            #expect(try await people.find().skip(25).limit(10).count() == 5)
            let documents = try await people.find(["age": 4]).fields(["name": 1, "_id": 0])
                .decoded(as: BSONDocument.self).all()
            #expect(documents == [["name": "p4"]])
            let mango = people.find(mango: ["age": ["$gt": 27]])
            #expect(try await mango.count() == 2)
            #expect(try await mango.and { $0.name != "p28" }.all().map(\.name) == ["p29"])
        }
    }

    @available(macOS 14, *)
    @Test("A sort needs a condition on the path, and an index")
    func sorts() async throws {
        try await RemoteHost.run { host in
            let people: RemoteCollection<BSONDocument> = try host.people { $0.pageSize = 7 }
            try await host.far.save((0..<40).map { ["_id": .string("\($0)"), "n": .int32(($0 * 17) % 40)] })
            let unsafe = await #expect(throws: SyncError.self) {
                try await people.find().sorted(by: "n").all()
            }
            #expect(unsafe?.code == .unsupported && unsafe?.description.contains("\"n\"") == true)
            let sorted = people.find(["n": ["$gte": 5]]).sorted(by: "n", .descending)
            let missing = await #expect(throws: SyncError.self) { try await sorted.all() }
            #expect(missing?.code == .noUsableIndex && missing?.description.contains("ensureIndex") == true)
            try await people.ensureIndex("by_n", on: ["n": .ascending])
            try await people.ensureIndex("by_n", on: ["n": .ascending])
            #expect(try await sorted.all().map { $0["n"] } == (5..<40).reversed().map { .int32($0) })
            #expect(try await sorted.limit(3).skip(2).all().map { $0["n"] } == [37, 36, 35])
            let explanation = try await sorted.explain()
            #expect(explanation.index == "by_n" && !explanation.isFullScan && explanation.testsHere)
            let indexes = try await people.indexes()
            #expect(indexes.map(\.name).contains("by_n"))
            #expect(indexes.first { $0.name == "by_n" }?.keys == [Database.IndexKey("n")])
            try await people.dropIndex("by_n")
            let gone = await #expect(throws: SyncError.self) { try await people.dropIndex("by_n") }
            #expect(gone?.code == .notFound)
            #expect(try await people.find().sorted(by: "_id").limit(2).all().map { $0["_id"] } == ["0", "1"])
        }
    }

    @available(macOS 14, *)
    @Test("What a server cannot be asked is named, with its operator and path")
    func unsupported() async throws {
        try await RemoteHost.run { host in
            try await host.far.save([["_id": "1", "a": "xyz"], ["_id": "2", "a": 5]])
            let people: RemoteCollection<BSONDocument> = try host.people()
            func failure(_ query: BSONDocument, _ hints: BSONDocument = [:]) async -> SyncError? {
                await #expect(throws: SyncError.self) { try await people.find(query, hints: hints).all() }
            }
            let queries: [(BSONDocument, BSONDocument, [String])] = [
                (["a": ["$not": ["$regex": "x.z"]]], [:], ["\"$not\"", "\"a\""]),
                (["**": "xyz"], [:], ["\"**\""]),
                (["a": ["$in": ["$from": "others"]]], [:], ["\"$in\"", "\"a\""]),
                (["$do": ["a": ["$join": "others"]]], [:], ["\"$do\""]),
                ([:], ["$index": "x"], ["\"$index\""]),
            ]
            for (query, hints, words) in queries {
                let error = await failure(query, hints)
                #expect(error?.code == .unsupported)
                for word in words { #expect(error?.description.contains(word) == true, "\(word)") }
            }
            let scanned = try await people.find(["a": ["$not": ["$regex": "x.z"]]]).scanning().all()
            #expect(sortedIDs(scanned) == ["2"])
            let invalid = await #expect(throws: TansuError.self) {
                try await people.find(["a": ["$greater": 1]]).all()
            }
            #expect(invalid?.code == .invalidQuery)
        }
    }

    @available(macOS 14, *)
    @Test("With plain values a condition is one range; arrays are then left out")
    func plainValues() async throws {
        try await RemoteHost.run { host in
            try await host.far.save([
                ["_id": "1", "a": 5], ["_id": "2", "a": [5]], ["_id": "3", "a": "5"], ["_id": "4"],
            ])
            let people: RemoteCollection<BSONDocument> = try host.people()
            for query in [["a": 5], ["a": ["$gt": 4]], ["a": ["$lt": 6]]] as [BSONDocument] {
                #expect(try await sortedIDs(people.find(query).all()) == ["1", "2"])
                let plain = people.find(query).assumingPlainValues()
                #expect(try await sortedIDs(plain.all()) == ["1"])
                let selector = try await plain.explain().request["selector"]?.documentValue
                #expect(selector?.contains(key: "$or") == false)
            }
        }
    }
}
#endif
