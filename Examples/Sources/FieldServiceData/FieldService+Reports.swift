import Foundation
import TansuObjects

extension FieldService {
    /// The lines of all orders that were finished in each month: their number and what they cost.
    package func revenueByMonth(in timeZone: TimeZone = .gmt) async throws -> [(
        month: Date, orders: Int, revenue: Decimal
    )] {
        let groups = try await orders.find { $0.status == .done }.groups(
            by: .start(of: .month, \.finished, in: timeZone), computing: .count, .sum(\.lines.amount))
        return groups.compactMap { month, values in month.map { ($0, values.0, values.1) } }
    }

    /// How many orders each technician has yet to do, the busiest first.
    package func openOrdersByTechnician() async throws -> [(technician: Technician, orders: Int)] {
        try await technicians.find().sorted(by: \.id)
            .annotated(with: .count(\WorkOrder.visit?.technician) { $0.status == .scheduled })
            .all()
            .map { (technician: $0.0, orders: $0.1) }
            .sorted { $0.orders > $1.orders }
    }

    /// The parts that have to be ordered, each with who delivers it.
    package func lowStock() async throws -> [(part: Part, suppliers: [Supplier])] {
        try await parts.find { $0.isLow }.sorted(by: \.id).including(all: \.suppliers).all()
            .map { (part: $0.0, suppliers: $0.1.sorted { $0.name < $1.name }) }
    }

    /// The customers with the greatest revenue.
    package func bestCustomers(_ limit: Int) async throws -> [(customer: Customer, revenue: Decimal)] {
        let bySite = try await orders.find { $0.status == .done }.groups(by: \.site, .sum(\.lines.amount))
        let places = try await bySite.map(\.0).resolved(in: db)
        var revenue: [Reference<Customer>: Decimal] = [:]
        for (site, sum) in bySite {
            if let customer = places[site.id]?.customer { revenue[customer, default: 0] += sum }
        }
        let customers = try await revenue.keys.resolved(in: db)
        let found = revenue.compactMap { key, sum in customers[key.id].map { (customer: $0, revenue: sum) } }
        return Array(found.sorted { ($1.revenue, $0.customer.name) < ($0.revenue, $1.customer.name) }.prefix(limit))
    }
}
