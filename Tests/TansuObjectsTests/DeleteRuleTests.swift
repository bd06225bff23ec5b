import Foundation
import Tansu
import TansuObjects
import TansuTestSupport
import Testing

private struct Customer: Codable, Sendable, Identifiable, Hashable {
    var id: Int
    var name = ""
    var parent: Reference<Customer>?
}

private struct Technician: Codable, Sendable, Identifiable, Hashable {
    var id: Int
    var name = ""
}

private struct Part: Codable, Sendable, Identifiable, Hashable {
    var id: Int
}

private struct Order: Codable, Sendable, Identifiable, Hashable {
    struct Line: Codable, Sendable, Hashable {
        var part: Reference<Part>?
        var count = 1
    }

    var id: Int
    var customer: Reference<Customer>
    var technician: Reference<Technician>?
    var helpers: [Reference<Technician>] = []
    var lines: [Line] = []
    var number = 0
}

private func shopModel(parts: Database.DeleteRule = .deny, version: Int = 1) throws -> Model {
    try Model(version: version) {
        Entity("customers", of: Customer.self).reference(\.parent, to: "customers", onDelete: .cascade)
        Entity("technicians", of: Technician.self)
        Entity("parts", of: Part.self)
        Entity("orders", of: Order.self, indexes: [Database.Index(on: \.number, unique: true)])
            .reference(\.customer, to: "customers", onDelete: .cascade)
            .reference(\.technician, to: "technicians", onDelete: .nullify)
            .reference(\.helpers, to: "technicians", onDelete: .nullify)
            .reference(\.lines, \.part, to: "parts", onDelete: parts)
    }
}

@Suite("Delete rules")
struct DeleteRuleTests {
    private let db: Database
    private let customers: Database.Collection<Customer>
    private let technicians: Database.Collection<Technician>
    private let parts: Database.Collection<Part>
    private let orders: Database.Collection<Order>

    init() throws {
        db = try Database(.memory)
        try db.use(shopModel())
        customers = try db.collection(of: Customer.self)
        technicians = try db.collection(of: Technician.self)
        parts = try db.collection(of: Part.self)
        orders = try db.collection(of: Order.self)
        try customers.save([
            Customer(id: 1), Customer(id: 2, parent: Reference(id: 1)), Customer(id: 3, parent: Reference(id: 2)),
            Customer(id: 4),
        ])
        try technicians.save([Technician(id: 1), Technician(id: 2)])
        try parts.save([Part(id: 1), Part(id: 2)])
        try orders.save([
            Order(
                id: 10, customer: Reference(id: 3), technician: Reference(id: 1),
                helpers: [Reference(id: 1), Reference(id: 2)],
                lines: [Order.Line(part: Reference(id: 1)), Order.Line()], number: 1),
            Order(
                id: 11, customer: Reference(id: 4), technician: Reference(id: 2), helpers: [Reference(id: 1)], number: 2
            ),
        ])
    }

    @Test("cascade removes what refers to the document, over all levels, in one commit")
    func cascade() throws {
        let before = try #require(try db.stats()["sequence"]?.intValue)
        #expect(try customers.remove(id: 1))
        #expect(try db.stats()["sequence"]?.intValue == before + 1)
        #expect(try customers.find().all().map(\.id) == [4])
        #expect(try orders.find().all().map(\.id) == [11])
    }

    @Test("nullify empties an optional property and takes elements out of an array")
    func nullify() async throws {
        #expect(try await technicians.remove(id: 1))
        let all = try await orders.find().all()
        #expect(all.map(\.technician) == [nil, Reference(id: 2)])
        #expect(all.map(\.helpers) == [[Reference(id: 2)], []])
    }

    @Test("deny names the collection and the documents, and removes nothing")
    func deny() throws {
        let error = #expect(throws: TansuError.self) { try parts.remove([:]) }
        #expect(error?.code == .referenced && error?.context == "orders")
        #expect(error?.message.contains("lines.part") == true && error?.message.contains("10") == true)
        #expect(try parts.count() == 2)
        #expect(throws: TansuError.self) { try db.dropCollection("parts") }
        #expect(try customers.remove(id: 3))
        #expect(try db.dropCollection("parts"))
    }

