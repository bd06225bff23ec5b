import Foundation
import TansuObjects

/// An order as a list or a map shows it.
package typealias OrderAtSite = (order: WorkOrder, site: Site?, customer: Customer?)

extension FieldService {
    /// The orders that are not finished, the most urgent first.
    package func board() throws -> Database.Query<WorkOrder> {
        try orders.find { $0.status.in([.open, .scheduled]) }
            .sorted(by: \.priority, .descending).sorted(by: \.opened).sorted(by: \.number)
    }

    /// The visits of a technician in a time, with sites and customers.
    package func schedule(of technician: Technician.ID, in time: Range<Date>) async throws -> [OrderAtSite] {
        let found = try await orders.find {
            $0.visit.technician.id == technician && $0.visit.start.in(time) && $0.status.in([.scheduled, .done])
        }
        .sorted(by: \.visit?.start)
        .including(\.site) { $0.including(\.customer) }
        .all()
        return found.map { order, place in (order, place?.0, place?.1) }
    }

    /// The orders of a customer, of all sites, the newest first.
    package func history(ofCustomer name: String) throws -> Database.Query<WorkOrder> {
        try orders.find { $0.site.customer.name == name }.sorted(by: \.opened, .descending)
    }

    /// Which technicians could go: with a skill, and without a visit in a time.
    package func free(_ skill: Technician.Skill, in time: Range<Date>) throws -> Database.Query<Technician> {
        try technicians.find {
            $0.skills.contains(skill)
                && !$0.inverse(\WorkOrder.visit?.technician).contains {
                    $0.status == .scheduled && $0.visit.start < time.upperBound && $0.visit.end > time.lowerBound
                }
        }
        .sorted(by: \.id)
    }
}
