#if TansuSync
    import TansuBSON

    /// Sort keys: bytes that, compared as such, have the order of the values.
    ///
    /// A key begins with a byte for the type. Text continues with ICU's sort key, which ends with its only 0; a number as
    /// ``ExactNumber`` says; an array with the keys of its elements, an object with those of its keys and values, both with a
    /// 0 at their end, which no key begins with. No key is the beginning of another one, so keys can stand one after the
    /// other.
    extension Collation {
        private enum KeyByte {
            static let end: UInt8 = 0
            static let null: UInt8 = 1
            static let `false`: UInt8 = 2
            static let `true`: UInt8 = 3
            static let number: UInt8 = 4
            static let text: UInt8 = 5
            static let array: UInt8 = 6
            static let object: UInt8 = 7
        }

        /// A byte above all that a key begins with.
        package static let aboveAllKeys: UInt8 = 8

        /// Appends the sort key of a value. Values that are equal in the collation have equal keys.
        package func appendKey(of value: BSONValue, to key: inout [UInt8]) throws(CollationError) {
            if let number = JSONNumber(value) {
                key.append(KeyByte.number)
                number.appendKey(to: &key)
                return
            }
            switch value.jsonForm {
            case .bool(let flag): key.append(flag ? KeyByte.true : KeyByte.false)
            case .string(let text): try appendKey(of: text, to: &key)
            case .array(let elements):
                key.append(KeyByte.array)
                for element in elements { try appendKey(of: element, to: &key) }
                key.append(KeyByte.end)
            case .document(let members):
                key.append(KeyByte.object)
                for (name, member) in members {
                    try appendKey(of: name, to: &key)
                    try appendKey(of: member, to: &key)
                }
                key.append(KeyByte.end)
            default: key.append(KeyByte.null)
            }
        }

        private func appendKey(of text: String, to key: inout [UInt8]) throws(CollationError) {
            key.append(KeyByte.text)
            try self.text.appendKey(of: text, to: &key)
        }
    }
#endif
