import Foundation

extension Database.PageToken {
    /// Makes a token from the sort order and the sort key of the last document of a page.
    init(order: BSONDocument, values: [BSONValue]) {
        let content: BSONDocument = ["v": 1, "order": .document(order), "values": BSONValue(values)]
        let text = content.withUnsafeBytes { Data($0) }.base64EncodedString()
        rawValue = text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The sort key, when the token is of this sort order.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    func values(for order: BSONDocument) throws -> [BSONValue] {
        var text = rawValue.replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: text), let content = try? BSONDocument(bytes: data), content["v"] == 1,
            let values = content["values"]?.arrayValue.map(Array.init)
        else {
            throw TansuError(
                .invalidQuery, "The text is not a page token; pass the next token of a page", context: rawValue)
        }
        guard content["order"]?.documentValue == order, values.count == order.count else {
            throw TansuError(
                .invalidQuery, "The page token belongs to another sort order; start again without a token",
                context: content["order"].map { "\($0)" } ?? "")
        }
        return values
    }
}
