import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Pipelines under attack", .timeLimit(.minutes(20)))
struct HostilePipelineTests {
    private struct Order: Codable, Sendable, Hashable, Identifiable {
        struct Line: Codable, Sendable, Hashable { var product: String; var quantity: Int }
        var id: Int
        var shop: String?
        var lines: [Line] = []
    }

    private func orders() throws -> (Database, Database.Collection<Order>) {
        let db = try patientDatabase()
        let orders = try db.collection("orders", of: Order.self)
        try orders.save([
            Order(
                id: 1, shop: "north", lines: [.init(product: "tea", quantity: 2), .init(product: "cup", quantity: 1)]),
            Order(id: 2, shop: nil, lines: [.init(product: "tea", quantity: 5)]),
            Order(id: 3, shop: "north"),
        ])
        return (db, orders)
    }

    @Test("An empty pipeline returns the documents as they are, of any type")
    func empty() async throws {
        let (db, orders) = try orders()
        #expect(try await orders.aggregate([], as: Order.self).all() == orders.find().all())
        #expect(try await orders.aggregate([]).all().count == 3)
        #expect(try await orders.aggregate([], as: Order.self).first()?.id == 1)
        #expect(try await db.collection("nothing").aggregate([]).first() == nil)
        #expect(try await orders.aggregate([]).explain().stages.isEmpty)
        #expect(throws: TansuError.self) { try db.aggregate([]).all() }
        #expect(throws: TansuError.self) { try db.aggregate([.limit(1)]).all() }
    }

