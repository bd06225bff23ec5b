import Foundation
import Logging
import Tansu
import Testing

/// The examples of the documentation catalogue: each page's blocks, one after another, with their very words.
@Suite("The documentation catalogue")
struct CatalogueTests {
    @Test func gettingStarted() throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        struct Pet: Codable, Sendable { var species: String }
        struct Person: Codable, Sendable, Identifiable {
            var id = ObjectID()  // stored as `_id`
            var name: String
            var age: Int
            var pet: Pet?
        }

        let db = try Database(.memory)  // or Database(path: "people.tansu")
        let people = try db.collection("people", of: Person.self)

        let mike = Person(name: "mike", age: 12, pet: Pet(species: "cat"))
        try people.save(mike)
        try people.save([Person(name: "rosa", age: 35), Person(name: "omar", age: 7)])

        print(try people.get(mike.id)?.name ?? "nobody")  // mike
        let grown = try people.find { $0.age > 10 }.sorted(by: \.age, .descending)
        print(try grown.all().map(\.name))  // ["rosa", "mike"]

        try people.update(id: mike.id) { $0.age += 1 }
        try people.update(["pet": ["$exists": false]], ["$set": ["pet": ["species": "dog"]]])
        try people.remove(people.find { $0.age < 10 }.filter)
        print(try people.find { $0.pet.species == "dog" }.first()?.name ?? "nobody")  // rosa

        let visits = try db.collection("visits")
        try visits.save(["page": "/", "seconds": 3, "from": ["country": "JP"]])
        let first = try visits.find(["from.country": "JP"]).first()
        print(first?[path: "from.country"]?.stringValue ?? "nowhere")  // JP

        do {
            try people.insert(mike)
        } catch let error as TansuError where error.code == .exists {
            print(error.code)  // EXISTS
        }

