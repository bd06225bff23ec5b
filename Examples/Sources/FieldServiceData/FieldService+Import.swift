import Foundation
import TansuObjects

/// A line of a supplier's price list.
package struct PriceListItem: Codable, Sendable {
    package var number: String
    package var name: String
    package var price: Decimal
}

extension FieldService {
    /// Saves sample data, in one commit. Everything that it refers to must be among it.
    @discardableResult
    package func load(_ samples: SampleData) async throws -> Int {
        try await db.save(graph: samples.all)
    }

    /// Takes over a supplier's price list in JSON: new parts are added, others get the price and the supplier. All or
    /// nothing of it.
    ///
    /// - Returns: How many parts are new, and how many have changed.
    package func importPriceList(
        _ json: Data, of supplier: Supplier.ID
    ) async throws -> (inserted: Int, updated: Int) {
        let items = try JSONDecoder().decode([PriceListItem].self, from: json)
        return try await db.write { transaction in
            let parts = try transaction.collection(of: Part.self)
            var (inserted, updated) = (0, 0)
            for item in items {
                let before = try parts.get(item.number)
                var part =
                    before ?? Part(id: item.number, name: item.name, price: item.price, stock: 0, minimum: 0)
                part.price = item.price
                part.suppliers.insert(Reference(id: supplier))
                guard part != before else { continue }
                try transaction.save(graph: [part])
                if before == nil { inserted += 1 } else { updated += 1 }
            }
            return (inserted, updated)
        }
    }
}
