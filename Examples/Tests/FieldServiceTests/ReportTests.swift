import FieldServiceData
import Foundation
import TansuObjects
import Testing

@Suite("Reports have the numbers that Swift computes of the same data")
struct ReportTests {
    @Test("Revenue by month", arguments: [1, 2, 3])
    func revenue(seed: Int) async throws {
        let fixture = try await Fixture(seed: UInt64(seed))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        var expected: [Date: [WorkOrder]] = [:]
        for order in fixture.samples.orders where order.status == .done {
            let finished = try #require(order.finished)
            let month = try #require(calendar.dateInterval(of: .month, for: finished)?.start)
            expected[month, default: []].append(order)
        }
        let found = try await fixture.service.revenueByMonth()
        #expect(found.map(\.month) == expected.keys.sorted())
        for (month, orders, revenue) in found {
            #expect(orders == expected[month]?.count)
            #expect(revenue == expected[month]?.map(\.total).reduce(0, +))
        }
    }

    @Test("Open orders by technician")
    func technicians() async throws {
        let fixture = try await Fixture()
        let found = try await fixture.service.openOrdersByTechnician()
        #expect(found.count == fixture.samples.technicians.count)
        for (technician, orders) in found {
            let expected = fixture.samples.orders.filter {
                $0.status == .scheduled && $0.visit?.technician.id == technician.id
            }
            #expect(orders == expected.count)
        }
        #expect(found.map(\.orders) == found.map(\.orders).sorted(by: >))
    }

    @Test("Parts low on stock, with their suppliers")
    func stock() async throws {
        let fixture = try await Fixture()
        let found = try await fixture.service.lowStock()
        let expected = fixture.samples.parts.filter { $0.stock < $0.minimum }
        #expect(!expected.isEmpty)
        #expect(found.map(\.part) == expected.sorted { $0.id < $1.id })
        for (part, suppliers) in found {
            #expect(Set(suppliers.map(\.id)) == Set(part.suppliers.map(\.id)))
        }
    }

    @Test("Best customers")
    func customers() async throws {
        let fixture = try await Fixture()
        var revenue: [Customer: Decimal] = [:]
        for order in fixture.samples.orders where order.status == .done {
            revenue[try #require(fixture.customer(of: order)), default: 0] += order.total
        }
        let found = try await fixture.service.bestCustomers(5)
        #expect(found.map(\.revenue) == Array(revenue.values.sorted(by: >).prefix(5)))
        for (customer, sum) in found { #expect(revenue[customer] == sum) }
    }
}
