import Foundation
import TansuObjects

/// The data layer of a field service: customers with sites, work orders, technicians, parts and suppliers. Views use this
/// type, and queries that it returns.
package struct FieldService: Sendable {
    package let db: Database
    package let customers: Database.Collection<Customer>
    package let sites: Database.Collection<Site>
    package let technicians: Database.Collection<Technician>
    package let suppliers: Database.Collection<Supplier>
    package let parts: Database.Collection<Part>
    package let orders: Database.Collection<WorkOrder>

    /// Opens the database in a folder.
    package init(path: String) async throws {
        try await self.init(Database(path: path))
    }

    package init(_ db: Database) async throws {
        try await db.use(Self.model())
        self.db = db
        customers = try db.collection(of: Customer.self)
        sites = try db.collection(of: Site.self)
        technicians = try db.collection(of: Technician.self)
        suppliers = try db.collection(of: Supplier.self)
        parts = try db.collection(of: Part.self)
        orders = try db.collection(of: WorkOrder.self)
    }

    /// What is stored, and what refers to what. The wildcard indexes serve ``search(_:)``.
    ///
    /// A customer is removed with their sites, but not while there are orders, and neither is a technician with visits. A part
    /// or a supplier may always be removed: the lines of orders keep text and price.
    static func model() throws -> Model {
        try Model {
            Entity("customers", of: Customer.self, indexes: [.wildcard(caseInsensitive: true)])
            Entity("sites", of: Site.self, indexes: [.wildcard(caseInsensitive: true)])
                .reference(\.customer, to: "customers", onDelete: .cascade)
            Entity("technicians", of: Technician.self)
            Entity("suppliers", of: Supplier.self)
            Entity("parts", of: Part.self, indexes: [.wildcard(caseInsensitive: true)])
                .reference(\.suppliers, to: "suppliers", onDelete: .nullify)
            Entity(
                "orders", of: WorkOrder.self,
                indexes: [
                    Database.Index(on: \.number, unique: true), Database.Index(on: \.status, \.opened),
                    Database.Index(on: \.finished), .wildcard(caseInsensitive: true),
                ]
            )
            .reference(\.site, to: "sites", onDelete: .deny)
            .reference(\.visit?.technician, to: "technicians", onDelete: .deny)
            .reference(\.lines, \.part, to: "parts", onDelete: .nullify)
            .timestamps()
        }
    }
}

package enum FieldServiceError: Error, Hashable, Sendable {
    /// The order does not exist.
    case noOrder
    /// The technician has another visit, of the order with the number.
    case busy(order: Int)
    /// There are not enough of a part.
    case outOfStock(part: String, left: Int)
    /// The order has a status in which this is not possible.
    case wrongStatus(WorkOrder.Status)
}
