import Foundation
import Tansu
import TansuTestSupport
import Testing

// CodableAndIDs.md and Queries.md.

struct Reading: Codable, Sendable { var id: Int; var celsius: Double }

extension Reading: StoredFieldNaming {
    static var storedFieldNames: [PartialKeyPath<Reading>: String] { [\.celsius: "celsius"] }
}

extension GuideExampleTests {
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

        print(try books.get(ids: ["t78", "none"]).map(\.title))  // ["Typography"]

        struct Loan: Codable, Sendable { var id: UUID; var due: Date }
        let loans = try db.collection(
            "loans", of: Loan.self, coding: BSONCodingStrategies(date: .iso8601, uuid: .string))
        try loans.save(Loan(id: UUID(), due: Date(timeIntervalSince1970: 0)))
        print(try loans.find { $0.due < .now }.filter["due"] != nil)  // true
        print(try db.collection("loans").find().first()?["due"] ?? "none")  // "1970-01-01T00:00:00.000Z"

        try db.collection("loans").save(["_id": "damaged", "due": 7])
        let readable = loans.decoding(.skipping())
        print(try readable.find().all().count, try readable.find().count())  // 1 2

        struct Shelved: Codable, Sendable { var shelf: Int? }
        try db.collection("books", of: Shelved.self).update(id: "t78") { $0.shelf = 7 }
        print(try db.collection("books").find().fields(["title": 1, "shelf": 1]).first()?["shelf"]?.intValue ?? 0)  // 7
        print(try books.find().first()?.title ?? "none")  // Typography

        #expect(try printed.lines == shown(by: "CodableAndIDs"))
    }

    @Test func queries() throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        struct Pet: Codable, Sendable { var species: String; var age: Int? }
        struct Person: Codable, Sendable, Identifiable {
            enum CodingKeys: String, CodingKey { case id, name, age, pet, tags, pets = "animals" }
            var id: Int
            var name: String
            var age: Int
            var pet: Pet?
            var tags: [String] = []
            var pets: [Pet] = []
        }

        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        try people.insert([
            Person(id: 1, name: "mike", age: 12, pet: Pet(species: "cat", age: 3), tags: ["school", "chess"]),
            Person(id: 2, name: "rosa", age: 35, pet: Pet(species: "dog"), tags: ["work"]),
            Person(id: 3, name: "omar", age: 7, pets: [Pet(species: "cat", age: 9), Pet(species: "fish", age: 1)]),
            Person(id: 4, name: "lena", age: 35, pet: Pet(species: "cat", age: 8)),
        ])

        let literal = people.find(["pet.species": "cat", "age": ["$gt": 10]])
        let keyPaths = try people.find { $0.pet.species == "cat" && $0.age > 10 }
        let predicate = try people.find(#Predicate { $0.pet?.species == "cat" && $0.age > 10 })

        print(try literal.all().map(\.name))  // ["mike", "lena"]
        print(try keyPaths.all().map(\.name))  // ["mike", "lena"]
        print(try predicate.all().map(\.name))  // ["mike", "lena"]
        print(keyPaths.filter)  // {"pet.species":"cat","age":{"$gt":10}}

        print(try people.find { $0.pet == nil }.all().map(\.name))  // ["omar"]
        print(try people.find { $0.pet.age != 3 }.all().map(\.name))  // ["rosa", "omar", "lena"]
        print(try people.find { !($0.pet.age > 3) }.all().map(\.name))  // ["mike", "rosa", "omar"]
        print(try people.find { $0.age.in([7, 12]) || $0.age.in(30..<40) }.count())  // 4
        print(try people.find { $0.name.hasPrefix("m") }.all().map(\.name))  // ["mike"]
        print(try people.find { $0.name.ignoringCase == "MIKE" }.count())  // 1
        print(try people.find { $0.name.matches("^.e") }.all().map(\.name))  // ["lena"]
        print(try people.find { $0.tags.contains("chess") }.all().map(\.name))  // ["mike"]
        print(try people.find { $0.tags.count > 1 || !$0.pets.isEmpty }.count())  // 2

        let oldCats = try people.find { $0.pets.contains { $0.species == "cat" && $0.age > 5 } }
        print(try oldCats.all().map(\.name))  // ["omar"]
        print(oldCats.filter)  // {"animals":{"$elemMatch":{"species":"cat","age":{"$gt":5}}}}

        let readings = try db.collection("readings", of: Reading.self)
        print(try readings.find { $0.celsius > 30 }.filter)  // {"celsius":{"$gt":30.0}}

        do {
            _ = try people.find(#Predicate { $0.name.count > 3 })
        } catch let error as TansuError {
            print(error.code)  // INVALID_QUERY
        }

        let joined = try people.find(#Predicate { $0.age > 10 && $0.age < 40 }).and(#Predicate { $0.name != "rosa" })
            .and { $0.pet.species == "cat" }
        print(try joined.all().map(\.name))  // ["mike", "lena"]

        let grown = try people.find { $0.age > 10 }.sorted(by: \.age, .descending).sorted(by: \.name)
        print(try grown.first()?.name ?? "nobody")  // lena
        print(try grown.limit(2).all().map(\.name))  // ["lena", "rosa"]
        print(try people.find().distinct(\.age))  // [7, 12, 35]

        let (number, mean) = try people.find { $0.age > 10 }.aggregate(.count, .average(\.pet?.age))
        print(number, mean ?? 0)  // 3 5.5
        for (species, number, oldest) in try people.find().groups(by: \.pet?.species, .count, .max(\.age)) {
            print(species ?? "none", number, oldest ?? 0)  // none 1 7, cat 2 35, dog 1 35
        }

        struct Visit: Codable, Sendable { var page: String; var date: Date; var seconds: Int }
        let visits = try db.collection("visits", of: Visit.self)
        let march = Date(timeIntervalSince1970: 1_773_000_000)
        try visits.save([Visit(page: "/", date: march, seconds: 9), Visit(page: "/", date: march, seconds: 3)])
        let months = try visits.find().groups(
            by: .value(\.page), .start(of: .month, \.date, in: .gmt), computing: .count, .max(\.seconds),
            sorted: [.by(.count, .descending)], limit: 10)
        for ((page, month), (number, longest)) in months {
            print(page, month.formatted(.iso8601), number, longest ?? 0)  // / 2026-03-01T00:00:00Z 2 9
        }

        struct Species: Codable, Sendable { var id: String?; var number: Int; var names: [String] }
        let kinds = try people.aggregate(
            [
                .match { $0.age > 10 },
                .group(by: \.pet?.species, ["number": .count, "names": .push(\.name)]),
                ["$sort": ["number": -1]],
            ], as: Species.self)
        for kind in try kinds.all() { print(kind.id ?? "none", kind.names) }  // cat ["mike", "lena"], dog ["rosa"]
        print(try kinds.explain().stages.map(\.name))  // ["$match", "$group", "$sort"]

        struct Name: Codable, Sendable { var name: String }
        print(try grown.projected(to: Name.self).all().map(\.name))  // ["lena", "rosa", "mike"]

        let page = try grown.page(size: 2)
        print(page.elements.map(\.name))  // ["lena", "rosa"]
        if let token = page.next {  // a text to hand out
            print(try grown.page(after: token, size: 2).elements.map(\.name))  // ["mike"]
        }

        let explanation = try people.find { $0.age == 35 }.explain()
        print(explanation.plan, explanation.returned)  // collection scan 2
        print(explanation.suggestion?.map(\.path) ?? [])  // ["age"]

        #expect(try printed.lines == shown(by: "Queries"))
    }
}
