import Foundation
import Tansu
import TansuObjects
import TansuTestSupport
import Testing

@Suite("Bags")
struct BagTests {
    private let db: Database
    private let books: Database.Collection<Book>
    private let tags: Database.Collection<Tag>
    private let author = Author(name: "Lem")

    init() throws {
        db = try Database(.memory)
        try db.use(libraryModel())
        books = try db.collection(of: Book.self)
        tags = try db.collection(of: Tag.self)
        try tags.save((1...6).map { Tag(id: $0, name: "tag \($0)") })
        try db.collection(of: Author.self).save(author)
    }

    private func tag(_ id: Int) -> ObjectKey { ObjectKey(collection: "tags", id: BSONValue(id)) }

    private func ids(_ bag: Bag) throws -> [Int] { try bag.objects(of: Tag.self).map(\.id) }

    @Test("documents of several types, in their order, each once")
    func adding() throws {
        let bag = try db.bag("favourites")
        #expect(try bag.count() == 0 && bag.keys().isEmpty && db.bagNames().isEmpty)
        let book = Book(title: "Solaris", author: Reference(to: author))
        try books.save(book)
        #expect(try bag.add([tag(3), tag(1), tag(3)]) == 2)
        #expect(try bag.add([book]) == 1)
        #expect(try bag.add([tag(1), tag(2)]) == 1)
        #expect(try ids(bag) == [3, 1, 2])
        #expect(try bag.objects(of: Book.self) == [book])
        #expect(try bag.keys().map(\.collection) == ["tags", "tags", "books", "tags"])
        #expect(try bag.documents().map { $0.document["_id"] } == bag.keys().map(\.id))
        #expect(try bag.contains(book) && bag.contains(tag(2)) && !bag.contains(tag(4)))
        #expect(try bag.contains(Author(name: "nobody")) == false)
        #expect(try bag.count() == 4)
        #expect(try db.bagNames() == ["favourites"])
    }

    @Test("collections whose names Swift takes as equal are two")
    func canonicallyEqual() throws {
        let names = ["caf\u{E9}", "cafe\u{301}"]
        for name in names { try db.collection(name).save([["_id": 1, "in": .string(name)], ["_id": 2]]) }
        let keys = names.flatMap { name in [1, 2].map { ObjectKey(collection: name, id: $0) } }
        let bag = try db.bag("bag")
        #expect(try bag.add(keys) == 4)
        #expect(try bag.keys() == keys)
        #expect(try bag.documents().map { $0.document["in"] } == [.string(names[0]), nil, .string(names[1]), nil])
        #expect(try bag.contains(keys[0]) && bag.contains(keys[2]))
        #expect(try bag.remove([keys[0], keys[2]]) == 2)
        #expect(try bag.keys() == [keys[1], keys[3]])
        var search = Search()
        search.collections = names
        #expect(try search.keys(in: db) == keys)
    }

    @Test("a bag in a bag, which it leaves when it is removed, and in which it is renamed")
    func bags() throws {
        let (inner, outer, other) = (try db.bag("inner"), try db.bag("outer"), try db.bag("other"))
        #expect(throws: TansuError.self) { try outer.add([inner.objectKey]) }
        try inner.add([tag(1)])
        #expect(try outer.add([tag(2), inner.objectKey]) == 2)
        #expect(try other.add([inner.objectKey]) == 1)
        #expect(try outer.add([inner.objectKey]) == 0)
        #expect(try inner.add([outer.objectKey]) == 1)
        #expect(try outer.bags().map(\.name) == ["inner"])
        #expect(try inner.bags().map(\.name) == ["outer"])
        #expect(try outer.contains(inner.objectKey) && ids(outer) == [2])
        #expect(try db.bagNames(containing: inner.objectKey) == ["other", "outer"])
        try inner.rename(to: "new")
        let new = try db.bag("new")
        #expect(try outer.bags().map(\.name) == ["new"] && other.bags().map(\.name) == ["new"])
        #expect(try new.bags().map(\.name) == ["outer"] && ids(new) == [1])
        try new.remove()
        #expect(try outer.bags().isEmpty && other.count() == 0 && outer.count() == 1)
        #expect(try db.bagNames() == ["other", "outer"])
    }

