import Foundation
import TansuObjects

extension FieldService {
    /// Opens an order with the next number.
    package func open(
        _ title: String, notes: String = "", at site: Site.ID, priority: WorkOrder.Priority = .normal, on date: Date
    ) async throws -> WorkOrder {
        try await db.write { transaction in
            let orders = try transaction.collection(of: WorkOrder.self)
            let last = try orders.find().aggregate(.max(\.number)) ?? 0
            let order = WorkOrder(
                number: last + 1, title: title, notes: notes, site: Reference(id: site), priority: priority,
                opened: date)
            try transaction.save(graph: [order])
            return order
        }
    }

    /// Plans a visit, or moves it. The technician must be free.
    @discardableResult
    package func schedule(_ id: WorkOrder.ID, _ visit: WorkOrder.Visit) async throws -> WorkOrder {
        try await changing(id) { order, transaction in
            guard order.status == .open || order.status == .scheduled else {
                throw FieldServiceError.wrongStatus(order.status)
            }
            let other = try transaction.collection(of: WorkOrder.self).find {
                $0.visit.technician == visit.technician && $0.visit.start < visit.end && $0.visit.end > visit.start
                    && $0.status == .scheduled && $0.id != id
            }
            if let other = try other.first() { throw FieldServiceError.busy(order: other.number) }
            order.visit = visit
            order.status = .scheduled
        }
    }

    /// Finishes an order: its parts are taken from the stock, all or none.
    @discardableResult
    package func finish(_ id: WorkOrder.ID, at date: Date) async throws -> WorkOrder {
        try await changing(id) { order, transaction in
            guard order.status == .scheduled else { throw FieldServiceError.wrongStatus(order.status) }
            let parts = try transaction.collection(of: Part.self)
            for line in order.lines {
                if let part = line.part { try parts.update(id: part.id) { try $0.take(line.quantity) } }
            }
            order.status = .done
            order.finished = date
        }
    }

    @discardableResult
    package func cancel(_ id: WorkOrder.ID) async throws -> WorkOrder {
        try await changing(id) { order, _ in
            guard order.status != .done else { throw FieldServiceError.wrongStatus(order.status) }
            order.status = .cancelled
            order.visit = nil
        }
    }

    /// Changes an order in a transaction.
    private func changing(
        _ id: WorkOrder.ID, _ body: @escaping @Sendable (inout WorkOrder, Database.Transaction) throws -> Void
    ) async throws -> WorkOrder {
        try await db.write { transaction in
            let changed = try transaction.collection(of: WorkOrder.self).update(id: id) { try body(&$0, transaction) }
            guard let changed else { throw FieldServiceError.noOrder }
            return changed
        }
    }
}