    @Test("A row that cannot be decoded is an error that names the field and the type's problem")
    func decoding() async throws {
        struct Wrong: Codable, Sendable { var id: String?; var number: String }
        struct Missing: Codable, Sendable { var id: String?; var total: Int }
        struct Nested: Codable, Sendable { struct Line: Codable, Sendable { var quantity: Bool }; var lines: [Line] }
        let (_, orders) = try orders()
        let groups: Database.Pipeline<Order> = [.group(by: \.shop, ["number": .count])]
        let wrong = #expect(throws: DecodingError.self) { try orders.aggregate(groups, as: Wrong.self).all() }
        #expect(text(wrong).contains("\"number\""), "\(text(wrong))")
        let missing = #expect(throws: DecodingError.self) { try orders.aggregate(groups, as: Missing.self).first() }
        #expect(text(missing).contains("\"total\""), "\(text(missing))")
        let nested = #expect(throws: DecodingError.self) { try orders.aggregate([], as: Nested.self).all() }
        #expect(text(nested).contains("\"lines.0.quantity\""), "\(text(nested))")
        await #expect(throws: DecodingError.self) {
            for try await _ in try orders.aggregate(groups, as: Missing.self) {}
        }
        #expect(try await orders.decoding(.skipping()).aggregate(groups, as: Missing.self).all().isEmpty)
    }

    private func text(_ error: DecodingError?) -> String { error.map { "\($0)" } ?? "" }

    @Test(
        "Names that no field of a group can have are errors, never another group",
        arguments: ["$a", "a.b", "_id", "$"])
    func groupFields(name: String) throws {
        let (_, orders) = try orders()
        let error = #expect(throws: TansuError.self) {
            try orders.aggregate([.group(by: \.shop, [name: .count])]).all()
        }
        #expect(error?.code == .invalidQuery)
    }

    @Test("A name with a NUL makes no stage")
    func nul() throws {
        let (_, orders) = try orders()
        let error = #expect(throws: TansuError.self) {
            try orders.aggregate([.group(by: \.shop, ["a\0b": .count])]).all()
        }
        #expect(error?.code == .invalidBSON)
    }

    @Test("A field that a group has twice is an error")
    func twice() throws {
        let (_, orders) = try orders()
        let error = #expect(throws: TansuError.self) {
            try orders.aggregate([.group(by: \.shop, ["n": .count, "n": .max(\.id)])]).all()
        }
        #expect(error?.code == .invalidQuery)
    }

    @Test(
        "Operands that make no sense are errors when the pipeline runs",
        arguments: [
            [.limit(0)], [.limit(-1)], [.limit(.min)], [.skip(-1)], [.sort([:])], [.sort(by: "")], [.unset()],
            [.unset("")],
            [.project([:])], [.project(["a": 1, "b": 0])], [.unwind("")], [.unwind("$lines")], [.count(as: "")],
            [.count(as: "$n")], [.count(as: "a.b")], [.window([:])],
            [.set(["a.": 1])],
            [.set(["$a": 1])], [[:]], [["$limit": 1, "$skip": 1]], [["limit": 1]], [["": 1]], [["$nothing": 1]],
            [.lookup(from: "", localField: "a", as: "b")], [.lookup(from: "x", localField: "", as: "b")],
            [.lookup(from: "x", localField: "a", as: "")], [.lookup(from: "x", localField: "a", as: "$b")],
            [.group(by: "$")], [.group(by: ["$nothing": 1])], [.group(by: nil, ["n": [:]])],
            [.group(by: nil, ["n": ["$sum": 1, "$max": 1]])], [.group(by: nil, ["n": ["sum": 1]])],
        ] as [Database.Pipeline<BSONDocument>])
    func operands(pipeline: Database.Pipeline<BSONDocument>) async throws {
        let (_, people) = try fourPeople()
        let rows = try people.aggregate(pipeline)
        let error = #expect(throws: TansuError.self) { try rows.all() }
        #expect(error?.code == .invalidQuery || error?.code == .invalidArgument, "\(String(describing: error))")
        #expect(throws: TansuError.self) { try rows.first() }
        #expect(throws: TansuError.self) { try rows.explain() }
        await #expect(throws: TansuError.self) { for try await _ in rows {} }
    }

    @Test("Hostile keys of documents go through groups, sorts and rows unharmed")
    func keys() throws {
        let db = try patientDatabase()
        let odd = try db.collection("odd")
        try odd.save([["_id": 1, "a.b": 1, "c$": 2, "é": 3, "e\u{301}": 4, "🙂": ["": 5]]])
        let first = try odd.find().first()
        #expect(try odd.aggregate([.sort(["_id": 1]), .limit(5)]).all() == first.map { [$0] })
        #expect(try odd.aggregate([.group(by: "$é", ["n": .sum("$e\u{301}")])]).all() == [["_id": 3, "n": 4]])
        #expect(try odd.aggregate([.group(by: ["$getField": "a.b"])]).all() == [["_id": 1]])
        #expect(try odd.aggregate([.group(by: "$c$", ["": .count])]).all() == [["_id": 2, "": 1]])
        let rows = try odd.aggregate([.unset("_id")], as: [String: BSONValue].self).all()
        #expect(rows.first?["a.b"] == 1 && rows.first?["c$"] == 2)
    }

    @Test("Properties have their stored names in every stage that takes them")
    func properties() throws {
        struct Row: Codable, Sendable, Hashable { var id: Int; var shop: String?; var same: [Order] }
        struct Unwound: Codable, Sendable, Hashable { var id: Int; var lines: Order.Line? }
        let (_, orders) = try orders()
        #expect(try orders.aggregate([.sort(by: \.id, .descending)], as: Order.self).first()?.id == 3)
        #expect(
            try orders.aggregate([.group(by: \.id), .sort(["_id": 1])]).all() == [["_id": 1], ["_id": 2], ["_id": 3]])
        let joined = try orders.aggregate(
            [.lookup(from: "orders", localField: \.id, as: "same"), .project(["shop": 1, "same": 1])], as: Row.self)
        #expect(try joined.all().map { $0.same.map(\.id) } == [[1], [2], [3]])
        let byShop = try orders.aggregate(
            [.lookup(from: "orders", localField: \.shop, foreignField: "shop", as: "same")], as: Row.self)
        #expect(try byShop.all().map { $0.same.map(\.id) } == [[1, 3], [2], [1, 3]])
        let unwound = try orders.aggregate([.unwind(\.lines, keepsEmpty: true)], as: Unwound.self)
        #expect(try unwound.all().map { $0.lines?.quantity } == [2, 1, 5, nil])
        #expect(try orders.aggregate([.unwind(\.lines)], as: Unwound.self).all().count == 3)
        let ranked = try orders.aggregate([
            .window(["partitionBy": "$shop", "sortBy": ["_id": 1], "output": ["n": ["$documentNumber": [:]]]]),
            .sort(["_id": 1]), .project(["n": 1]),
        ]).all()
        #expect(ranked == [["_id": 1, "n": 1], ["_id": 2, "n": 1], ["_id": 3, "n": 2]])
        let nothing = try orders.aggregate(
            [
                .match { $0.id > 9 },
                .group(
                    by: nil, ["sum": .sum(\.id), "mean": .average(\.id), "least": .min(\.shop), "all": .push(\.id)]),
            ])
        #expect(try nothing.all().isEmpty)
    }

    @Test("A cancelled task gets no rows")
    func cancelled() async throws {
        let db = try patientDatabase()
        let numbers = BSONValue((0..<1000).map { BSONValue($0) })
        let many = try db.aggregate([
            ["$documents": [["a": numbers, "b": numbers, "c": numbers]]], .unwind("a"), .unwind("b"), .unwind("c"),
        ])
        // A billion rows, of which each loop reads some.
        let loop = Task {
            var count = 0
            for try await _ in many {
                count += 1
                if count == 10 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await loop.value }
        let counted = try db.aggregate([
            ["$documents": [["a": numbers, "b": numbers, "c": numbers]]], .unwind("a"), .unwind("b"), .unwind("c"),
            .count(),
        ])
        let waiting = Task { try await counted.all() }
        try await Task.sleep(for: .milliseconds(20))
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await counted.first()
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        // Leaving a loop ends the pipeline.
        var seen = 0
        for try await _ in many {
            seen += 1
            if seen == 3 { break }
        }
        #expect(try await many.first() != nil)
        try await db.close()
    }

    @Test("In a transaction a pipeline reads what was written, is over with it, and writes with it")
    func transactions() async throws {
        let (db, orders) = try orders()
        let kept = try await db.write { tx in
            let inside = try tx.collection("orders", of: Order.self)
            try await inside.save(Order(id: 4, shop: "south"))
            #expect(try await inside.aggregate([.count()]).first() == ["count": 4])
            #expect(try await orders.aggregate([.count()]).first() == ["count": 3])
            let rows = try inside.aggregate([], as: Order.self)
            var ids: [Int] = []
            for try await row in rows { ids.append(row.id) }
            #expect(ids == [1, 2, 3, 4])
            #expect(try await inside.aggregate([.project(["shop": 1]), ["$out": "copy"]]).first() == nil)
            #expect(try await tx.collection("copy").count() == 4)
            return rows
        }
        #expect(throws: TansuError.self) { try kept.all() }
        await #expect(throws: TansuError.self) { try await kept.all() }
        await #expect(throws: TansuError.self) { for try await _ in kept {} }
        #expect(try await db.collection("copy").count() == 4)
        // The other side of a read.
        let refused = #expect(throws: TansuError.self) {
            try db.read { try $0.collection("orders").aggregate([["$out": "copy"]]).all() }
        }
        #expect(refused?.code == .readOnly, "\(String(describing: refused))")
    }

    @Test("Rows of every kind of type")
    func rowTypes() throws {
        enum Kind: String, Codable, Sendable { case north }
        struct Row: Codable, Sendable, Hashable { var id: Kind?; var number: Double; var ids: Set<Int> }
        let (_, orders) = try orders()
        let groups: Database.Pipeline<Order> = [.group(by: \.shop, ["number": .count, "ids": .addToSet(\.id)])]
        let rows = try orders.aggregate(groups + [.sort(["number": -1])], as: Row.self).all()
        #expect(rows == [Row(id: .north, number: 2, ids: [1, 3]), Row(id: nil, number: 1, ids: [2])])
        #expect(try orders.aggregate([.count()], as: [String: Int].self).all() == [["count": 3]])
    }
}

private func + <Element>(
    a: Database.Pipeline<Element>, b: Database.Pipeline<Element>
) -> Database.Pipeline<Element> {
    Database.Pipeline(a.stages + b.stages)
}