    @Test("the rules hold in a transaction that is rolled back")
    func rollback() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try db.write { transaction in
                try transaction.collection(of: Customer.self).remove(id: 1)
                #expect(try transaction.collection(of: Order.self).count() == 1)
                throw Stop()
            }
        }
        #expect(try orders.count() == 2 && customers.count() == 4)
    }

    @Test("a property that must be there cannot be nullified")
    func nullifyOfRequired() {
        let error = #expect(throws: TansuError.self) {
            try Model {
                Entity("customers", of: Customer.self)
                Entity("technicians", of: Technician.self)
                Entity("parts", of: Part.self)
                Entity("orders", of: Order.self).reference(\.customer, to: "customers", onDelete: .nullify)
            }
        }
        #expect(error?.code == .invalidArgument)
    }

    @Test("a property that must be there in an optional part cannot be nullified, an optional one can")
    func nullifyInOptionalPart() throws {
        struct Visit: Codable, Sendable, Hashable {
            var technician: Reference<Technician>
            var helper: Reference<Technician>?
            var day = 1
        }
        struct Job: Codable, Sendable, Identifiable, Hashable {
            var id: Int
            var visit: Visit?
        }
        let error = #expect(throws: TansuError.self) {
            try Model {
                Entity("technicians", of: Technician.self)
                Entity("jobs", of: Job.self)
                    .reference(\.visit?.technician, to: "technicians", onDelete: .nullify)
            }
        }
        #expect(error?.code == .invalidArgument)

        let db = try Database(.memory)
        try db.use(
            Model {
                Entity("technicians", of: Technician.self)
                Entity("jobs", of: Job.self)
                    .reference(\.visit?.technician, to: "technicians", onDelete: .cascade)
                    .reference(\.visit?.helper, to: "technicians", onDelete: .nullify)
            })
        let (one, two) = (Technician(id: 1, name: "one"), Technician(id: 2, name: "two"))
        let both = Visit(technician: Reference(to: one), helper: Reference(to: two))
        try db.save(graph: [one, two, Job(id: 1, visit: both), Job(id: 2, visit: nil)])
        let jobs = try db.collection(of: Job.self)
        try db.collection(of: Technician.self).remove(id: 2)
        #expect(try jobs.find().all() == [Job(id: 1, visit: Visit(technician: Reference(to: one))), Job(id: 2)])
        try db.collection(of: Technician.self).remove(id: 1)
        #expect(try jobs.find().all() == [Job(id: 2)])
    }

    @Test("a later version of the model changes the rules; a collection lists them")
    func laterVersion() throws {
        let folder = try TemporaryFolder()
        do {
            let old = try Database(path: folder.path("db"))
            try old.use(shopModel())
            try old.collection(of: Part.self).save(Part(id: 1))
            try old.close()
        }
        let new = try Database(path: folder.path("db"))
        try new.use(shopModel(parts: .nullify, version: 2))
        let info = try new.collections().first { $0.name == "orders" }
        #expect(
            info?.references == [
                .init("customer", to: "customers", onDelete: .cascade),
                .init("technician", to: "technicians", onDelete: .nullify),
                .init("helpers", to: "technicians", onDelete: .nullify),
                .init("lines.part", to: "parts", onDelete: .nullify),
            ])
        let orders = try new.collection(of: Order.self)
        try orders.save(Order(id: 1, customer: Reference(id: 9), lines: [Order.Line(part: Reference(id: 1), count: 3)]))
        #expect(try new.collection(of: Part.self).remove(id: 1))
        #expect(try orders.get(1)?.lines == [Order.Line(count: 3)])
        try new.close()
    }

    @Test("references that lead nowhere are found and repaired")
    func dangling() async throws {
        try await orders.save(Order(id: 12, customer: Reference(id: 77), technician: Reference(id: 88), number: 3))
        try await orders.save(Order(id: 13, customer: Reference(id: 4), helpers: [Reference(id: 99)], number: 4))
        let found = try await db.danglingReferences()
        #expect(found.count == 3 && found.documents == 2)
        #expect(
            Set(found.references.map { "\($0.collection) \($0.id) \($0.path) \($0.target) \($0.value)" })
                == [
                    "orders 12 customer customers 77", "orders 12 technician technicians 88",
                    "orders 13 helpers technicians 99",
                ])
        #expect(try await db.danglingReferences(in: "orders", limit: 1).references.count == 1)
        #expect(try await db.danglingReferences(in: "customers").count == 0)
        await #expect(throws: TansuError.self) { try await db.danglingReferences(in: "none") }
        let repaired = try await db.repairDanglingReferences()
        #expect(repaired.nullified == 1 && repaired.removed == 1)
        #expect(try await orders.find().all().map(\.id) == [10, 11, 13])
        #expect(try await db.read { try $0.danglingReferences() }.count == 0)
    }

    @Test("an observed query notices what a delete rule changed")
    func observed() async throws {
        var iterator = orders.find().observe().makeAsyncIterator()
        #expect(try await iterator.next()?.count == 2)
        try await customers.remove(id: 1)
        #expect(try await iterator.next()?.map(\.id) == [11])
    }
}

