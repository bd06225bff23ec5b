#if TansuSync
import TansuBSON
import Testing

@testable import TansuSync

@Suite("Mango: random queries that CouchDB answered")
struct MangoRandomTests {
    private let documents: [BSONDocument]
    private let indexes: [Mango.Index]
    /// The documents of the indexes.
    private let designs: [BSONDocument]
    private let cases: [BSONDocument]

    init() throws {
        let vectors = try Vectors.document("mango-random.json.gz")
        documents =
            try #require(vectors["docs"]).elements.compactMap(\.documentValue)
        cases = try #require(vectors["cases"]).elements.compactMap(\.documentValue)
        indexes = try #require(vectors["indexes"]).elements.enumerated().map { number, fields in
            try Mango.Index(
                designDocument: "_design/i\(number)", name: "i\(number)", definition: ["fields": fields])
        }
        designs = indexes.compactMap(\.designDocument).map { ["_id": .string($0)] }
    }

    @Test("Each query finds what CouchDB found, in its order and with its warning")
    func answers() throws {
        #expect(cases.count == 1066 && documents.count == 90 && indexes.count == 9)
        var faults = 0
        for (number, each) in cases.enumerated() {
            let body = try #require(each["q"]?.documentValue)
            let name = "case \(number): \(each.extendedJSON())"
            do throws(Mango.QueryError) {
                let query = try Mango.Query(body)
                let answer = try query.answer(
                    each["ix"] == nil ? documents : documents + designs, indexes: each["ix"] == nil ? [] : indexes)
                guard each["s"] == 200 else {
                    // A fault of CouchDB: the answer is that of the documents alone.
                    var matching = -Int(query.skip)
                    for document in documents where try query.selector.matches(document) { matching += 1 }
                    let expected = max(0, min(matching, Int(query.limit)))
                    #expect(answer.documents.count == expected || body["sort"] != nil, "\(name)")
                    faults += 1
                    continue
                }
                if let ids = each["ids"] {
                    #expect(answer.documents.compactMap { $0["_id"] } == ids.elements, "\(name)")
                } else {
                    let expected = (each["docs"]?.elements ?? []).compactMap(\.documentValue)
                    #expect(answer.documents.map { JSONText($0) } == expected.map { JSONText($0) }, "\(name)")
                }
                #expect((answer.warning != nil) == (each["w"] != nil), "\(name)")
            } catch {
                Issue.record("\(name): \(error)")
            }
        }
        #expect(faults == 43)
    }
}
#endif
