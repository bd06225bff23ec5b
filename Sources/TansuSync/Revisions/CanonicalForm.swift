#if TansuSync
    import Crypto
    import TansuBSON

    /// A SHA-256 over values in a form that is the same on every replica that has the same document.
    ///
    /// JSON, in which documents travel, has neither two forms of 1 nor widths of integers, and its objects have no order. So
    /// members are in the order of the bytes of their names, and integers and doubles of one value have one form, 0 and -0
    /// among them. Any other value has the bytes of BSON. Each part begins with what ends it: a count or a length.
    struct CanonicalForm {
        private enum Tag: UInt8 {
            case document = 1
            case array = 2
            case integer = 3
            case double = 4
            case other = 5
        }

        private var hash = SHA256()
        private var buffer: [UInt8] = []

        mutating func append(version: UInt8) { append([version]) }
        mutating func append(flag: Bool) { append([flag ? 1 : 0]) }
        mutating func append(count: Int) { append(bits: UInt64(count)) }

        mutating func append(text: String) {
            append(count: text.utf8.count)
            append(text.utf8)
        }

        /// Appends the members of a document in the order of their names.
        mutating func append(
            fields: some Collection<BSONDocument.Element>, depth: Int = 1
        ) throws(RevisionError) {
            guard depth <= BSONDocument.maximumDepth else { throw tooDeep }
            append([Tag.document.rawValue])
            append(count: fields.count)
            for (key, value) in fields.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                append(text: key)
                try append(value, depth: depth)
            }
        }

        private mutating func append(_ value: BSONValue, depth: Int) throws(RevisionError) {
            switch value {
            case .document(let document): try append(fields: document, depth: depth + 1)
            case .array(let array):
                guard depth < BSONDocument.maximumDepth else { throw tooDeep }
                append([Tag.array.rawValue])
                append(count: array.count)
                for element in array { try append(element, depth: depth + 1) }
            case .int32(let number): append(integer: Int64(number))
            case .int64(let number): append(integer: number)
            case .double(let number):
                if let integer = Int64(exactly: number) {
                    append(integer: integer)
                } else {
                    append([Tag.double.rawValue])
                    // All NaNs are one: their bits do not survive JSON.
                    append(bits: (number.isNaN ? Double.nan : number).bitPattern)
                }
            default:
                append([Tag.other.rawValue])
                let bytes = BSONDocument([("", value)]).bytes
                append(count: bytes.count)
                append(bytes)
            }
        }

        private var tooDeep: RevisionError {
            RevisionError(.invalidBody, "The document is nested deeper than \(BSONDocument.maximumDepth) levels")
        }

        private mutating func append(integer: Int64) {
            append([Tag.integer.rawValue])
            append(bits: UInt64(bitPattern: integer))
        }

        private mutating func append(bits: UInt64) {
            withUnsafeBytes(of: bits.littleEndian) { append($0) }
        }

        private mutating func append(_ bytes: some Collection<UInt8>) {
            buffer += bytes
            // Enough at a time that the calls do not cost, and little enough that a large document is not copied.
            if buffer.count >= 1 << 14 { flush() }
        }

        private mutating func flush() {
            hash.update(data: buffer)
            buffer.removeAll(keepingCapacity: true)
        }

        /// The first sixteen bytes of the hash.
        mutating func digest() -> [UInt8] {
            flush()
            return Array(hash.finalize().prefix(16))
        }
    }
#endif
