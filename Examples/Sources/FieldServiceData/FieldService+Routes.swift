import Foundation
import TansuObjects

/// The orders that a technician drives to on one day, in the order of the drive: a bag for each day. An order that is removed
/// leaves it by itself.
extension FieldService {
    package func route(of technician: Technician.ID, on day: Date) throws -> Bag {
        try db.bag("route/\(technician)/\(day.formatted(.iso8601.year().month().day()))")
    }

    /// Makes the route of a day from the visits, in the order of their times. What was on it is replaced.
    package func planRoute(of technician: Technician.ID, on day: Date) async throws -> [WorkOrder] {
        let visits = try await schedule(of: technician, in: day..<day.addingTimeInterval(86_400)).map(\.order)
        let name = try route(of: technician, on: day).name
        try await db.write { transaction in
            let route = try transaction.bag(name)
            try route.removeAll()
            try route.add(visits)
        }
        return visits
    }

    /// Puts an order first: the customer has no heating.
    package func driveFirst(to order: WorkOrder, technician: Technician.ID, on day: Date) async throws -> [WorkOrder] {
        let route = try route(of: technician, on: day)
        try await route.insert([order], at: 0)
        return try await route.objects(of: WorkOrder.self)
    }
}
