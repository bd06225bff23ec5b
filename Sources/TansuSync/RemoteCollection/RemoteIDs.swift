#if TansuSync
    import Tansu
    import TansuBSON

    /// Ids on this side, and as text on the server.
    enum RemoteIDs {
        /// Whether a type declares its id as an ObjectId.
        static func areObjectIDs<Element: Decodable>(of type: Element.Type) -> Bool {
            if type == BSONDocument.self { return false }
            if let type = type as? any Identifiable.Type { return isObjectID(idOf: type) }
            // A type without that protocol says so when it refuses text.
            do { _ = try BSONDecoder().decode(type, from: ["_id": ""]) } catch {
                if case DecodingError.typeMismatch(let expected, let context)? = error as? DecodingError {
                    return expected == ObjectID.self && context.codingPath.count == 1
                }
            }
            return false
        }

        private static func isObjectID<Value: Identifiable>(idOf type: Value.Type) -> Bool {
            Value.ID.self == ObjectID.self || Value.ID.self == ObjectID?.self
        }

        /// The text that an id is on the server.
        static func onServer(_ id: BSONValue) throws(RemoteError) -> String {
            switch id {
            case .string(let text):
                do { try DocumentName.validate(id: text) } catch {
                    throw RemoteError(.unusableID, "The _id \"\(text)\" is invalid: \(error.reason)")
                }
                return text
            case .objectID(let id): return id.hexString
            default:
                throw RemoteError(
                    .unusableID, "The _id \(id) cannot be on a server; use text or an ObjectId")
            }
        }

        /// The id that a text of the server is on this side.
        static func here(_ text: String, areObjectIDs: Bool) -> BSONValue {
            if areObjectIDs, let id = ObjectID(text), id.hexString == text { return .objectID(id) }
            return .string(text)
        }
    }

    extension RemoteCollection {
        /// The text that an id of this side is on the server.
        func onServer(_ id: some DocumentID) throws(RemoteError) -> String { try RemoteIDs.onServer(local.stored(id)) }

        /// A document of the server as this side has it.
        func received(_ document: BSONDocument) throws -> BSONDocument {
            guard case .string(let id)? = document["_id"] else {
                throw RemoteFailure.invalidAnswer("A document in its answer has no _id")
            }
            guard hasObjectIDs else { return document }
            var document = document
            document["_id"] = RemoteIDs.here(id, areObjectIDs: true)
            return document
        }

        /// The value of a document of the server.
        func element(_ document: BSONDocument) throws -> Element {
            try document.withUnsafeBytes { try local.codec.decode($0) }
        }
    }
#endif
