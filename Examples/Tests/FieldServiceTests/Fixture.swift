import FieldServiceData
import Foundation
import TansuObjects

/// A loaded database in memory, and what was loaded.
struct Fixture {
    let samples: SampleData
    let service: FieldService

    init(customers: Int = 30, orders: Int = 500, seed: UInt64 = 7) async throws {
        samples = SampleData(customers: customers, orders: orders, seed: seed)
        service = try await FieldService(Database(.memory))
        try await service.load(samples)
    }

    func site(_ id: Site.ID) -> Site? { samples.sites.first { $0.id == id } }

    func customer(of order: WorkOrder) -> Customer? {
        let site = site(order.site.id)
        return samples.customers.first { $0.id == site?.customer.id }
    }
}
