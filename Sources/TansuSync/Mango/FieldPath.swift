#if TansuSync
import TansuBSON

extension Mango {
    /// The name of a field in a query: keys and positions with dots between them, such as `name.last` or `tags.0`.
    ///
    /// A backslash in front of a dot makes the dot part of a key. As in CouchDB every backslash is then dropped.
    package struct FieldPath: Sendable, Hashable {
        /// The name as written.
        package let text: String
        /// The keys; none for the value itself.
        let keys: [String]

        /// The value itself, without a path.
        static let itself = FieldPath()

        private init() {
            text = ""
            keys = []
        }

        package init(_ text: String) throws(QueryError) {
            self.init(column: text)
            guard !keys.contains(where: \.isEmpty) else {
                throw QueryError("invalid_field_name", "Invalid field name: \(text)")
            }
        }

        /// The path of a column of an index, of which CouchDB does not check the name.
        init(column text: String) {
            var keys = [String.UnicodeScalarView()]
            var last: Unicode.Scalar?
            for scalar in text.unicodeScalars {
                if scalar == ".", last != "\\" {
                    keys.append(String.UnicodeScalarView())
                } else {
                    keys[keys.count - 1].append(scalar)
                }
                last = scalar
            }
            self.text = text
            self.keys = keys.map { key in String(String.UnicodeScalarView(key.filter { $0 != "\\" })) }
        }

        package static func == (a: Self, b: Self) -> Bool { a.text == b.text }

        package func hash(into hasher: inout Hasher) { hasher.combine(BytewiseText(text)) }

        /// What a path leads to.
        enum Found {
            case value(BSONValue)
            /// An object on the way lacks the key.
            case missing
            /// The way leads through a value without members, or beyond the end of an array.
            case noWay
        }

        /// What the path leads to in a value.
        func found(in value: BSONValue) -> Found {
            var value = value
            for key in keys {
                switch value.jsonForm {
                case .document(let document):
                    guard let next = document[key] else { return .missing }
                    value = next
                case .array(let array):
                    guard let position = Self.position(key), let next = array[position] else { return .noWay }
                    value = next
                default: return .noWay
                }
            }
            return .value(value)
        }

        /// A position in an array; Erlang allows a sign.
        private static func position(_ key: String) -> Int? {
            let digits =
                key.utf8.first.map { $0 == 0x2B || $0 == 0x2D } == true ? key.utf8.dropFirst() : key.utf8[...]
            guard !digits.isEmpty, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
            return Int(key)
        }
    }
}
#endif
