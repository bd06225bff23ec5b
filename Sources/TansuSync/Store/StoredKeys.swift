#if TansuSync
    import TansuBSON

    /// The keys of a document as the collection has them.
    ///
    /// The engine keeps keys that begin with `$` for operators, while JSON allows them. So `$ref` is stored as `＄ref`, with
    /// U+FF04, and a key that begins with U+FF04 itself gets another one in front. Then `$＄ref` needs a separator, U+0001, so that it
    /// is not stored like `＄ref`, and so does a `$` before U+0001.
    extension BSONDocument {
        private static let mark = "\u{FF04}"
        private static let separator = "\u{1}"

        /// With the keys that the collection has.
        var withStoredKeys: BSONDocument {
            guard bytes.mayHaveOperator || bytes.hasMark else { return self }
            return mappingKeys { key in
                if key.utf8.first == UInt8(ascii: "$") {
                    let rest = key.droppingBytes(1)
                    let isAmbiguous =
                        rest.utf8.starts(with: Self.mark.utf8) || rest.utf8.starts(with: Self.separator.utf8)
                    return Self.mark + (isAmbiguous ? Self.separator : "") + rest
                }
                return key.utf8.starts(with: Self.mark.utf8) ? Self.mark + key : key
            }
        }

        /// With the keys that a client has given.
        var withWireKeys: BSONDocument {
            guard bytes.hasMark else { return self }
            return mappingKeys { key in
                guard key.utf8.starts(with: Self.mark.utf8) else { return key }
                let rest = key.droppingBytes(Self.mark.utf8.count)
                if rest.utf8.starts(with: Self.mark.utf8) { return rest }
                return "$" + (rest.utf8.starts(with: Self.separator.utf8) ? rest.droppingBytes(1) : rest)
            }
        }

        private func mappingKeys(_ map: (String) -> String) -> BSONDocument {
            BSONDocument(self.map { (map($0.key), $0.value.mappingKeys(map)) })
        }
    }

    extension BSONValue {
        fileprivate func mappingKeys(_ map: (String) -> String) -> BSONValue {
            switch self {
            case .document(let document):
                .document(BSONDocument(document.map { (map($0.key), $0.value.mappingKeys(map)) }))
            case .array(let array): .array(BSONArray(array.map { $0.mappingKeys(map) }))
            default: self
            }
        }
    }

    extension String {
        /// Without its first bytes; a character may be more than these, such as "$" with an accent.
        fileprivate func droppingBytes(_ count: Int) -> String {
            String(decoding: utf8.dropFirst(count), as: UTF8.self)
        }
    }

    extension [UInt8] {
        /// Whether a key may begin with `$`: the type of its field stands before it. Quickly, and true in some cases where none does.
        fileprivate var mayHaveOperator: Bool {
            withUnsafeBytes { bytes in
                for index in bytes.indices.dropFirst(5) where bytes[index] == UInt8(ascii: "$") {
                    if BSONType(rawValue: bytes[index - 1]) != nil { return true }
                }
                return false
            }
        }

        /// Whether U+FF04 is among the characters.
        fileprivate var hasMark: Bool {
            withUnsafeBufferPointer { bytes in
                var index = 0
                while index + 2 < bytes.count {
                    if bytes[index] == 0xEF, bytes[index + 1] == 0xBC, bytes[index + 2] == 0x84 { return true }
                    index += 1
                }
                return false
            }
        }
    }
#endif
