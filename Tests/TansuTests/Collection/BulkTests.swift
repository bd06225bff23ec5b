import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Savepoints and bulk writes")
struct BulkTests {
    @Test("Every operation has its outcome, and the others are kept in one commit")
    func outcomes() throws {
        let (db, people) = try fourPeople()
        try people.ensureIndex("by_name", on: ["name": .ascending], unique: true)
        let before = try db.stats()["sequence"]?.intValue ?? 0
        let outcomes = try people.bulk([
            .insert(["_id": 9, "name": "ivan"]),
            .insert(["_id": 1, "name": "again"]),
            .save(["_id": 10, "name": "rosa"]),
            .replace(["_id": 77, "name": "nobody"]),
            .update(["name": "omar"], ["$inc": ["age": 1]]),
            .update([:], ["$inc": ["name": 1]]),
            .upsert(["_id": 11], ["$set": ["name": "new"]]),
            .remove(["age": 35], hints: ["$max": 1]),
            .removeID(4),
            .removeID("none"),
            .save(["_id": [1], "name": "z"]),
        ])
        let codes = outcomes.map { ($0.error as? TansuError)?.code }
        #expect(
            codes == [
                nil, .exists, .notUnique, .notFound, nil, .invalidQuery, nil, nil, nil, nil, .invalidID,
            ])
        guard case .saved(9) = outcomes[0], case .updated(let updated) = outcomes[4],
            case .updated(let upserted) = outcomes[6], case .removed(1) = outcomes[7], case .removed(0) = outcomes[9]
        else {
            Issue.record("unexpected outcomes \(outcomes)")
            return
        }
        #expect(updated.modified == 1)
        #expect(upserted.upserted == [11])
        #expect(try people.find().all().map { $0["_id"]?.intValue } == [1, 3, 9, 11])
        #expect(try people.get(3)?["age"] == 8)
        #expect(try db.stats()["sequence"]?.intValue == before + 1)
    }

    @Test("The policy determines what happens to the others", arguments: Database.BulkPolicy.allCases)
    func policies(policy: Database.BulkPolicy) throws {
        let (db, people) = try fourPeople()
        let operations: [Database.BulkOperation<BSONDocument>] = [
            .insert(["_id": 9]), .insert(["_id": 9]), .insert(["_id": 10]),
        ]
        func run(_ people: Database.Collection<BSONDocument>) throws -> [Bool] {
            try people.bulk(operations, policy: policy).map { $0.error == nil }
        }
        switch policy {
        case .allOrNothing:
            let error = #expect(throws: TansuError.self) { try run(people) }
            #expect(error?.code == .exists)
            #expect(try people.count() == 4)
            try db.write { tx in
                let inside = try tx.collection("people")
                try inside.save(["_id": 8])
                #expect(throws: TansuError.self) { try run(inside) }
            }
            #expect(try people.count() == 5)
        case .stopAtFailure:
            #expect(try run(people) == [true, false, true])
            guard case .skipped = try people.bulk([.insert(["_id": 9]), .insert(["_id": 20])], policy: policy)[1]
            else {
                Issue.record("the change after the failure was tried")
                return
            }
            #expect(try people.count() == 5)
        case .skipFailures:
            #expect(try run(people) == [true, false, true])
            #expect(try people.bulk(operations, policy: policy).compactMap(\.error).count == 3)
            #expect(try people.count() == 6)
        }
    }

    @Test("Errors name the operation by its number and _id")
    func errorsNameTheOperation() throws {
        let (_, people) = try fourPeople()
        let operations: [Database.BulkOperation<BSONDocument>] = [
            .insert(["_id": 9]), .insert(["_id": 9]), .update(["name": "mike"], ["$unknown": 1]),
        ]
        let thrown = #expect(throws: TansuError.self) { try people.bulk(operations, policy: .allOrNothing) }
        #expect(thrown?.offset == 1)
        #expect(thrown?.message.contains("operation 1 (insert of _id 9)") == true)
        let errors = try people.bulk(operations).compactMap { $0.error as? TansuError }
        #expect(errors.map(\.offset) == [1, 2])
        #expect(errors[1].message.contains("operation 2 (update of {\"name\":\"mike\"})"))
    }

    @Test("A value that cannot be encoded names the operation, too")
    func encodingErrors() throws {
        struct Measured: Codable, Sendable {
            var id: Int
            var tags: [String: Int]
        }
        let values = try Database(.memory).collection("values", of: Measured.self)
        let error = #expect(throws: EncodingError.self) {
            try values.bulk(
                [.insert(Measured(id: 1, tags: [:])), .insert(Measured(id: 2, tags: ["a\0": 1]))],
                policy: .allOrNothing)
        }
        #expect(error.map { "\($0)" }?.contains("operation 1 (insert") == true)
    }

    @Test("The async variant does the same")
    func asyncVariants() async throws {
        let people = try fourPeople().1
        let outcomes = try await people.bulk([.insert(["_id": 9]), .insert(["_id": 9])])
        #expect(outcomes.map { $0.error == nil } == [true, false])
        let error = await #expect(throws: TansuError.self) {
            try await people.bulk([.insert(["_id": 10]), .insert(["_id": 9])], policy: .allOrNothing)
        }
        #expect(error?.code == .exists)
        #expect(try await people.count() == 5)
    }

    @Test("An error of the database rather than of an operation ends a bulk and rolls it back")
    func fatal() throws {
        let (db, people) = try fourPeople()
        let error = #expect(throws: TansuError.self) {
            try db.write { tx in
                let inside = try tx.collection("people")
                let outcomes = try inside.bulk([.insert(["_id": 9])])
                #expect(outcomes.count == 1)
                tx.cancel()
                try inside.bulk([.insert(["_id": 10])])
            }
        }
        #expect(error?.code == .cancelled)
        #expect(try people.count() == 4)
    }

    @Test("A value that cannot be encoded is the failure of one operation")
    func encoding() throws {
        struct Number: Codable, Sendable {
            var id: Int
            var value: Decimal
        }
        let numbers = try Database(.memory).collection("numbers", of: Number.self)
        // More digits than decimal128 has.
        let large = Number(id: 1, value: .greatestFiniteMagnitude)
        let outcomes = try numbers.bulk([.save(large), .save(Number(id: 2, value: 7))])
        #expect(outcomes[0].error is EncodingError)
        #expect(try numbers.find().all().map(\.id) == [2])
        #expect(try numbers.bulk([]).isEmpty)
    }

    @Test("An error in a savepoint rolls it back, and the transaction continues")
    func savepoint() throws {
        struct Refused: Error {}
        let (db, people) = try fourPeople()
        try db.write { tx in
            let inside = try tx.collection("people")
            let kept = try tx.savepoint {
                #expect(throws: Refused.self) {
                    try tx.savepoint {
                        try inside.remove([:])
                        throw Refused()
                    }
                }
                return try inside.save(["_id": 9])
            }
            #expect(kept == 9)
            #expect(try inside.count() == 5)
            let index = #expect(throws: TansuError.self) {
                try tx.savepoint { try inside.ensureIndex(on: ["a": .ascending]) }
            }
            #expect(index?.code == .invalidState)
            let cursor = try inside.find().makeCursor()
            #expect(try cursor.next() != nil)
            #expect(throws: Refused.self) {
                try tx.savepoint {
                    try inside.update([:], ["$set": ["x": 1]])
                    throw Refused()
                }
            }
            #expect(try cursor.next()?["name"] == "rosa")
        }
        #expect(try people.count() == 5)
        #expect(try people.count(["x": 1]) == 0)
        let reading = #expect(throws: TansuError.self) { try db.read { try $0.savepoint {} } }
        #expect(reading?.code == .readOnly)
        let ended = try db.write { $0 }
        let late = #expect(throws: TansuError.self) { try ended.savepoint {} }
        #expect(late?.code == .invalidState)
    }
}
