import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Documents that cannot be decoded")
struct DecodingPolicyTests {
    struct Checked: Codable, Sendable, Equatable {
        struct Refused: Error {}

        var id: Int
        var mail: String

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.decode(Int.self, forKey: .id)
            mail = try fields.decode(String.self, forKey: .mail)
            if !mail.contains("@") { throw Refused() }
        }
    }

    struct Owner: Codable, Sendable, Equatable {
        var id: Int
        var name: String
        var age: Int
        var pet: Pet?
        var pets: [Pet]?
    }

    /// What was skipped.
    final class Report: Sendable {
        private let skipped = Locked<[Database.UndecodableDocument]>([])

        var policy: Database.DecodingPolicy { .skipping { document in self.skipped.withLock { $0.append(document) } } }
        var ids: [BSONValue?] { skipped.withLock { $0.map(\.id) } }
        var all: [Database.UndecodableDocument] { skipped.withLock { $0 } }
    }

    private let db: Database
    private let owners: Database.Collection<Owner>
    private let report = Report()

    init() throws {
        db = try Database(.memory)
        owners = try db.collection("owners", of: Owner.self)
        try db.collection("owners").save([
            ["_id": 1, "name": "mike", "age": 12], ["_id": 2, "name": "rosa", "age": "35"],
            ["_id": 3, "name": "omar", "age": 7], ["_id": 4, "name": "lena", "pet": ["species": "cat"]],
        ])
    }

    private func text(_ error: DecodingError?) throws -> String {
        switch try #require(error) {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            return context.debugDescription
        @unknown default: return ""
        }
    }

    @Test("An error names id, collection, path, and the expected and found types")
    func names() throws {
        let mismatch = try text(#expect(throws: DecodingError.self) { try owners.find().all() })
        for part in ["_id 2", "\"owners\"", "\"age\"", "Int", "\"string\""] {
            #expect(mismatch.contains(part), "\(mismatch)")
        }
        let missing = try text(#expect(throws: DecodingError.self) { try owners.get(4) })
        for part in ["_id 4", "\"owners\"", "\"age\""] { #expect(missing.contains(part), "\(missing)") }
        try db.collection("owners").update(
            ["_id": 4], ["$set": ["age": 1, "pets": [["species": "x"], ["species": 5]]]])
        let nested = try text(#expect(throws: DecodingError.self) { try owners.find { $0.id == 4 }.first() })
        #expect(nested.contains("\"pets.1.species\""), "\(nested)")
    }

    @Test("The error of a call for many documents says how to go on, that of a call for one does not")
    func advice() throws {
        #expect(try text(#expect(throws: DecodingError.self) { try owners.find().all() }).contains(".skipping()"))
        #expect(try !text(#expect(throws: DecodingError.self) { try owners.get(2) }).contains(".skipping()"))
    }

    @Test("Every way to read names the document")
    func everyWay() async throws {
        let bad = owners.find(["_id": 2])
        var errors: [DecodingError?] = []
        errors.append(#expect(throws: DecodingError.self) { try bad.first() })
        errors.append(#expect(throws: DecodingError.self) { try bad.forEach { _ in } })
        errors.append(#expect(throws: DecodingError.self) { try bad.makeCursor().next() })
        errors.append(#expect(throws: DecodingError.self) { try bad.page(size: 5) })
        errors.append(#expect(throws: DecodingError.self) { try owners.update(id: 2) { $0.age = 1 } })
        errors.append(#expect(throws: DecodingError.self) { try owners.update(["_id": 2]) { $0.age = 1 } })
        errors.append(#expect(throws: DecodingError.self) { try owners.findAndUpdate(["_id": 2], ["$set": ["x": 1]]) })
        errors.append(await #expect(throws: DecodingError.self) { try await bad.all() })
        errors.append(await #expect(throws: DecodingError.self) { try await owners.get(2) })
        errors.append(await #expect(throws: DecodingError.self) { for try await _ in bad {} })
        for error in errors { #expect(try text(error).contains("_id 2 of collection \"owners\"")) }
    }

    @Test("What a type throws itself is the underlying error")
    func customErrors() throws {
        try db.collection("checked").save(["_id": 7, "mail": "nobody"])
        let checked = try db.collection("checked", of: Checked.self)
        let error = #expect(throws: DecodingError.self) { try checked.get(7) }
        #expect(try text(error).contains("_id 7"))
        guard case .dataCorrupted(let context)? = error else { return }
        #expect(context.underlyingError is Checked.Refused)
    }

    @Test("Skipped documents are left out of every result, and reported")
    func skipping() async throws {
        let query = owners.decoding(report.policy).find()
        #expect(try await query.all().map(\.id) == [1, 3])
        #expect(report.ids == [2, 4])
        #expect(try #require(report.all.first).document["name"] == "rosa")
        #expect(report.all.allSatisfy { $0.collection == "owners" && $0.error is DecodingError })
        #expect("\(report.all[0])".contains("_id 2"))
        #expect(try await query.all().map(\.id) == [1, 3])
        var ids: [Int] = []
        try query.forEach { ids.append($0.id) }
        for try await owner in query { ids.append(owner.id) }
        let cursor = try query.makeCursor()
        while let owner = try cursor.next() { ids.append(owner.id) }
        #expect(ids == [1, 3, 1, 3, 1, 3])
        // A call for one document says what is wrong with it.
        #expect(throws: DecodingError.self) { try owners.decoding(report.policy).get(2) }
    }

    @Test("The first document is the first that can be decoded")
    func first() throws {
        let sorted = owners.find().decoding(report.policy).sorted(by: "_id", .descending)
        #expect(try sorted.first()?.id == 3)
        #expect(try sorted.skip(2).first()?.id == 1)
        #expect(try sorted.limit(1).first() == nil)
        #expect(try owners.find(["_id": ["$in": [2, 4]]]).decoding(.skipping()).first() == nil)
        #expect(try owners.decoding(report.policy).find().all().map(\.id) == [1, 3])
    }

    @Test("The first document is the first that can be decoded, also asynchronously")
    func asyncFirst() async throws {
        let sorted = owners.find().decoding(.skipping()).sorted(by: "_id", .descending)
        #expect(try await sorted.first()?.id == 3)
    }

    @Test("Pages go on after documents that are skipped")
    func pages() throws {
        let query = owners.find().decoding(.skipping())
        var ids: [[Int]] = []
        var token: Database.PageToken?
        repeat {
            let page = try query.page(after: token, size: 1)
            ids.append(page.elements.map(\.id))
            token = page.next
        } while token != nil
        #expect(ids == [[1], [], [3], []])
    }

    @Test("The policy goes with a query to another type, and can be changed back")
    func other() throws {
        struct Age: Codable, Sendable { var age: Int }
        let skipping = owners.decoding(.skipping())
        #expect(try skipping.find().decoded(as: Age.self).all().map(\.age) == [12, 7])
        #expect(try skipping.decoded(as: Age.self).find().all().count == 2)
        #expect(throws: DecodingError.self) { try skipping.find().decoding(.strict).all() }
    }

    @Test("An observation leaves out what it skips, and notices when it is repaired", .timeLimit(.minutes(20)))
    func observation() async throws {
        var updates = owners.decoding(report.policy).find().sorted(by: "_id").observeChanges().makeAsyncIterator()
        #expect(try await updates.next()?.elements.map(\.id) == [1, 3])
        try await db.collection("owners").update(["_id": 2], ["$set": ["age": 35]])
        let update = try await updates.next()
        #expect(update?.elements.map(\.id) == [1, 2, 3])
        #expect(update?.changes == [.inserted(at: 1)])
    }

    @Test("A strict observation goes on after its error", .timeLimit(.minutes(20)))
    func strictObservation() async throws {
        var lists = owners.find().sorted(by: "_id").observe().makeAsyncIterator()
        await #expect(throws: DecodingError.self) { try await lists.next() }
        try await db.collection("owners").update(["_id": ["$in": [2, 4]]], ["$set": ["age": 35]])
        #expect(try await lists.next()?.map(\.id) == [1, 2, 3, 4])
        try await db.collection("owners").update(["_id": 1], ["$set": ["age": "x"]])
        await #expect(throws: DecodingError.self) { try await lists.next() }
        try await db.collection("owners").remove(id: 1)
        #expect(try await lists.next()?.map(\.id) == [2, 3, 4])
    }

    @Test("The result after an error is delivered, also when it equals the one before", .timeLimit(.minutes(20)))
    func resultAfterError() async throws {
        let raw = try db.collection("owners")
        try await raw.remove(["_id": ["$in": [2, 4]]])
        var lists = owners.find().observe().makeAsyncIterator()
        var updates = owners.find().observeChanges().makeAsyncIterator()
        #expect(try await lists.next()?.map(\.id) == [1, 3])
        #expect(try await updates.next()?.elements.map(\.id) == [1, 3])
        for _ in 0..<2 {
            try await raw.save(["_id": "bad"])
            await #expect(throws: DecodingError.self) { try await lists.next() }
            await #expect(throws: DecodingError.self) { try await updates.next() }
            try await raw.remove(id: "bad")
            #expect(try await lists.next()?.map(\.id) == [1, 3])
            let update = try await updates.next()
            #expect(update?.elements.map(\.id) == [1, 3] && update?.changes == [])
        }
        // Without an error such a result is left out.
        try await raw.save(["_id": 1, "name": "mike", "age": 12])
        try await raw.save(["_id": 5, "name": "anna", "age": 2])
        #expect(try await lists.next()?.map(\.id) == [1, 3, 5])
    }

    @Test("The first result is delivered after an error, also when it is empty", .timeLimit(.minutes(20)))
    func firstResultAfterError() async throws {
        var lists = owners.find(["_id": 2]).observe().makeAsyncIterator()
        await #expect(throws: DecodingError.self) { try await lists.next() }
        try await db.collection("owners").remove(id: 2)
        #expect(try await lists.next() == [])
    }

    @Test("A copy of what can be decoded follows the change stream", .timeLimit(.minutes(20)))
    func mirror() async throws {
        let raw = try db.collection("owners")
        let skipping = owners.decoding(report.policy)
        var copy: [BSONValue: Owner] = [:]
        for owner in try await skipping.find().all() { copy[BSONValue(owner.id)] = owner }
        var changes = skipping.changes().makeAsyncIterator()
        let commits: [@Sendable () async throws -> Void] = [
            { try await raw.save(["_id": "bad"]) },
            { try await raw.update(["_id": 1], ["$set": ["age": "x"]]) },
            { try await raw.update(["_id": 2], ["$set": ["age": 35]]) },
            { try await raw.update(["_id": 1], ["$set": ["age": 13]]) },
            { try await raw.remove(id: "bad") },
            { try await raw.remove(id: 3) },
        ]
        for commit in commits {
            try await commit()
            // Each commit has its event, so that a resume token is there for each.
            let change = try #require(try await changes.next())
            #expect(change.isLastOfCommit)
            copy[try #require(change.id)] = change.after
            #expect(try await copy.values.sorted { $0.id < $1.id } == skipping.find().sorted(by: "_id").all())
        }
        #expect(copy.keys.sorted { $0.intValue ?? 0 < $1.intValue ?? 0 } == [1, 2])
    }

    @Test("A change event of a document that is skipped has no document", .timeLimit(.minutes(20)))
    func changes() async throws {
        var changes = owners.decoding(report.policy).changes().makeAsyncIterator()
        try await db.collection("owners").update(["_id": 2], ["$set": ["name": "r"]])
        let change = try #require(try await changes.next())
        #expect(change.id == 2 && change.kind == .update && change.after == nil)
        #expect(report.ids == [2])
    }
}