    @Test("removing a document takes it out of its bags in the same commit, whichever way it goes")
    func documentRemoved() throws {
        let (one, two) = (try db.bag("one"), try db.bag("two"))
        try one.add([tag(1), tag(2), tag(3)])
        try two.add([tag(2), tag(4)])
        #expect(try db.bagNames(containing: tag(2)) == ["one", "two"])
        #expect(try db.bagNames(containing: #require(try tags.get(4))) == ["two"])
        let before = try #require(try db.stats()["sequence"]?.intValue)
        #expect(try tags.remove(id: 2))
        #expect(try db.stats()["sequence"]?.intValue == before + 1)
        #expect(try one.keys() == [tag(1), tag(3)] && two.keys() == [tag(4)])
        #expect(try db.bagNames(containing: tag(2)).isEmpty)
        try tags.remove(["_id": ["$lt": 4]])
        #expect(try one.count() == 0)
        try db.dropCollection("tags")
        #expect(try two.count() == 0)
        #expect(try db.danglingReferences().count == 0)
    }

    @Test("removing a bag leaves its documents and other bags")
    func bagRemoved() throws {
        let (one, two) = (try db.bag("one"), try db.bag("two"))
        try one.add([tag(1), tag(2)])
        try two.add([tag(2)])
        #expect(try one.remove())
        #expect(try one.remove() == false)
        #expect(try one.count() == 0 && db.bagNames() == ["two"] && tags.count() == 6)
        #expect(try two.keys() == [tag(2)])
        #expect(try one.add([tag(5)]) == 1)
        #expect(try one.keys() == [tag(5)])
    }

    @Test("inserting at a position moves what is there already")
    func inserting() throws {
        let bag = try db.bag("ordered")
        try bag.insert([tag(1), tag(2)], at: 0)
        #expect(try bag.insert([tag(3)], at: 1) == 1)
        #expect(try ids(bag) == [1, 3, 2])
        #expect(try bag.insert([tag(2), tag(4)], at: 0) == 1)
        #expect(try ids(bag) == [2, 4, 1, 3])
        #expect(try bag.insert([tag(2)], at: 4) == 0)
        #expect(try ids(bag) == [4, 1, 3, 2])
        for position in [-1, 5] {
            let error = #expect(throws: TansuError.self) { try bag.insert([tag(5)], at: position) }
            #expect(error?.code == .invalidArgument)
        }
        // Until there is no number between two positions.
        for number in 0..<130 {
            try bag.insert([tag(number % 2 == 0 ? 5 : 6)], at: 1)
            let current = try ids(bag)
            #expect(current[0] == 4 && current[1] == (number % 2 == 0 ? 5 : 6))
            #expect(current.filter { ![5, 6].contains($0) } == [4, 1, 3, 2])
        }
    }

    @Test("unions, intersections and differences")
    func sets() throws {
        let (one, two) = (try db.bag("one"), try db.bag("two"))
        try one.add([tag(1), tag(2), tag(3)])
        try two.add([tag(3), tag(4), tag(1)])
        #expect(try one.formUnion(two) == 1)
        #expect(try ids(one) == [1, 2, 3, 4])
        #expect(try one.subtract(db.bag("none")) == 0)
        #expect(try one.formIntersection(two) == 1)
        #expect(try ids(one) == [1, 3, 4])
        try two.remove([tag(4)])
        #expect(try one.subtract(two) == 2)
        #expect(try ids(one) == [4])
        #expect(try one.removeAll() == 1)
        #expect(try db.bagNames() == ["one", "two"])
    }

