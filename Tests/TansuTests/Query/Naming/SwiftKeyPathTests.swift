import Testing

@testable import Tansu

@Suite("Key paths in the text of a program")
struct SwiftKeyPathTests {
    @Test("Stored paths become the key paths that they are the names of")
    func inverse() throws {
        let db = try Database(.memory)
        let orders = try db.collection("orders", of: Shop.Order.self)
        let keyPaths: [(AnyKeyPath, String)] = [
            (\Shop.Order.id, try orders.storedPath(of: \.id)),
            (\Shop.Order.customerName, try orders.storedPath(of: \.customerName)),
            (\Shop.Order.lines, try orders.storedPath(of: \.lines)),
            (\Shop.Order.address, try orders.storedPath(of: \.address)),
            (\Shop.Order.address?.city, try orders.storedPath(of: \.address?.city)),
        ]
        #expect(keyPaths.map(\.1) == ["_id", "customer", "lines", "address", "address.city"])
        for (keyPath, path) in keyPaths {
            let text = try #require(SwiftKeyPath.text(ofPath: path, in: Shop.Order.self))
            // Swift prints a question mark at the end of an optional chain.
            let printed = String(String(describing: keyPath).reversed().drop { $0 == "?" }.reversed())
            #expect(printed == text.replacingOccurrences(of: "\\.", with: "\\Order."))
        }
        for path in [
            "id", "customerName", "lines.0", "lines.product", "address.city.x", "address.", "", "a\\.b", "state?",
        ] {
            #expect(SwiftKeyPath.text(ofPath: path, in: Shop.Order.self) == nil, "\(path)")
        }
    }
}
