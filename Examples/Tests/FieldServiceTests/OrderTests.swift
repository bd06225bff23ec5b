import FieldServiceData
import Foundation
import TansuObjects
import Testing

@Suite("Work orders")
struct OrderTests {
    let later = SampleData.firstDay.addingTimeInterval(300 * 86_400)

    @Test("Orders that are opened concurrently have different numbers")
    func numbers() async throws {
        let fixture = try await Fixture(orders: 20)
        let (service, site) = (fixture.service, fixture.samples.sites[0].id)
        let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 {
                group.addTask { try await service.open("Check", at: site, on: SampleData.firstDay).number }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(numbers.sorted() == Array(21...40))
    }

    @Test("An order is at a site that exists")
    func site() async throws {
        let fixture = try await Fixture(orders: 20)
        let error = await #expect(throws: TansuError.self) {
            try await fixture.service.open("Check", at: ObjectID(), on: later)
        }
        #expect(error?.code == .notFound)
        #expect(try await fixture.service.orders.count() == 20)
    }

    @Test("A technician has one visit at a time")
    func busy() async throws {
        let fixture = try await Fixture(orders: 20)
        let (service, site) = (fixture.service, fixture.samples.sites[0].id)
        let technician = Reference(to: fixture.samples.technicians[0])
        let first = try await service.open("First", at: site, on: later)
        let second = try await service.open("Second", at: site, on: later)
        try await service.schedule(first.id, WorkOrder.Visit(technician: technician, start: later, minutes: 60))
        let overlapping = WorkOrder.Visit(
            technician: technician, start: later.addingTimeInterval(1800), minutes: 60)
        let error = await #expect(throws: FieldServiceError.self) { try await service.schedule(second.id, overlapping) }
        #expect(error == .busy(order: first.number))
        #expect(try await service.orders.get(second.id)?.visit == nil)
        // After it, with another technician, or once the first is cancelled.
        let after = WorkOrder.Visit(technician: technician, start: later.addingTimeInterval(3600), minutes: 60)
        try await service.schedule(second.id, after)
        // Its own visit may be moved.
        try await service.schedule(first.id, WorkOrder.Visit(technician: technician, start: later, minutes: 30))
        try await service.cancel(first.id)
        #expect(try await service.schedule(second.id, overlapping).visit == overlapping)
        await #expect(throws: FieldServiceError.wrongStatus(.cancelled)) { try await service.schedule(first.id, after) }
    }

    @Test("Parts leave the stock when the order is finished, all or none")
    func stock() async throws {
        let fixture = try await Fixture(orders: 20)
        let service = fixture.service
        let (first, second) = (fixture.samples.parts[0], fixture.samples.parts[1])
        let order = try await service.open("Parts", at: fixture.samples.sites[0].id, on: later)
        try await service.schedule(
            order.id,
            WorkOrder.Visit(technician: Reference(to: fixture.samples.technicians[0]), start: later, minutes: 60))
        try await service.orders.update(id: order.id) {
            $0.lines = [WorkOrder.Line(first, quantity: 1), WorkOrder.Line(second, quantity: second.stock + 1)]
        }
        let error = await #expect(throws: FieldServiceError.self) { try await service.finish(order.id, at: later) }
        #expect(error == .outOfStock(part: second.id, left: second.stock))
        #expect(try await service.parts.get(first.id) == first)
        #expect(try await service.orders.get(order.id)?.status == .scheduled)

        try await service.orders.update(id: order.id) { $0.lines[1].quantity = second.stock }
        let finished = try await service.finish(order.id, at: later)
        #expect(finished.status == .done && finished.finished == later)
        #expect(finished.total == first.price + Decimal(second.stock) * second.price)
        #expect(try await service.parts.get(first.id)?.stock == first.stock - 1)
        let empty = try #require(try await service.parts.get(second.id))
        #expect(empty.stock == 0 && empty.isLow)
    }

    @Test("An editor writes nothing before it saves, and merges with others")
    func editor() async throws {
        let fixture = try await Fixture(orders: 20)
        let (service, order) = (fixture.service, fixture.samples.orders[3])
        let editor = WorkOrderEditor(service, order.id)
        try await editor.add(fixture.samples.parts.prefix(3).map { ($0, 1) })
        try await editor.edit { $0.notes = "edited" }
        #expect(try await service.orders.get(order.id) == order)
        #expect(try await editor.order.lines.count == order.lines.count + 3)
        try await service.orders.update(id: order.id) { $0.priority = .urgent }
        try await editor.save()
        let saved = try #require(try await service.orders.get(order.id))
        #expect(saved.priority == .urgent && saved.notes == "edited" && saved.lines.count == order.lines.count + 3)
        #expect(try await editor.order == saved)
        // What is saved can be undone, too.
        try await editor.undo()
        try await editor.undo()
        try await editor.save()
        var expected = order
        expected.priority = .urgent
        #expect(try await service.orders.get(order.id) == expected)
        #expect(try await !editor.undo())
    }

