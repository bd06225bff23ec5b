import Foundation

extension Database.PageToken {
    /// Makes a token of an order and the values that the last document of a page has there.
    init(order: BSONDocument, values: [BSONValue]) {
        let content: BSONDocument = ["v": 1, "order": .document(order), "values": BSONValue(values)]
        let text = content.withUnsafeBytes { Data($0) }.base64EncodedString()
        rawValue = text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The values, when the token is one of this order.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    func values(for order: BSONDocument) throws -> [BSONValue] {
        var text = rawValue.replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: text), let content = try? BSONDocument(bytes: data), content["v"] == 1,
            let values = content["values"]?.arrayValue.map(Array.init)
        else {
            throw TansuError(.invalidQuery, "this is no token of a page: use one that a page gave", context: rawValue)
        }
        guard content["order"]?.documentValue == order, values.count == order.count else {
            throw TansuError(
                .invalidQuery, "the token is of a page in another order: begin again without one",
                context: content["order"].map { "\($0)" } ?? "")
        }
        return values
    }
}
