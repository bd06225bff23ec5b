#if TansuSync
    import TansuBSON
    import Testing

    @testable import TansuSync

    @Suite("Mango: random queries that CouchDB answered")
    struct MangoRandomTests {
        @Test("Each query matches the documents that CouchDB found")
        func matching() throws {
            let vectors = try Vectors.document("mango-random.json.gz")
            let documents = try #require(vectors["docs"]).elements.compactMap(\.documentValue)
            let cases = try #require(vectors["cases"]).elements.compactMap(\.documentValue)
            #expect(documents.count == 90 && cases.count == 1066)
            for (number, each) in cases.enumerated() where each["s"] == 200 && each["ids"] != nil {
                let query = try #require(each["q"]?.documentValue)
                if query["sort"] != nil || query["skip"] != nil || query["limit"] != 1000 { continue }
                let selector = try Mango.Selector(try #require(query["selector"]?.documentValue))
                let found = try documents.filter { try selector.matches($0) }.compactMap { $0["_id"]?.stringValue }
                let expected = try #require(each["ids"]).elements.compactMap(\.stringValue).sorted()
                #expect(found.sorted() == expected, "case \(number): \(query.extendedJSON())")
            }
        }
    }
#endif
