import Tansu
import TansuTestSupport
import Testing

private struct Account: Codable, Sendable, Identifiable {
    var id: Int
    var mail: String?
    var city = "Kassel"

    enum CodingKeys: String, CodingKey {
        case id
        case mail = "mail_address"
        case city
    }
}

@Suite("Declared indexes")
struct DeclaredIndexTests {
    private func accounts(_ db: Database) throws -> Database.Collection<Account> {
        try db.collection(
            "accounts", of: Account.self,
            indexes: [
                Database.Index("by_mail", on: \.mail, unique: true, sparse: true),
                Database.Index(on: \.city, \.mail, directions: [.descending]),
            ])
    }

    @Test("The first save creates them, also after the collection was dropped or renamed")
    func everyCreation() throws {
        let db = try Database(.memory)
        let accounts = try accounts(db)
        #expect(try db.collectionNames().isEmpty)
        for round in 0..<3 {
            // Another handle without the declaration.
            let others = try db.collection("accounts", of: Account.self)
            try others.save(Account(id: 1, mail: "a"))
            #expect(try accounts.indexes().map(\.name) == ["by_mail", "city_-1_mail_address_1"])
            let error = #expect(throws: TansuError.self) { try others.save(Account(id: 2, mail: "a")) }
            #expect(error?.code == .notUnique)
            try others.save([Account(id: 3), Account(id: 4)])
            if round == 0 { try db.dropCollection("accounts") }
            if round == 1 { try db.renameCollection("accounts", to: "old") }
        }
    }

    @Test("A first save in a transaction creates them, and a rollback removes them")
    func transactions() throws {
        let db = try Database(.memory)
        let accounts = try accounts(db)
        try db.write { tx in
            let inside = try tx.collection("accounts", of: Account.self)
            #expect(throws: CancellationError.self) {
                try tx.savepoint {
                    try inside.save(Account(id: 1, mail: "a"))
                    #expect(try inside.indexes().count == 2)
                    throw CancellationError()
                }
            }
            #expect(try tx.collectionNames().isEmpty)
            try inside.save(Account(id: 1, mail: "a"))
            #expect(throws: TansuError.self) { try inside.save(Account(id: 2, mail: "a")) }
        }
        #expect(try accounts.indexes().count == 2)
        try db.write { tx in
            let others = try tx.collection(
                "others", of: Account.self, indexes: [Database.Index(on: ["city": .ascending])])
            try others.save(Account(id: 1))
            #expect(try others.indexes().map(\.name) == ["city_1"])
        }
    }

    @Test("Existing documents are indexed, and a violation is an error that declares nothing")
    func existing() async throws {
        let db = try Database(.memory)
        let plain = try db.collection("accounts", of: Account.self)
        try await plain.save([Account(id: 1, mail: "a"), Account(id: 2, mail: "a")])
        let error = #expect(throws: TansuError.self) { try accounts(db) }
        #expect(error?.code == .notUnique)
        try await plain.remove(id: 2)
        #expect(try await accounts(db).indexes().count == 2)
        let other = await #expect(throws: TansuError.self) {
            try await db.collection(
                "accounts", of: Account.self, indexes: [Database.Index("by_mail", on: \.city)])
        }
        #expect(other?.code == .exists)
        _ = try await db.collection("documents", indexes: [Database.Index(on: [Database.IndexKey("a")])])
        try await db.collection("documents").save(["a": 1])
        #expect(try await db.collection("documents").indexes().map(\.name) == ["a_1"])
    }

    @Test("A declared index keeps its bound on entries")
    func maxEntries() throws {
        let accounts = try Database(.memory).collection(
            "accounts", of: Account.self, indexes: [Database.Index(on: \.city, maxEntries: 20_000)])
        try accounts.save(Account(id: 1))
        #expect(try accounts.indexes().first?.maxEntries == 20_000)
    }

    @Test("Two values without a mail violate an index that is not sparse, and the error says so")
    func nils() throws {
        let accounts = try Database(.memory).collection(
            "accounts", of: Account.self, indexes: [Database.Index(on: \.mail, unique: true)])
        try accounts.save(Account(id: 1))
        let error = #expect(throws: TansuError.self) { try accounts.save(Account(id: 2)) }
        #expect(error?.message.contains("\"sparse\"") == true)
    }
}