    @Test("A price list is taken over as a whole, or not at all")
    func priceList() async throws {
        let fixture = try await Fixture(orders: 20)
        let (service, part, supplier) = (fixture.service, fixture.samples.parts[0], fixture.samples.suppliers[2])
        let list =
            #"[{"number": "\#(part.id)", "name": "", "price": 3.14}, {"number": "N", "name": "New", "price": 1}]"#
        let result = try await service.importPriceList(Data(list.utf8), of: supplier.id)
        #expect(result == (1, 1))
        let stored = try #require(try await service.parts.get(part.id))
        #expect(stored.name == part.name && stored.stock == part.stock)
        #expect(stored.price == Decimal(string: "3.14") && stored.suppliers.contains(Reference(to: supplier)))
        await #expect(throws: TansuError.self) {
            try await service.importPriceList(Data(#"[{"number": "M", "name": "", "price": 2}]"#.utf8), of: ObjectID())
        }
        #expect(try await service.parts.get("M") == nil)
        await #expect(throws: DecodingError.self) {
            try await service.importPriceList(Data(#"[{"number": "M"}]"#.utf8), of: supplier.id)
        }
    }

    @Test("The board is observed, and commits are events")
    func following() async throws {
        let fixture = try await Fixture(orders: 20)
        let service = fixture.service
        var board = try service.observeBoard().makeAsyncIterator()
        var events = service.events().makeAsyncIterator()
        let first = try #require(try await board.next())
        let order = try await service.open(
            "No heating", at: fixture.samples.sites[0].id, priority: .urgent, on: SampleData.firstDay)
        let second = try #require(try await board.next())
        #expect(second.elements.count == first.elements.count + 1)
        #expect(second.elements.first == order)
        #expect(second.changes == [.inserted(at: 0)])
        let event = try #require(try await events.next())
        #expect(event.inserted == ["orders": 1] && event.updated == [:] && event.deleted == [:])
    }

    @Test("A customer is removed with the sites, but not while there are orders")
    func removingCustomers() async throws {
        let fixture = try await Fixture(orders: 20)
        let (service, samples) = (fixture.service, fixture.samples)
        for customer in samples.customers {
            let sites = samples.sites.filter { $0.customer.id == customer.id }.map(\.id)
            let orders = samples.orders.filter { sites.contains($0.site.id) }
            if orders.isEmpty {
                #expect(try await service.customers.remove(id: customer.id))
                #expect(try await service.sites.find { $0.id.in(sites) }.count() == 0)
            } else {
                let error = await #expect(throws: TansuError.self) {
                    try await service.customers.remove(id: customer.id)
                }
                #expect(error?.code == .referenced && error?.context == "orders")
                #expect(try await service.sites.find { $0.id.in(sites) }.count() == sites.count)
            }
        }
        #expect(try await service.orders.count() == 20)
        #expect(try await service.db.danglingReferences().references.isEmpty)
    }

    @Test("Lines keep what they cost when a part is removed, parts lose a supplier, technicians with visits stay")
    func removingParts() async throws {
        let fixture = try await Fixture()
        let (service, samples) = (fixture.service, fixture.samples)
        let (part, supplier) = (samples.parts[0], samples.suppliers[0])
        let before = try await service.revenueByMonth()
        #expect(try await service.parts.remove(id: part.id))
        #expect(try await service.suppliers.remove(id: supplier.id))
        #expect(
            try await service.orders.find().sorted(by: \.number).all()
                == samples.orders.map { order in
                    var order = order
                    for index in order.lines.indices where order.lines[index].part?.id == part.id {
                        order.lines[index].part = nil
                    }
                    return order
                })
        #expect(try await service.revenueByMonth().map(\.revenue) == before.map(\.revenue))
        #expect(
            try await service.parts.find().sorted(by: \.id).all()
                == samples.parts.dropFirst().map { part in
                    var part = part
                    part.suppliers.remove(Reference(to: supplier))
                    return part
                })
        await #expect(throws: TansuError.self) { try await service.technicians.remove(id: samples.technicians[0].id) }
    }
}
