#if TansuSync
import TansuBSON

@testable import TansuSync

/// Requests of a test suite with what existed before each and what CouchDB answered.
///
/// It knows nothing of how a request is answered, so that a test of a server can use it as well.
struct MangoSuite {
    struct Case {
        let number: Int
        let test: String
        let method: String
        let path: String
        let body: BSONValue
        let status: Int
        let answer: BSONDocument
        private let docset: Int
        private let indexes: [Int]
        private let suite: MangoSuite

        fileprivate init(_ each: BSONDocument, _ suite: MangoSuite) throws {
            number = each["n"]?.intValue ?? -1
            test = each["test"]?.stringValue ?? ""
            method = each["m"]?.stringValue ?? ""
            path = each["p"]?.stringValue ?? ""
            body = each["q"] ?? .null
            status = each["s"]?.intValue ?? 0
            answer = each["r"]?.documentValue ?? [:]
            docset = each["ds"]?.intValue ?? 0
            indexes = each["ix"]?.elements.compactMap(\.intValue) ?? []
            self.suite = suite
        }

        /// The last part of the path, such as `_find`.
        var endpoint: String { path.split(separator: "?")[0].split(separator: "/").last.map { String($0) } ?? "" }

        var set: BSONDocument { suite.docsets[docset] }

        /// The documents that were there, design documents of indexes excluded.
        var documents: [BSONDocument] {
            (set["docs"]?.elements ?? []).compactMap(\.intValue).map { suite.documents[$0] }
        }

        /// The indexes that were created by requests: design document, name and body.
        var createdIndexes: [(designDocument: String, name: String, request: BSONDocument)] {
            indexes.map { suite.indexes[$0] }.compactMap { index in
                guard let design = index["ddoc"]?.stringValue, let name = index["name"]?.stringValue,
                    let request = index["request"]?.documentValue
                else { return nil }
                return (design, name, request)
            }
        }

        /// The documents of the answer, `"@id"` replaced by the whole document.
        var expectedDocuments: [BSONDocument] {
            let byID = Dictionary(documents.map { ($0["_id"]?.stringValue ?? "", $0) }) { $1 }
            return (answer["docs"]?.elements ?? []).compactMap { element in
                if case .string(let id) = element { return byID[String(id.dropFirst())] }
                return element.documentValue
            }
        }
    }

    private let documents: [BSONDocument]
    private let docsets: [BSONDocument]
    private let indexes: [BSONDocument]
    private(set) var cases: [Case] = []

    init(_ name: String) throws {
        let file = try Vectors.document(name)
        let list = { (key: String) in (file[key]?.elements ?? []).compactMap(\.documentValue) }
        documents = list("docs")
        docsets = list("docsets")
        indexes = list("indexes")
        cases = try list("cases").map { try Case($0, self) }
    }
}
#endif
