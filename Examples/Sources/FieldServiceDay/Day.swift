import Checking
import FieldServiceData
import Foundation
import TansuObjects

/// What happens on the last day of the sample data.
struct Day {
    let service: FieldService
    let samples: SampleData
    private let morning = SampleData.firstDay.addingTimeInterval(200 * 86_400 + 8 * 3600)

    init(service: FieldService, samples: SampleData) {
        self.service = service
        self.samples = samples
    }

    /// A customer calls: the office finds them by the beginning of any word that it has, and opens an order.
    func call() async throws -> WorkOrder {
        let customer = samples.customers[7]
        let found = try await service.search(String(customer.name.prefix(12)).lowercased())
        check(found.customers.contains(customer), "the search finds the customer by name")
        let byPhone = try await service.search("OFFICE8@")
        check(byPhone.customers == [customer], "the search finds the customer by e-mail address")
        let sites = try await service.sites.find { $0.customer == Reference(to: customer) }.all()
        let order = try await service.open(
            "No heating", notes: "Since last night", at: sites[0].id, priority: .urgent, on: morning)
        let last = samples.orders.map(\.number).max() ?? 0
        check(order.number == last + 1, "\(order.number) is the next number")
        let history = try await service.history(ofCustomer: customer.name).first()
        check(history == order, "the order is the newest one of the customer")
        print("order", order.number, "for", customer.name, "at", sites[0].name)
        return order
    }

    /// The order is planned for a technician who is free. Another visit at the same time is rejected.
    func plan(_ order: WorkOrder) async throws {
        let board = try service.observeBoard()
        var updates = board.makeAsyncIterator()
        let first = try await updates.next()?.elements.first { $0.id == order.id }
        check(first?.status == .open, "the board shows the order")

        let hour = morning..<morning.addingTimeInterval(3600)
        let free = try await service.free(.heating, in: hour).all()
        guard let technician = free.first else { return check(false, "somebody is free") }
        let visit = WorkOrder.Visit(technician: Reference(to: technician), start: morning, minutes: 60)
        try await service.schedule(order.id, visit)
        check(try await !service.free(.heating, in: hour).all().contains(technician), "the technician is not free now")
        let second = try await updates.next()?.elements.first { $0.id == order.id }
        check(second?.visit == visit, "the board shows the visit")

        let other = try await service.orders.find { $0.status == .open }.sorted(by: \.number).first()
        if let other {
            let error = await failure { try await service.schedule(other.id, visit) } as? FieldServiceError
            check(error == .busy(order: order.number), "two visits at once are rejected")
        }
        let today = try await service.schedule(of: technician.id, in: hour)
        check(
            today.map(\.order.id) == [order.id] && today[0].customer == samples.customers[7], "the schedule is complete"
        )
        print(technician.name, "goes to", today[0].customer?.name ?? "", "in", today[0].site?.address.city ?? "")
    }

    /// The technician drives to the urgent order first, and the office looks it up.
    func drive(_ order: WorkOrder) async throws {
        guard let technician = try await service.orders.get(order.id)?.visit?.technician.id else {
            return check(false, "the order has a visit")
        }
        let day = SampleData.firstDay.addingTimeInterval(200 * 86_400)
        let planned = try await service.planRoute(of: technician, on: day)
        check(planned.contains { $0.id == order.id }, "the route has the order")
        let route = try await service.driveFirst(to: order, technician: technician, on: day)
        check(route.first?.id == order.id && route.count == planned.count, "the urgent order is first")
        let names = try await service.db.bagNames(containing: order)
        check(names.count == 1, "the order is on one route")

        let name = samples.customers[7].name
        let filter = OrderFilter(text: "HEATING", customer: String(name.prefix(5)), statuses: [.scheduled])
        let (found, count) = try await service.orders(matching: filter)
        check(found.contains { $0.id == order.id } && count == found.count, "the form finds the order")
        let saved = try await service.orders(savedAfter: Date(timeIntervalSinceNow: 3600))
        check(saved.isEmpty, "nothing was saved in the future")
    }

