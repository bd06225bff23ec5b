#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import NIOCore
    import TansuBSON

    extension Response {
        /// A JSON answer whose bytes exist already. A line feed follows them, as in CouchDB.
        static func json(
            bytes: [UInt8], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
        ) -> Response {
            var buffer = ByteBuffer()
            buffer.reserveCapacity(bytes.count + 1)
            buffer.writeBytes(bytes)
            buffer.writeInteger(UInt8(ascii: "\n"))
            return .json(buffer: buffer, status: status, headers: headers)
        }

        /// What CouchDB answers when a document was saved.
        static func saved(
            _ id: String, _ revision: some CustomStringConvertible, status: HTTPResponse.Status = .created,
            headers: HTTPFields = [:]
        ) -> Response {
            let body: BSONDocument = ["ok": true, "id": .string(id), "rev": .string("\(revision)")]
            return .json(.document(body), status: status, headers: headers)
        }
    }
#endif
