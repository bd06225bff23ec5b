import Foundation
import TansuObjects
import Testing

// The catalogue of TansuObjects.

extension GuideExampleTests {
    @Test func objects() async throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        let db = try Database(.memory)
        struct Writer: Codable, Sendable, Identifiable { var id = ObjectID(); var name: String }
        struct Genre: Codable, Sendable, Identifiable { var id: String; var title: String }
        struct Novel: Codable, Sendable, Identifiable {
            var id = ObjectID()
            var title: String
            var year: Int
            var writer: Reference<Writer>
            var genres: [Reference<Genre>] = []
        }
        let model = try Model {
            Entity("writers", of: Writer.self)
            Entity("genres", of: Genre.self).timestamps()
            Entity("novels", of: Novel.self, indexes: [Database.Index(on: \.title)])
                .reference(\.writer, to: "writers", onDelete: .cascade)
                .reference(\.genres, to: "genres", onDelete: .nullify)
        }
        try await db.use(model)
        let (writers, novels) = (try db.collection(of: Writer.self), try db.collection(of: Novel.self))

        let ursula = Writer(name: "Ursula K. Le Guin"), science = Genre(id: "sf", title: "Science fiction")
        let dispossessed = Novel(
            title: "The Dispossessed", year: 1974, writer: Reference(to: ursula), genres: [Reference(to: science)])
        try await db.save(graph: [ursula, science, dispossessed])

        let horror = Genre(id: "ho", title: "Horror"), king = Writer(name: "Stephen King")
        try await db.save(graph: [
            horror, king,
            Novel(
                title: "It", year: 1986, writer: Reference(to: king),
                genres: [Reference(to: horror), Reference(to: science)]),
        ])
        try await db.collection(of: Genre.self).remove(id: "ho")
        print(try await novels.find { $0.title == "It" }.first()?.genres.map(\.id) ?? [])  // ["sf"]
        try await writers.remove(id: king.id)
        print(try await novels.find { $0.title == "It" }.count())  // 0

        try await novels.save(Novel(title: "Nobody's", year: 2000, writer: Reference(id: ObjectID())))
        print(try await db.danglingReferences().references.map(\.path))  // ["writer"]
        print(try await db.repairDanglingReferences().removed)  // 1

        let genres = try db.collection(of: Genre.self)
        print(try await genres.find(savedAfter: Date(timeIntervalSinceNow: -3600)).count())  // 1
        print(try await genres.find(savedOn: Date(timeIntervalSinceNow: -7 * 86_400)).count())  // 0

        print(try await novels.find { $0.writer.name.hasPrefix("Ursula") && $0.year > 1970 }.count())  // 1
        print(try await novels.find { $0.genres.contains { $0.title == "Science fiction" } }.count())  // 1
        print(try await writers.find { $0.inverse(\Novel.writer).contains { $0.year < 1970 } }.count())  // 0
        print(try await novels.find(["writer.name": ["$begin": "Ursula"], "year": ["$gt": 1970]]).count())  // 1

        for (novel, writer, genres) in try await novels.find().including(\.writer).including(all: \.genres).all() {
            print(novel.title, writer?.name ?? "", genres.map(\.id))  // The Dispossessed Ursula K. Le Guin ["sf"]
        }
        let shelves = try await writers.find().including(all: \Novel.writer)
            .annotated(with: .count(\Novel.writer)).all()
        for (writer, works, count) in shelves {
            print(writer.name, works.map(\.year), count)  // Ursula K. Le Guin [1974] 1
        }

        let favourites = try db.bag("favourites")
        try await favourites.add([dispossessed])
        try await favourites.add([ursula])
        print(try await favourites.objects(of: Novel.self).map(\.title))  // ["The Dispossessed"]
        print(try await favourites.find(Novel.self).sorted(by: \.year).count())  // 1
        print(try await db.bagNames(containing: ursula))  // ["favourites"]

        let context = EditingContext(db, conflicts: .mergeFields)
        try await context.update(Novel.self, id: dispossessed.id) { $0.year = 1975 }
        print(try await context.fetch(novels.find { $0.year == 1975 }).count)  // 1
        print(try await novels.find { $0.year == 1975 }.count())  // 0
        try await context.undo()
        print(await context.hasChanges)  // false

        try await db.collection("people").save([
            ["_id": 1, "name": "Núria", "home": ["city": "Barcelona"], "age": 31],
            ["_id": 2, "name": "Nuri", "city": "Paris", "age": 27],
        ])
        let inBarcelona = Search(where: .init(.any, .equal("Barcelona")))
        print(try await inBarcelona.keys(in: db))  // [people 1]
        var search = Search(in: "people", where: .init("name", .begins("nur"), ignoring: [.case, .accents]))
        search.order = [.init("age", .descending)]
        search.returnedAttributes = ["age"]
        print(try await search.documents(in: db).compactMap { $0["age"]?.intValue })  // [31, 27]
        print(try await search.aggregate(.average("age"), in: db))  // 29.0

        let isOld = Search.Expression("year", .less(1980)) || .init(.named("year"), .in([1981, 1982]))
        let old = try Search(of: Novel.self, in: db, where: isOld && !.init("title", .ends("s")))
        print(try await old.objects(of: Novel.self, in: db).map(\.title))  // ["The Dispossessed"]
        print(try inBarcelona.query)  // {"**":{"$eq":"Barcelona"}}
        #expect(printed.lines == (try shown(by: "TansuObjects")))
    }
}
