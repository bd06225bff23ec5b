extension BSONDocument {
    /// The document with the `_id` as its first field; it must have none yet.
    package func withID(_ id: BSONValue) -> BSONDocument {
        let head = BSONDocument(key: "_id", value: id)
        // A length of four bytes, then the fields, then a zero byte.
        let count = head.bytes.count + bytes.count - 5
        var result: [UInt8] = []
        result.reserveCapacity(count)
        for shift in stride(from: 0, to: 32, by: 8) {
            result.append(UInt8(truncatingIfNeeded: count >> shift))
        }
        result += head.bytes[4..<(head.bytes.count - 1)]
        result += bytes[4...]
        return BSONDocument(trustedBytes: result)
    }
}
