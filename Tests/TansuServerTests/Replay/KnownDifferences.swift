#if TansuServer
    /// The recorded answers that differ on purpose, by scenario and number, with the reason.
    ///
    /// A listed one that is equal is a failure as well, so that the list stays true.
    enum KnownDifferences {
        struct Reason: ExpressibleByStringLiteral {
            let text: String

            init(stringLiteral text: String) { self.text = text }
        }

        static func reason(_ scenario: String, _ number: Int) -> String? {
            table[scenario]?[number]?.text
        }

        private static let fault: Reason = "a fault of CouchDB (5xx)"

        private static let welcome: Reason = "the vendor and the features are our own"

        static let table: [String: [Int: Reason]] = [
            "database": [75: fault, 77: fault, 107: fault],
            "server": [1: welcome, 4: welcome],
        ]
    }
#endif
