import Foundation
import TansuObjects

/// What is built in. The id is the number of the catalogue. Parts and suppliers are many-to-many.
package struct Part: Codable, Hashable, Sendable, Identifiable {
    package var id: String
    package var name: String
    package var price: Decimal
    package private(set) var stock: Int
    package let minimum: Int
    /// Whether the stock is below the minimum. Stored, because a query compares a property with a value, not with another
    /// property.
    package private(set) var isLow: Bool
    package var suppliers: Set<Reference<Supplier>>

    package init(
        id: String, name: String, price: Decimal, stock: Int, minimum: Int, suppliers: Set<Reference<Supplier>> = []
    ) {
        self.id = id
        self.name = name
        self.price = price
        self.stock = stock
        self.minimum = minimum
        self.suppliers = suppliers
        isLow = stock < minimum
    }

    /// Takes some from the stock, or puts some into it when the number is negative.
    package mutating func take(_ quantity: Int) throws {
        guard quantity <= stock else { throw FieldServiceError.outOfStock(part: id, left: stock) }
        stock -= quantity
        isLow = stock < minimum
    }
}

package struct Supplier: Codable, Hashable, Sendable, Identifiable {
    package var id = ObjectID()
    package var name: String
    package var email: String

    package init(name: String, email: String) {
        self.name = name
        self.email = email
    }
}
