import Foundation
import TansuObjects

/// The form of the office to find orders: what is empty does not matter.
package struct OrderFilter: Codable, Hashable, Sendable {
    /// In the title, the notes or a line, without regard to case and accents.
    package var text = ""
    /// How the name of the customer begins, or a later word of it.
    package var customer = ""
    package var statuses: Set<WorkOrder.Status> = []
    package var openedAfter: Date?

    package init(
        text: String = "", customer: String = "", statuses: Set<WorkOrder.Status> = [], openedAfter: Date? = nil
    ) {
        self.text = text
        self.customer = customer
        self.statuses = statuses
        self.openedAfter = openedAfter
    }

    fileprivate var expression: Search.Expression {
        var parts: [Search.Expression] = []
        if !text.isEmpty {
            parts.append(
                .any(
                    of: ["title", "notes", "lines.text"].map {
                        .init($0, .contains(text), ignoring: [.case, .accents])
                    }))
        }
        if !customer.isEmpty {
            // The path goes on after two references.
            parts.append(
                .init("site.customer.name", .begins(customer), ignoring: .case)
                    || .init("site.customer.name", .contains(" " + customer), ignoring: .case))
        }
        if !statuses.isEmpty {
            parts.append(.init("status", .in(statuses.map { .string($0.rawValue) })))
        }
        if let openedAfter {
            parts.append(.init("opened", .greater(.date(openedAfter))))
        }
        return .all(of: parts)
    }
}

extension FieldService {
    /// The orders that a form describes, the newest first, and how many there are.
    package func orders(matching filter: OrderFilter, limit: Int = 50) async throws -> (orders: [WorkOrder], count: Int)
    {
        try await db.read { transaction in
            var search = try Search(of: WorkOrder.self, in: transaction, where: filter.expression)
            let count = try search.count(in: transaction)
            search.order = [.init("number", .descending)]
            search.limit = limit
            return (try search.objects(of: WorkOrder.self, in: transaction), count)
        }
    }

    /// The orders that were saved after a time, such as the last time that a device asked.
    package func orders(savedAfter time: Date) async throws -> [WorkOrder] {
        try await orders.find(savedAfter: time).sorted(by: \.number).all()
    }
}
