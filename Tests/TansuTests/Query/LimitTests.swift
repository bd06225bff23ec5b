import Tansu
import Testing

@Suite("Limits")
struct LimitTests {
    private struct Item: Codable, Sendable, Identifiable { var id: Int }

    private let items: Database.Collection<Item>

    init() throws {
        items = try Database(.memory).collection("items", of: Item.self)
        try items.save((1...4).map { Item(id: $0) })
    }

    @Test("A limit of 0 is none, for reads and writes")
    func none() throws {
        let query = try items.find { $0.id > 0 }.limit(0)
        #expect(try query.all().isEmpty && query.count() == 0 && query.first() == nil)
        #expect(try items.find().limit(0).count() == 0)
        #expect(try query.sorted(by: \.id).skip(1).and { $0.id > 1 }.all().isEmpty)
        #expect(try items.update(query) { $0.set(\.id, 1) }.matched == 0)
        #expect(try items.remove(query) == 0)
        #expect(try items.count() == 4)
        #expect(try items.remove(items.find().sorted(by: \.id).limit(3)) == 3)
    }

    @Test("A limit of 0 is none with await")
    func noneAsync() async throws {
        let query = try items.find { $0.id > 0 }.limit(0)
        let removed = try await items.remove(query)
        let left = try await items.count()
        #expect(removed == 0 && left == 4)
    }

    @Test("A negative number is an error in the words of Swift")
    func negative() throws {
        for query in [items.find().limit(-1), items.find().skip(-1)] {
            let error = #expect(throws: TansuError.self) { try query.count() }
            #expect(error?.code == .invalidQuery)
            #expect(error?.message.contains("pass 0 or more") ?? false)
            #expect(error?.context.contains("$") == false)
            #expect(throws: TansuError.self) { try query.all() }
            #expect(throws: TansuError.self) { try items.remove(query) }
        }
        #expect(try items.count() == 4)
    }
}