@Suite("Delete rules in an editing context")
struct DeleteRuleContextTests {
    private let db: Database
    private let context: EditingContext

    init() throws {
        db = try Database(.memory)
        try db.use(shopModel())
        try db.collection(of: Customer.self).save([Customer(id: 1), Customer(id: 2)])
        try db.collection(of: Technician.self).save([Technician(id: 1), Technician(id: 2)])
        try db.collection(of: Part.self).save([Part(id: 1)])
        try db.collection(of: Order.self).save([
            Order(
                id: 10, customer: Reference(id: 1), technician: Reference(id: 1),
                lines: [Order.Line(part: Reference(id: 1))],
                number: 1),
            Order(id: 11, customer: Reference(id: 2), technician: Reference(id: 1), number: 2),
        ])
        context = EditingContext(db)
    }

    @Test("what a saved removal took along is gone from the context, and what it changed is current")
    func refreshes() async throws {
        _ = try await context.fetch(db.collection(of: Order.self).find())
        #expect(try await context.remove(Customer.self, id: 1))
        #expect(try await context.remove(Technician.self, id: 1))
        #expect(try await context.save() == 2)
        #expect(try await context.get(Order.self, id: 10) == nil)
        #expect(try await context.get(Order.self, id: 11)?.technician == nil)
        // No conflict: the context knows what its own removal has done.
        try await context.update(Order.self, id: 11) { $0.technician = Reference(id: 2) }
        #expect(try await context.save() == 1)
    }

    @Test("a document that does not refer to the removed one any more stays")
    func updateFirst() async throws {
        try await context.update(Order.self, id: 10) { $0.customer = Reference(id: 2) }
        try await context.remove(Customer.self, id: 1)
        try await context.save()
        #expect(try await db.collection(of: Order.self).get(10)?.customer == Reference(id: 2))
        #expect(await context.hasChanges == false)
    }

    @Test("removals wait for those of the documents that deny them, and for unique values")
    func order() async throws {
        // The part comes first, and its order denies it; the new order has the number of the removed one.
        try await context.remove(Part.self, id: 1)
        try await context.insert(Order(id: 20, customer: Reference(id: 2), number: 1))
        try await context.update(Order.self, id: 11) { $0.number = 7 }
        try await context.remove(Order.self, id: 10)
        #expect(try await context.save() == 4)
        #expect(try await db.collection(of: Part.self).count() == 0)
        #expect(try await db.collection(of: Order.self).find().all().map(\.number) == [7, 1])
    }

    @Test("a removal that stays denied is an error, and the context keeps its changes")
    func denied() async throws {
        try await context.remove(Part.self, id: 1)
        let error = await #expect(throws: TansuError.self) { try await context.save() }
        #expect(error?.code == .referenced)
        #expect(await context.removedObjects.count == 1)
        #expect(try await db.collection(of: Part.self).count() == 1)
        try await context.undo()
        #expect(await context.hasChanges == false)
    }

    @Test("a removed document that somebody else changed is a conflict before any rule is applied")
    func conflict() async throws {
        try await context.remove(Customer.self, id: 1)
        try await db.collection(of: Customer.self).save(Customer(id: 1, name: "new"))
        await #expect(throws: EditingConflictError.self) { try await context.save() }
        #expect(try await db.collection(of: Order.self).count() == 2)
    }
}