        #expect(try printed.lines == shown(by: "GettingStarted"))
    }

    @Test func queries() throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        struct Pet: Codable, Sendable { var species: String; var age: Int? }
        struct Person: Codable, Sendable, Identifiable {
            var id: Int
            var name: String
            var age: Int
            var pet: Pet?
            var tags: [String] = []
        }

        let people = try Database(.memory).collection("people", of: Person.self)
        try people.insert([
            Person(id: 1, name: "mike", age: 12, pet: Pet(species: "cat", age: 3), tags: ["school", "chess"]),
            Person(id: 2, name: "rosa", age: 35, pet: Pet(species: "dog"), tags: ["work"]),
            Person(id: 3, name: "omar", age: 7),
            Person(id: 4, name: "lena", age: 35, pet: Pet(species: "cat", age: 8)),
        ])

        let literal = people.find(["pet.species": "cat", "age": ["$gt": 10]])
        let keyPaths = try people.find { $0.pet.species == "cat" && $0.age > 10 }
        print(try literal.all().map(\.name))  // ["mike", "lena"]
        print(keyPaths.filter)  // {"pet.species":"cat","age":{"$gt":10}}

        print(try people.find { $0.pet == nil }.all().map(\.name))  // ["omar"]
        print(try people.find { $0.tags.contains("chess") }.count())  // 1
        print(try people.find { $0.name.hasPrefix("m") || $0.age.in(30..<40) }.count())  // 3

        let grown = try people.find { $0.age > 10 }.sorted(by: \.age, .descending).sorted(by: \.name)
        print(try grown.first()?.name ?? "nobody")  // lena
        print(try grown.skip(1).limit(1).all().map(\.name))  // ["rosa"]
        print(try people.find().distinct(\.age))  // [7, 12, 35]

        let (number, mean) = try people.find { $0.age > 10 }.figures(.count, .average(\.pet?.age))
        print(number, mean ?? 0)  // 3 5.5
        for (species, number) in try people.find().groups(by: \.pet?.species, .count) {
            print(species ?? "none", number)  // none 1, cat 2, dog 1
        }

        struct Name: Codable, Sendable { var name: String }
        let page = try grown.projected(to: Name.self).page(size: 2)
        print(page.elements.map(\.name))  // ["lena", "rosa"]
        if let token = page.next { print(try grown.page(after: token, size: 2).elements.map(\.name)) }  // ["mike"]

        #expect(try printed.lines == shown(by: "Queries"))
    }

    @Test func codableAndIDs() throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        struct Book: Codable, Sendable, Identifiable {
            enum CodingKeys: String, CodingKey { case id, title, year = "published" }
            var id: String
            var title: String
            var year: Int?
        }

        let db = try Database(.memory)
        let books = try db.collection("books", of: Book.self)
        try books.save(Book(id: "t78", title: "Typography", year: 1978))
        print(try books.find { $0.year > 1970 }.filter)  // {"published":{"$gt":1970}}
        print(try db.collection("books").find().all())  // [{"_id":"t78","title":"Typography","published":1978}]

        print(try books.get("t78")?.title ?? "none")  // Typography
        let notes = try db.collection("notes")
        let id = try notes.save(["text": "no id, so it gets an ObjectID"])
        print(id.objectIDValue != nil)  // true

        struct Shelved: Codable, Sendable { var shelf: Int? }
        try db.collection("books", of: Shelved.self).update(id: "t78") { $0.shelf = 7 }
        print(try db.collection("books").find().fields(["title": 1, "shelf": 1]).first()?["shelf"]?.intValue ?? 0)  // 7
        print(try books.find().first()?.title ?? "none")  // Typography

        #expect(try printed.lines == shown(by: "CodableAndIDs"))
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
        do { try await transfer(300, from: "mike", to: "rosa") } catch is NotEnough { print("refused") }  // refused
        print(try await accounts.find().sorted(by: \.id).all().map(\.balance))  // [70, 52]

        let (total, transfers) = try await db.read { transaction in
            let accounts = try transaction.collection("accounts", of: Account.self)
            return (try accounts.find().figures(.sum(\.balance)), try transaction.collection("ledger").count())
        }
        print(total, transfers)  // 122 1

        let search = Task { try await accounts.find(["id": ["$regex": "^(m|r)"]]).all() }
        search.cancel()
        let result = await search.result  // what was found before, or CancellationError
        _ = result

        #expect(try printed.lines == shown(by: "ConcurrencyAndTransactions"))
    }

    @Test func observingChanges() async throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        struct Note: Codable, Sendable, Identifiable {
            var id = ObjectID()
            var title: String
        }

        let db = try await Database.open(.memory)
        let notes = try db.collection("notes", of: Note.self)
        try await notes.save(Note(title: "milk"))

        for try await list in notes.find().sorted(by: "title").observe() {
            print(list.map(\.title))  // ["milk"], ["bread", "milk"]
            if list.count == 2 { break }
            try await notes.save(Note(title: "bread"))
        }

        for try await update in notes.find().sorted(by: "title").observeChanges() {
            print(update.changes == [.inserted(at: 0), .inserted(at: 1)])  // true
            break
        }

        let changes = notes.changes()
        try await notes.save(Note(title: "eggs"))
        try await notes.remove(["title": "bread"])

        var lastSeen = 0
        for try await change in changes {
            print(change.kind, change.after?.title ?? "-")  // insert eggs, delete -
            lastSeen = change.resumePoint
            if change.kind == .delete { break }
        }

        try await notes.save(Note(title: "tea"))
        for try await change in notes.changes(since: lastSeen) {
            print(change.after?.title ?? "-")  // tea
            break
        }

        #expect(try printed.lines == shown(by: "ObservingChanges"))
    }

    @Test func migratingDocuments() throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        let db = try Database(.memory)
        try db.collection("people").save(["_id": 1, "name": "mike", "age": "12", "birthday": "May"])

        var migrations = Database.Migrations()
        migrations.add("people by name") { step in
            try step.collection("people").ensureIndex("by_name", on: ["name": .ascending])
        }
        migrations.add("ages are numbers") { step in
            try step.rewrite("people") { person in
                if let age = person["age"]?.stringValue.flatMap({ Int($0) }) { person["age"] = BSONValue(age) }
            }
            try step.collection("people").update([:], ["$unset": ["birthday": 1]])
        }
        try db.migrate(migrations)
        print(try db.collection("people").find().all())  // [{"_id":1,"name":"mike","age":12}]

        migrations.add("everybody has tags") { step in
            try step.collection("people").update(["tags": ["$exists": false]], ["$set": ["tags": []]])
        }
        try db.migrate(migrations)
        print(try db.appliedMigrations().map(\.name).count)  // 3

        #expect(try printed.lines == shown(by: "MigratingDocuments"))
    }

    @Test func performance() throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        struct City: Codable, Sendable { var id: Int; var country: String; var population: Int }

        let db = try Database(.memory)
        let cities = try db.collection("cities", of: City.self)
        try cities.insert((0..<5000).map { City(id: $0, country: "C\($0 % 100)", population: $0) })

        let largest = try cities.find { $0.country == "C7" }.sorted(by: \.population, .descending).limit(3)
        let before = try largest.explain()
        print(before.plan)  // every document is looked at (a scan), sorted in memory
        print(before.suggestion?.map(\.path) ?? [])  // ["country", "population"]

        try cities.ensureIndex(on: ["country": .ascending, "population": .descending])
        let after = try largest.explain()
        print(after.plan.kind == .index, after.plan.order == .index)  // true true
        print(after.documentsExamined)  // 3

        try db.write(durability: .process) { transaction in
            try transaction.collection("cities", of: City.self).save(City(id: 5000, country: "C0", population: 1))
        }

        let options = Database.Options(logger: Logger(label: "cities"), slowCallTime: .milliseconds(50))
        let watched = try Database(.temporary, options: options)
        try watched.close()

        #expect(try printed.lines == shown(by: "Performance"))
    }

    @Test func landingPage() throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        try people.save(Person(name: "mike", age: 12, pet: Pet(species: "cat")))
        let cats = try people.find { $0.pet.species == "cat" }.sorted(by: \.age, .descending)
        print(try cats.all().map(\.name))  // ["mike"]

        #expect(try printed.lines == shown(by: "Tansu"))
    }

    @Test("Every example of a page stands in this file, which compiles and runs it")
    func examplesAreHere() throws {
        let here = words(try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8))
        let pages = try FileManager.default.contentsOfDirectory(at: catalogue, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "md" }
        #expect(pages.count == 8)
        for page in pages {
            let examples = try blocks(of: page)
            #expect(!examples.isEmpty)
            for example in examples { #expect(here.contains(words(example)), "\(page.lastPathComponent): \(example)") }
        }
    }

    private var catalogue: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Tansu/Tansu.docc")
    }

    private func blocks(of page: URL) throws -> [String] {
        try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
    }

    private func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// What the comments of a page say that its examples print.
    private func shown(by page: String) throws -> String {
        let lines = try blocks(of: catalogue.appendingPathComponent("\(page).md")).flatMap {
            $0.components(separatedBy: "\n")
        }
        return lines.compactMap { line -> String? in
            guard let call = line.range(of: "print("), let comment = line.range(of: "  // ") else { return nil }
            return call.lowerBound < comment.lowerBound ? String(line[comment.upperBound...]) : nil
        }
        .joined(separator: ", ")
    }

    /// What examples print, each line with a comma behind it, as a comment has it.
    private struct Printed {
        private(set) var lines = ""

        mutating func add(_ items: [Any]) {
            if !lines.isEmpty { lines += ", " }
            lines += items.map { "\($0)" }.joined(separator: " ")
        }
    }
}
