import TansuObjects

/// What a search found.
package struct SearchResult: Sendable {
    package var customers: [Customer] = []
    package var sites: [Site] = []
    package var parts: [Part] = []
    package var orders: [WorkOrder] = []

    package var count: Int { customers.count + sites.count + parts.count + orders.count }
}

extension FieldService {
    /// Everything with a text that begins with the given one, in any attribute, in whatever case. All is of one snapshot.
    package func search(_ text: String) async throws -> SearchResult {
        let query: BSONDocument = ["**": ["$icase": ["$begin": .string(text)]]]
        return try await db.read { transaction in
            SearchResult(
                customers: try transaction.collection(of: Customer.self).find(query).all(),
                sites: try transaction.collection(of: Site.self).find(query).all(),
                parts: try transaction.collection(of: Part.self).find(query).all(),
                orders: try transaction.collection(of: WorkOrder.self).find(query).sorted(by: \.number).all())
        }
    }
}
