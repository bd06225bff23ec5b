import Foundation
import TansuObjects

/// An order as a list or a map shows it.
package typealias OrderAtSite = (order: WorkOrder, site: Site?, customer: Customer?)

/// What a technician takes along.
package struct WorkSheet: Hashable, Sendable {
    package var order: WorkOrder
    package var site: Site?
    package var customer: Customer?
    package var technician: Technician?
    /// The parts of the lines, each once.
    package var parts: [Part]
}

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

    /// An order as it is printed: who goes where, with which parts.
    package func sheet(of id: WorkOrder.ID) async throws -> WorkSheet? {
        let found = try await orders.find { $0.id == id }
            .including(\.site) { $0.including(\.customer) }
            .including(\.visit?.technician)
            .including(all: \.lines, \.part)
            .first()
        return found.map { order, place, technician, parts in
            WorkSheet(order: order, site: place?.0, customer: place?.1, technician: technician, parts: parts)
        }
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
