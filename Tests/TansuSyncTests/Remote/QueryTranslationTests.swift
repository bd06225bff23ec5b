#if TansuSync
    import Foundation
    import Tansu
    import TansuBSON
    import TansuTestSupport
    import Testing

    @testable import TansuSync

    @Suite("Remote: queries as selectors")
    struct QueryTranslationTests {
        /// How many random queries; `TANSU_ROUNDS` sets it.
        private static let rounds = ProcessInfo.processInfo.environment["TANSU_ROUNDS"].flatMap { Int($0) } ?? 1_500

        @Test("What a query matches is between the two selectors, with the types of this side and as CouchDB has them")
        func bounds() throws {
            let seed = SeededGenerator.seed()
            print("selectors: TANSU_SEED=\(seed)")
            var random = RandomQueries(seed: seed)
            var (tested, said, exact) = (0, 0, 0)
            for round in 0..<Self.rounds {
                let query = random.query()
                guard let matcher = try? EngineMatcher(query) else { continue }
                tested += 1
                var translation = QueryTranslation()
                let bounds = try translation.query(query)
                if case .all = bounds.upper, case .none = bounds.lower {
                    #expect(translation.unsaid != nil, "TANSU_SEED=\(seed), round \(round): \(query)")
                } else if case .all = bounds.upper {
                } else {
                    said += 1
                }
                let (upper, lower) = (try Self.selector(bounds.upper), try Self.selector(bounds.lower))
                var isExact = true
                for _ in 0..<12 {
                    let document = BSONDocument(
                        joining: ["_id": .string("\(round % 10)")], random.document())
                    let matches = try matcher.matches(document)
                    // CouchDB has every other type as an object.
                    let text = RemoteConnection.text(of: document)
                    let other = try #require(BSONValue(wireJSON: text, documentDepth: 100).documentValue)
                    for form in [document, other] {
                        let isInUpper = try upper?.matches(form) ?? false
                        let isInLower = try lower?.matches(form) ?? false
                        if matches != isInUpper || matches != isInLower { isExact = false }
                        guard (matches && !isInUpper) || (isInLower && !matches) else { continue }
                        Issue.record(
                            """
                            TANSU_SEED=\(seed), round \(round): \(query) \(matches ? "matches" : "does not match") \
                            \(document), but the \(matches ? "upper" : "lower") selector is \
                            \((matches ? bounds.upper : bounds.lower).document)
                            """)
                        return
                    }
                }
                if isExact { exact += 1 }
            }
            print(
                "selectors: of \(tested) queries \(said) ask for less than everything, \(exact) for no more than matches"
            )
            #expect(said * 4 > tested * 3 && exact * 2 > tested)
        }

        private static func selector(_ selection: Selection) throws -> Mango.Selector? {
            if case .none = selection { return nil }
            return try Mango.Selector(selection.document)
        }
    }
#endif