    /// The technician edits the order at the site while the office changes its title.
    func edit(_ order: WorkOrder) async throws {
        let editor = WorkOrderEditor(service, order.id)
        let parts = try await service.parts.find { $0.stock >= 2 }.sorted(by: \.id).limit(2).all()
        try await editor.add(parts.map { ($0, 2) })
        try await editor.edit { $0.lines.append(WorkOrder.Line("Work", quantity: 3, price: 58)) }
        try await editor.undo()
        check(try await editor.order.lines.count == 2, "the line with the work is undone")
        try await editor.undo()
        check(await !editor.hasChanges, "both parts are undone at once")
        try await editor.redo()
        try await editor.redo()
        check(try await editor.order.lines.count == 3, "all lines are there again")

        try await service.orders.update(id: order.id) { $0.title = "No heating, no hot water" }
        try await editor.save()
        let stored = try await service.orders.get(order.id)
        check(stored?.title == "No heating, no hot water" && stored?.lines.count == 3, "both changes are stored")
        let total = parts.reduce(3 * 58) { $0 + 2 * $1.price }
        check(stored?.total == total, "\(String(describing: stored?.total)) is the total, not \(total)")

        let sheet = try await service.sheet(of: order.id)
        check(sheet?.parts == parts && sheet?.customer == samples.customers[7], "the work sheet is complete")

        // Now both change the notes.
        try await editor.edit { $0.notes += "\nThe pump is loud." }
        try await service.orders.update(id: order.id) { $0.notes += "\nCall before you come." }
        let conflict = await failure { try await editor.save() } as? EditingConflictError
        check(conflict?.conflicts.count == 1, "two changes of the notes are a conflict")
        await editor.discard()
        try await editor.edit { $0.notes += "\nThe pump is loud." }
        try await editor.save()
        let notes = try await service.orders.get(order.id)?.notes
        check(notes == "Since last night\nCall before you come.\nThe pump is loud.", "\(notes ?? "") are the notes")
    }

    /// The work is done: parts leave the stock, in the commit that finishes the order.
    func work(_ order: WorkOrder) async throws {
        var events = service.events().makeAsyncIterator()
        let used = try await service.orders.get(order.id)?.lines.compactMap(\.part) ?? []
        let before = try await used.resolved(in: service.db)
        try await service.finish(order.id, at: morning.addingTimeInterval(3600))
        let after = try await used.resolved(in: service.db)
        for (id, part) in before { check(after[id]?.stock == part.stock - 2, "two of \(id) left the stock") }
        let event = try await events.next()
        check(event?.updated == ["orders": 1, "parts": 2] && event?.inserted == [:], "one commit has all changes")

        let again = await failure { try await service.finish(order.id, at: morning) } as? FieldServiceError
        check(again == .wrongStatus(.done), "an order is finished once")
    }

    /// A supplier's price list arrives.
    func orderParts() async throws {
        let list = #"""
            [{"number": "P-11", "name": "Boiler size 1", "price": 199.99},
             {"number": "P-99", "name": "Heat pump", "price": 4200}]
            """#
        let supplier = samples.suppliers[0]
        let result = try await service.importPriceList(Data(list.utf8), of: supplier.id)
        check(result == (1, 1), "one part is new, one has changed")
        let again = try await service.importPriceList(Data(list.utf8), of: supplier.id)
        check(again == (0, 0), "the same list changes nothing")
        let found = try await service.search("heat pump").parts
        check(found.map(\.id) == ["P-99"], "the new part is found")
        let delivered = try await service.parts.find { $0.suppliers.contains { $0.name == "Supplier 1" } }.count()
        check(delivered > 2, "\(delivered) parts are delivered by the supplier")
    }

    /// At the end of the day records are cleaned up.
    func cleanUp(_ order: WorkOrder) async throws {
        let customer = samples.customers[7]
        let denied = await failure { try await service.customers.remove(id: customer.id) } as? TansuError
        check(denied?.code == .referenced, "a customer with orders stays")
        try await service.suppliers.remove(id: samples.suppliers[3].id)
        try await service.parts.remove(id: "P-99")
        let suppliers = try await service.parts.find().distinct(\.suppliers)
        check(!suppliers.contains(Reference(to: samples.suppliers[3])), "no part refers to the supplier who is gone")
        let dangling = try await service.db.danglingReferences()
        check(dangling.references.isEmpty, "no reference dangles")
        print("customers with orders stay, a supplier and a part were removed")
    }

    private func failure(_ body: () async throws -> Void) async -> (any Error)? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }
}
