import Foundation
import TansuObjects
import Testing

nonisolated struct Writer: Codable, Sendable, Identifiable {
    var id = ObjectID()
    var name: String
    /// A declaration that is the same everywhere.
    static let entity = Entity("writers", of: Writer.self)
}

nonisolated struct Novel: Codable, Sendable, Identifiable {
    var id = ObjectID()
    var title: String
    var year: Int
    var writer: Reference<Writer>?
    var readers: [Reference<Writer>] = []
    static let entity = Entity("novels", of: Novel.self, indexes: [Database.Index(on: \.title)])
        .reference(\.writer, to: "writers", onDelete: .cascade)
        .reference(\.readers, to: "writers", onDelete: .nullify)
}

@Suite("Objects in a module that is isolated to the main actor")
@MainActor
struct ObjectTests {
    private let model = try? Model {
        Writer.entity
        Novel.entity
    }

    @Test("References, graphs, including, inverse, bags, searches and timestamps")
    func references() async throws {
        let db = try Database(.memory)
        try await db.use(try #require(model))
        let (writers, novels) = (try db.collection(of: Writer.self), try db.collection(of: Novel.self))
        let ursula = Writer(name: "Ursula")
        let novel = Novel(title: "The Dispossessed", year: 1974, writer: Reference(to: ursula))
        try await db.save(graph: [ursula, novel])
        #expect(try await novels.find { $0.writer.name == "Ursula" && $0.year > 1970 }.count() == 1)
        #expect(try await writers.find { $0.inverse(\Novel.writer).contains { $0.year < 1980 } }.count() == 1)
        for (novel, writer) in try await novels.find().including(\.writer).all() {
            #expect(writer?.name == "Ursula" && novel.year == 1974)
        }
        let shelves = authorsAndNovels(writers)
        #expect(try await shelves.all().map { $0.1.count } == [1])
        #expect(try await novel.writer?.resolve(in: db)?.name == "Ursula")
        let bag = try db.bag("shelf")
        try await bag.add([novel])
        #expect(try await bag.find(Novel.self).and { $0.year > 1970 }.count() == 1)
        let search = try Search(of: Novel.self, in: db, where: .init("title", .ends("essed")))
        #expect(try await search.objects(of: Novel.self, in: db).map(\.year) == [1974])
        try await writers.remove(id: ursula.id)
        #expect(try await novels.count() == 0)
    }

    private func authorsAndNovels(
        _ writers: Database.Collection<Writer>
    ) -> Including<Writer, (Writer, [Novel])> {
        writers.find().including(all: \Novel.writer) { try $0.sorted(by: \.year) }
    }

    @Test("An editing context changes values of the main actor's module")
    func editing() async throws {
        let db = try Database(.memory)
        try await db.use(try #require(model))
        let novels = try db.collection(of: Novel.self)
        let novel = Novel(title: "Solaris", year: 1960)
        try await novels.insert(novel)
        let context = EditingContext(db, conflicts: .mergeFields)
        let year = 1961
        try await context.update(Novel.self, id: novel.id) { $0.year = year }
        #expect(try await context.fetch(novels.find { $0.year == 1961 }).count == 1)
        let events = db.objectChanges()
        try await context.save()
        for try await event in events {
            #expect(event.ids(\.updated, in: "novels").count == 1)
            break
        }
        #expect(try await novels.get(novel.id)?.year == 1961)
    }
}
