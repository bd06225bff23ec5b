#if TansuSync
    import TansuBSON

    /// A JSON object whose keys may be any text, such as the ids of documents: the keys of BSON have no zero byte.
    package enum WireObject {
        /// Reads the JSON text. Of several equal keys the last one wins.
        ///
        /// - Returns: The members in their order; nil when the text is no object.
        /// - Throws: ``BSONError`` when it is no JSON.
        package static func members(json utf8: [UInt8]) throws -> [(key: String, value: BSONValue)]? {
            do {
                guard case .document(let document) = try BSONValue(plainJSON: utf8) else { return nil }
                return document.map { ($0.key, $0.value) }
            } catch let error as BSONError where error.code == .invalidKey {
                return try members(cutting: utf8, error)
            }
        }

        /// Cuts the text at the colons and commas between the members of the outer object.
        ///
        /// - Parameter error: What is thrown for a text that is no object.
        private static func members(
            cutting text: [UInt8], _ error: BSONError
        ) throws -> [(key: String, value: BSONValue)] {
            var members: [(key: String, value: BSONValue)] = []
            var positions: [BytewiseText: Int] = [:]
            var key: String?
            var start = 0
            var depth = 0
            var isInString = false
            var isEscaped = false
            for (index, byte) in text.enumerated() {
                if isInString {
                    (isInString, isEscaped) = (
                        isEscaped || byte != UInt8(ascii: "\""), !isEscaped && byte == UInt8(ascii: "\\")
                    )
                    continue
                }
                switch byte {
                case UInt8(ascii: "\""): isInString = true
                case UInt8(ascii: "["), UInt8(ascii: "{"):
                    depth += 1
                    if depth == 1 {
                        guard byte == UInt8(ascii: "{"), start == 0 else { throw error }
                        start = index + 1
                    }
                case UInt8(ascii: ":") where depth == 1 && key == nil:
                    guard case .string(let name) = try BSONValue(plainJSON: text[start..<index]) else { throw error }
                    key = name
                    start = index + 1
                case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"):
                    if depth == 1 {
                        guard let name = key, byte != UInt8(ascii: "]") else { throw error }
                        let value = try BSONValue(plainJSON: text[start..<index])
                        if let position = positions[BytewiseText(name)] {
                            members[position].value = value
                        } else {
                            positions[BytewiseText(name)] = members.count
                            members.append((name, value))
                        }
                        key = nil
                        start = index + 1
                    }
                    if byte != UInt8(ascii: ",") { depth -= 1 }
                case 0x20, 0x09, 0x0A, 0x0D: break
                default: if depth < 1 { throw error }
                }
            }
            guard depth == 0, !isInString, key == nil else { throw error }
            return members
        }
    }
#endif
