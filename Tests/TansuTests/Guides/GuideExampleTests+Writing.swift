import Foundation
import Tansu
import TansuTestSupport
import Testing

// Writing.md and ConcurrencyAndTransactions.md.
extension GuideExampleTests {
    @Test func writing() throws {
        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        let visits = try db.collection("visits")
        let (mike, rosa) = (Person.mike, Person.rosa)

        try people.save([mike, rosa])
        try people.update(id: mike.id) { $0.age += 1 }
        try people.update(["age": ["$gte": 18]]) { person in
            person.name = person.name.uppercased()
        }
        try visits.upsert(["page": "/"], ["$inc": ["count": 1]])
        try visits.update(["page": "/"], with: [.set(["next": ["$add": ["$count", 1]]])])
        #expect(try visits.find().first()?["next"] == 2)
        #expect(try people.find().all().map(\.name) == ["mike", "ROSA"])
        #expect(try people.get(mike.id)?.age == 13)

        try people.save(Person(name: "omar", age: 1))
        try people.update(where: { $0.age > 30 && $0.pet.species == "dog" }) {
            $0.increment(\.age)
            $0.set(\.pet, nil)
        }
        try people.remove(people.find().sorted(by: \.age).limit(1))
        try people.remove { $0.name == "nobody" }
        try people.upsert(where: { $0.name == "lena" }, inserting: Person(name: "lena", age: 1)) { $0.increment(\.age) }
        #expect(try people.remove { $0.name == "lena" } == 1)
        #expect(try people.find().all().map(\.name) == ["mike", "ROSA"])
        #expect(try people.get(rosa.id)?.pet == nil)

        let outcomes = try people.bulk([
            .insert(mike), .update(["name": "ROSA"], ["$inc": ["age": 1]]), .removeID(ObjectID()),
        ])
        let errors = outcomes.compactMap(\.error)
        #expect(errors.count == 1)
    }

    @Test func concurrencyAndTransactions() async throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        struct Account: Codable, Sendable, Identifiable { var id: String; var balance: Int }

        let db = try await Database.open(.memory)
        let accounts = try db.collection("accounts", of: Account.self)
        try await accounts.insert([Account(id: "mike", balance: 100), Account(id: "rosa", balance: 20)])
        for try await account in try accounts.find().sorted(by: \.id) {
            print(account.id, account.balance)  // mike 100, rosa 20
        }

        async let first = accounts.update(id: "rosa") { $0.balance += 1 }
        async let second = accounts.update(id: "rosa") { $0.balance += 1 }
        _ = try await (first, second)
        print(try await accounts.get("rosa")?.balance ?? 0)  // 22

        struct NotEnough: Error {}

        @Sendable func transfer(_ amount: Int, from payer: String, to payee: String) async throws {
            try await db.write { transaction in
                let accounts = try transaction.collection("accounts", of: Account.self)
                try accounts.update(id: payee) { $0.balance += amount }
                try accounts.update(id: payer) { account in
                    guard account.balance >= amount else { throw NotEnough() }
                    account.balance -= amount
                }
                try transaction.collection("ledger").save(["from": .string(payer), "amount": BSONValue(amount)])
            }
        }

        try await transfer(30, from: "mike", to: "rosa")
        do { try await transfer(300, from: "mike", to: "rosa") } catch is NotEnough { print("rejected") }  // rejected
        print(try await accounts.find().sorted(by: \.id).all().map(\.balance))  // [70, 52]

        actor Register {
            let db: Database
            private(set) var count = 0

            init(_ db: Database) { self.db = db }

            func note(_ text: String) async throws {
                try await db.write { transaction in
                    try transaction.collection("notes").save(["text": .string(text)])
                    self.count += 1
                }
            }
        }

        let register = Register(db)
        try await register.note("audit")
        print(await register.count)  // 1

        let (total, transfers) = try await db.read { transaction in
            let accounts = try transaction.collection("accounts", of: Account.self)
            return (try accounts.find().aggregate(.sum(\.balance)), try transaction.collection("ledger").count())
        }
        print(total, transfers)  // 122 1

        try await db.write { transaction in
            let accounts = try transaction.collection("accounts", of: Account.self)
            try accounts.update(id: "mike") { $0.balance += 1 }
            do {
                try transaction.savepoint {
                    try accounts.remove(id: "rosa")
                    throw NotEnough()
                }
            } catch is NotEnough {}
        }
        print(try await accounts.find().sorted(by: \.id).all().map(\.balance))  // [71, 52]

        let search = Task { try await accounts.find(["id": ["$regex": "^(m|r)"]]).all() }
        search.cancel()
        let result = await search.result  // the documents, or CancellationError
        switch result {
        case .success(let found): #expect(found.count == 2)
        case .failure(let error): #expect(error is CancellationError)
        }

        try await db.suspend(timeout: .seconds(3))
        // Here another process may write. This one may be stopped.
        try await db.resume()
        print(try await accounts.count())  // 2

        #expect(try printed.lines == shown(by: "ConcurrencyAndTransactions"))
    }
}
