#if TansuSync
import TansuBSON
import Testing

@testable import TansuSync

/// The order that CouchDB 3.5.0 gave to 319 values.
@Suite("Collation: CouchDB's order of values")
struct CollationOracleTests {
    private let classes: [[BSONValue]]
    private let ids: [String]

    init() throws {
        let oracle = try Vectors.document("collation-oracle.json")
        classes = (oracle["classes"]?.elements ?? []).map(\.elements)
        ids = (oracle["all_docs_ids"]?.elements ?? []).compactMap(\.stringValue)
    }

    @Test("Every pair of values has the order of CouchDB")
    func pairs() throws {
        let collation = try Collation.shared()
        #expect(classes.count == 306)
        for (i, first) in classes.enumerated() {
            for (j, second) in classes.enumerated() {
                for a in first {
                    for b in second {
                        let order = try collation.order(a, b)
                        #expect(order == Collation.Order(i, j), "\(a) and \(b)")
                    }
                }
            }
        }
    }

    @Test("Ids have the order of their bytes")
    func idOrder() {
        #expect(ids.count == 550)
        for (a, b) in zip(ids, ids.dropFirst()) {
            #expect(TermOrder.order(.string(a), .string(b)) == .before, "\(a) and \(b)")
        }
    }

    @Test("Threads share one collation")
    func threads() async throws {
        let classes = classes
        try await withThrowingTaskGroup(of: Void.self) { group in
            for start in 0..<8 {
                group.addTask {
                    let collation = try Collation.shared()
                    for (a, b) in zip(classes, classes.dropFirst()).dropFirst(start) {
                        for (x, y) in zip(a, b) {
                            let order = try collation.order(x, y)
                            #expect(order == .before)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
#endif