    @Test("a query on the values of a bag")
    func query() throws {
        let bag = try db.bag("few")
        #expect(try bag.find(Tag.self).count() == 0)
        try bag.add([tag(5), tag(2), tag(4)])
        #expect(try bag.find(Tag.self).all().map(\.id) == [2, 4, 5])
        #expect(try bag.find(Book.self).all().isEmpty)
        #expect(try tags.find { $0.name > "tag 3" }.count() == 3)
        #expect(try bag.find(Tag.self).sorted(by: \.name, .descending).all().map(\.id) == [5, 4, 2])
    }

    @Test("a document that is not stored, and an empty name, are errors")
    func badInput() throws {
        #expect(throws: TansuError.self) { try db.bag("") }
        let bag = try db.bag("one")
        let error = #expect(throws: TansuError.self) { try bag.add([tag(1), tag(99)]) }
        #expect(error?.code == .notFound)
        #expect(try bag.count() == 0 && db.bagNames().isEmpty)
        #expect(throws: TansuError.self) {
            try bag.add([ObjectKey(collection: "none", id: 1)])
        }
        #expect(try bag.remove([ObjectKey(collection: "none", id: 1), tag(3)]) == 0)
        let other = try Database(.memory)
        #expect(throws: TansuError.self) { try other.bag("a").add([Tag(id: 1, name: "")]) }
    }

    @Test("renaming keeps the documents")
    func renaming() throws {
        let bag = try db.bag("old")
        #expect(throws: TansuError.self) { try bag.rename(to: "new") }
        try bag.add([tag(2), tag(1)])
        try db.bag("taken").add([tag(1)])
        #expect(throws: TansuError.self) { try bag.rename(to: "taken") }
        #expect(throws: TansuError.self) { try bag.rename(to: "") }
        let renamed = try bag.rename(to: "new")
        #expect(try ids(renamed) == [2, 1] && bag.count() == 0)
        #expect(try db.bagNames() == ["new", "taken"])
    }

    @Test("in a transaction, which is rolled back")
    func transactions() throws {
        struct Stop: Error {}
        let bag = try db.bag("one")
        #expect(throws: Stop.self) {
            try db.write { transaction in
                let own = try transaction.bag("one")
                try own.add([tag(1), tag(2)])
                try transaction.collection(of: Tag.self).remove(id: 1)
                #expect(try own.keys() == [tag(2)])
                #expect(try transaction.bagNames() == ["one"])
                throw Stop()
            }
        }
        #expect(try bag.count() == 0 && db.bagNames().isEmpty)
        try db.write { try $0.bag("one").add([tag(1)]) }
        #expect(try db.read { try $0.bag("one").keys() } == [tag(1)])
        // A savepoint is fine once the collection is declared.
        try db.write { transaction in
            try transaction.savepoint { _ = try transaction.bag("two").add([tag(3)]) }
        }
        #expect(try db.bag("two").count() == 1)
    }

    @Test("collections with any name, renamed and made again")
    func collectionNames() throws {
        let bag = try db.bag("all")
        let names = ["a.b", "a-b", "7", "été", "a_b"]
        for name in names {
            try db.collection(name).save(["_id": 1])
            try bag.add([ObjectKey(collection: name, id: 1)])
        }
        try db.renameCollection("a.b", to: "moved")
        try db.collection("a.b").save(["_id": 1])
        try bag.add([ObjectKey(collection: "a.b", id: 1)])
        #expect(try bag.keys().map(\.collection) == ["moved", "a-b", "7", "été", "a_b", "a.b"])
        try db.collection("moved").remove(id: 1)
        #expect(try bag.keys().map(\.collection) == ["a-b", "7", "été", "a_b", "a.b"])
        try db.dropCollection("7")
        #expect(try bag.count() == 4)
    }

    @Test("an observed bag follows its documents")
    func observed() async throws {
        let bag = try db.bag("seen")
        try await bag.add([tag(1), tag(2)])
        var iterator = bag.observe().makeAsyncIterator()
        #expect(try await iterator.next() == [tag(1), tag(2)])
        try await tags.remove(id: 1)
        #expect(try await iterator.next() == [tag(2)])
        try await bag.add([tag(3)])
        #expect(try await iterator.next() == [tag(2), tag(3)])
    }

    @Test("the async variants")
    func asynchronous() async throws {
        let (one, two) = (try db.bag("one"), try db.bag("two"))
        let first = Tag(id: 1, name: "tag 1"), second = Tag(id: 2, name: "tag 2")
        #expect(try await one.add([second]) == 1)
        #expect(try await one.insert([first], at: 0) == 1)
        #expect(try await one.insert([tag(3)], at: 2) == 1)
        #expect(try await one.keys() == [tag(1), tag(2), tag(3)])
        #expect(try await one.objects(of: Tag.self).prefix(2) == [first, second])
        #expect(try await one.documents().map(\.key) == [tag(1), tag(2), tag(3)])
        #expect(try await one.count() == 3)
        #expect(try await one.contains(first))
        #expect(try await !one.contains(tag(5)))
        #expect(try await two.formUnion(one) == 3)
        #expect(try await one.remove([first]) == 1)
        #expect(try await one.remove([tag(3)]) == 1)
        #expect(try await two.subtract(one) == 1)
        #expect(try await one.formIntersection(two) == 1)
        #expect(try await db.bagNames() == ["one", "two"])
        #expect(try await db.bagNames(containing: first) == ["two"])
        #expect(try await db.bagNames(containing: tag(9)).isEmpty)
        #expect(try await two.rename(to: "three").removeAll() == 2)
        #expect(try await one.remove())
        #expect(try await db.write { try await $0.bagNames() } == ["three"])
    }

    @Test("random operations beside arrays in memory")
    func random() throws {
        var random = SystemRandomNumberGenerator()
        let names = ["a", "b", "c"]
        var model: [String: [Int]] = ["a": [], "b": [], "c": []]
        var stored = Set(1...6)
        for step in 0..<400 {
            let name = names.randomElement(using: &random)!
            let bag = try db.bag(name)
            let some = (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in
                stored.randomElement(using: &random)
            }
            var unique: [Int] = []
            for id in some where !unique.contains(id) { unique.append(id) }
            switch Int.random(in: 0..<9, using: &random) {
            case 0...2:
                try bag.add(some.map(tag))
                model[name]! += unique.filter { !model[name]!.contains($0) }
            case 3:
                let position = Int.random(in: 0...model[name]!.count, using: &random)
                try bag.insert(some.map(tag), at: position)
                let before = model[name]!.prefix(position).filter { !unique.contains($0) }
                let after = model[name]!.dropFirst(position).filter { !unique.contains($0) }
                model[name] = before + unique + after
            case 4:
                try bag.remove(some.map(tag))
                model[name]!.removeAll { some.contains($0) }
            case 5:
                let other = names.randomElement(using: &random)!
                try bag.subtract(db.bag(other))
                let gone = model[other]!
                model[name]!.removeAll { gone.contains($0) }
            case 6:
                let other = names.randomElement(using: &random)!
                try bag.formUnion(db.bag(other))
                model[name]! += model[other]!.filter { !model[name]!.contains($0) }
            case 7:
                if let id = stored.randomElement(using: &random) {
                    try tags.remove(id: id)
                    stored.remove(id)
                    for name in names { model[name]!.removeAll { $0 == id } }
                }
            default:
                let id = Int.random(in: 1...8, using: &random)
                try tags.save(Tag(id: id, name: ""))
                stored.insert(id)
            }
            for name in names {
                #expect(try ids(db.bag(name)) == model[name]!, "bag \(name) after step \(step)")
            }
            if Set(names.map { (try? ids(db.bag($0))) ?? [] }) != Set(names.map { model[$0]! }) { return }
        }
    }
}
