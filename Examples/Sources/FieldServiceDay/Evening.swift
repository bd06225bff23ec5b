import Checking
import FieldServiceData
import Foundation
import TansuObjects

/// The reports of the evening, of the database that was opened again.
struct Evening {
    let service: FieldService

    func report() async throws {
        let months = try await service.revenueByMonth()
        print("\nrevenue by month")
        for (month, orders, revenue) in months {
            print("  \(month.formatted(.iso8601.year().month()))  \(orders) orders  \(revenue)")
        }
        let done = try await service.orders.find { $0.status == .done }.all()
        check(months.map(\.revenue).reduce(0, +) == done.map(\.total).reduce(0, +), "the months have all orders")

        print("\norders to do")
        for (technician, orders) in try await service.openOrdersByTechnician() where orders > 0 {
            print("  \(technician.id) \(technician.name): \(orders)")
        }

        let low = try await service.lowStock()
        print("\nparts that run out:", low.count)
        for (part, suppliers) in low.prefix(5) {
            print("  \(part.id) \(part.name): \(part.stock) of \(part.minimum), from \(suppliers.map(\.name))")
        }
        check(low.allSatisfy { $0.part.stock < $0.part.minimum }, "parts that run out are below their minimum")

        print("\nbest customers")
        for (customer, revenue) in try await service.bestCustomers(3) { print("  \(customer.name): \(revenue)") }
    }
}
