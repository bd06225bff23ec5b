#if TansuSync
    import Foundation
    import TansuBSON

    extension Mango {
        /// Where an answer ended, as text that a client sends with its next request.
        ///
        /// The text is base64 with letters for URLs; what is inside is no business of a client. An answer without documents
        /// has the bookmark of its request, or `nil`.
        package struct Bookmark: Sendable {
            /// The key of the last document in the index.
            let key: [BSONValue]
            /// The id of the last document.
            let id: BSONValue

            /// The text that stands for the beginning.
            package static let none = "nil"

            init(key: [BSONValue], id: BSONValue) {
                self.key = key
                self.id = id
            }

            /// Reads the text of a bookmark.
            ///
            /// - Throws: ``Mango/QueryError`` when the text is none that this library made.
            init(_ text: String) throws(QueryError) {
                var standard = text.replacing("-", with: "+").replacing("_", with: "/")
                standard += String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
                guard let data = Data(base64Encoded: standard),
                    let document = try? BSONDocument(extendedJSON: [UInt8](data)),
                    case .array(let key)? = document["key"], let id = document["id"]
                else {
                    throw QueryError(
                        "invalid_bookmark", "Invalid bookmark value: \(BSONValue.string(text).extendedJSON(.relaxed))")
                }
                self.init(key: Array(key), id: id)
            }

            /// The bookmark as text.
            package var text: String {
                let document: BSONDocument = ["key": .array(BSONArray(key)), "id": id]
                return Data(document.extendedJSONBytes(.canonical)).base64EncodedString().replacing("+", with: "-")
                    .replacing("/", with: "_").replacing("=", with: "")
            }
        }
    }
#endif
