import FieldServiceData
import Foundation
import TansuObjects
import Testing

@Suite("Routes and forms")
struct RouteAndFilterTests {
    let day = SampleData.firstDay.addingTimeInterval(400 * 86_400)

    @Test("A route has the visits of the day, until somebody changes the order of the drive")
    func routes() async throws {
        let fixture = try await Fixture(orders: 20)
        let (service, technician) = (fixture.service, fixture.samples.technicians[0])
        var orders: [WorkOrder] = []
        for hour in [9, 13, 11] {
            let order = try await service.open("At \(hour)", at: fixture.samples.sites[0].id, on: day)
            let start = day.addingTimeInterval(Double(hour) * 3600)
            orders.append(
                try await service.schedule(
                    order.id, WorkOrder.Visit(technician: Reference(to: technician), start: start, minutes: 30)))
        }
        let planned = try await service.planRoute(of: technician.id, on: day)
        #expect(planned.map(\.title) == ["At 9", "At 11", "At 13"])
        let changed = try await service.driveFirst(to: orders[1], technician: technician.id, on: day)
        #expect(changed.map(\.title) == ["At 13", "At 9", "At 11"])
        let route = try service.route(of: technician.id, on: day)
        #expect(try await service.db.bagNames(containing: orders[2]) == [route.name])
        // Of another day, and of another technician, there is none.
        #expect(try await service.route(of: technician.id, on: day.addingTimeInterval(86_400)).count() == 0)
        #expect(try await service.route(of: fixture.samples.technicians[1].id, on: day).count() == 0)

        try await service.orders.remove(id: orders[0].id)
        #expect(try await route.objects(of: WorkOrder.self).map(\.title) == ["At 13", "At 11"])
        #expect(try await service.planRoute(of: technician.id, on: day).map(\.title) == ["At 11", "At 13"])
        #expect(try await route.count() == 2)
    }

    @Test("A form finds what plain Swift finds")
    func filters() async throws {
        let fixture = try await Fixture()
        let (service, samples) = (fixture.service, fixture.samples)
        func isFound(_ order: WorkOrder, by filter: OrderFilter) -> Bool {
            let options: String.CompareOptions = [.caseInsensitive, .diacriticInsensitive]
            let texts = [order.title, order.notes] + order.lines.map(\.text)
            let words = fixture.customer(of: order)?.name.split(separator: " ") ?? []
            return (filter.text.isEmpty || texts.contains { $0.range(of: filter.text, options: options) != nil })
                && (filter.customer.isEmpty
                    || words.contains { $0.lowercased().hasPrefix(filter.customer.lowercased()) })
                && (filter.statuses.isEmpty || filter.statuses.contains(order.status))
                && (filter.openedAfter.map { order.opened > $0 } ?? true)
        }
        let word = String(samples.orders[3].title.split(separator: " ")[0])
        let customer = String(samples.customers[2].name.split(separator: " ").last ?? "")
        let middle = samples.orders[samples.orders.count / 2].opened
        let filters = [
            OrderFilter(), OrderFilter(text: word.uppercased()), OrderFilter(customer: customer.lowercased()),
            OrderFilter(statuses: [.done, .cancelled]), OrderFilter(openedAfter: middle),
            OrderFilter(text: word, customer: customer, statuses: [.done], openedAfter: middle),
            OrderFilter(text: "no order has this"), OrderFilter(customer: "[a-z]*"),
        ]
        for filter in filters {
            let expected = samples.orders.filter { isFound($0, by: filter) }.sorted { $0.number > $1.number }
            let found = try await service.orders(matching: filter, limit: 7)
            #expect(found.orders == Array(expected.prefix(7)), "\(filter)")
            #expect(found.count == expected.count, "\(filter)")
        }
    }

    @Test("A device asks what was saved since it asked last")
    func saved() async throws {
        let fixture = try await Fixture(orders: 20)
        let service = fixture.service
        let all = try await service.orders(savedAfter: .distantPast)
        #expect(all == fixture.samples.orders.sorted { $0.number < $1.number })
        let last = try #require(
            try await service.orders.find().decoded(as: BSONDocument.self).all()
                .compactMap { $0["updatedAt"]?.dateValue }.max())
        #expect(try await service.orders(savedAfter: last).isEmpty)
        while Date() <= last.addingTimeInterval(0.002) { await Task.yield() }
        try await service.orders.update(id: all[4].id) { $0.notes = "Key at the neighbour's" }
        #expect(try await service.orders(savedAfter: last).map(\.id) == [all[4].id])
    }
}
