#if TansuSync
import TansuBSON

/// CouchDB's order of JSON values, which its views and its Mango queries have.
///
/// null < false < true < numbers < text < arrays < objects. Numbers are compared by their exact values, text by ICU's
/// root collation, arrays element by element, objects member by member in their stored order: key, then value. A type
/// that JSON lacks has the position of ``TansuBSON/BSONValue/jsonForm``.
///
/// For example:
/// ```swift
/// let collation = try Collation.shared()
/// try collation.order("a", "B")  // .before
/// ```
struct Collation: Sendable {
    /// The order of two values.
    enum Order: Int, Sendable, Hashable {
        case before = -1
        case same = 0
        case after = 1

        init<Value: Comparable>(_ a: Value, _ b: Value) {
            self = a < b ? .before : (a > b ? .after : .same)
        }

        /// Of a number that is less than, equal to or greater than 0.
        init(_ number: Int32) { self.init(number, 0) }

        var reversed: Order { self == .same ? .same : (self == .before ? .after : .before) }
    }

    let text: TextCollator

    private static let opened: Result<Collation, CollationError> = {
        do throws(CollationError) { return .success(Collation(text: try TextCollator())) } catch {
            return .failure(error)
        }
    }()

    /// The collation, opened once in a process. Every thread can use it.
    static func shared() throws(CollationError) -> Collation { try opened.get() }

    private init(text: TextCollator) { self.text = text }

    /// The order of two values.
    func order(_ a: BSONValue, _ b: BSONValue) throws(CollationError) -> Order {
        if case .string(let x) = a, case .string(let y) = b { return try text.order(x, y) }
        if let x = JSONNumber(a), let y = JSONNumber(b) { return x.order(y) }
        let a = a.jsonForm
        let b = b.jsonForm
        switch (a, b) {
        case (.array(let x), .array(let y)): return try order(x, y)
        case (.document(let x), .document(let y)): return try order(x, y)
        default: return Order(Self.rank(a), Self.rank(b))
        }
    }

    /// The order of two texts.
    func order(_ a: String, _ b: String) throws(CollationError) -> Order { try text.order(a, b) }

    private func order(_ a: BSONArray, _ b: BSONArray) throws(CollationError) -> Order {
        var rest = b.makeIterator()
        for x in a {
            guard let y = rest.next() else { return .after }
            let order = try order(x, y)
            if order != .same { return order }
        }
        return rest.next() == nil ? .same : .before
    }

    private func order(_ a: BSONDocument, _ b: BSONDocument) throws(CollationError) -> Order {
        var rest = b.makeIterator()
        for (key, x) in a {
            guard let (otherKey, y) = rest.next() else { return .after }
            let keys = try text.order(key, otherKey)
            if keys != .same { return keys }
            let values = try order(x, y)
            if values != .same { return values }
        }
        return rest.next() == nil ? .same : .before
    }

    /// The position of a value's type. Two values of one rank that get here are equal.
    private static func rank(_ value: BSONValue) -> Int {
        switch value {
        case .null: 0
        case .bool(false): 1
        case .bool(true): 2
        case .string: 4
        case .array: 5
        case .document: 6
        default: 3
        }
    }
}

// MARK: - Keys

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
    static let aboveAllKeys: UInt8 = 8

    /// Appends the sort key of a value. Values that are equal in the collation have equal keys.
    func appendKey(of value: BSONValue, to key: inout [UInt8]) throws(CollationError) {
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

// MARK: - JSONForm

extension BSONValue {
    /// What JSON has for the value.
    ///
    /// Null, booleans, finite numbers, text, arrays and documents are themselves. Every other value is the object that
    /// relaxed extended JSON writes, such as `{"$date": "2026-11-22T00:00:00Z"}` or `{"$oid": "…"}`: that is what a
    /// CouchDB has of it after a replication, so both sides order and match it alike. The values inside of a document
    /// or an array are not converted.
    var jsonForm: BSONValue {
        switch self {
        case .null, .bool, .string, .document, .array, .int32, .int64: return self
        case .double, .decimal128:
            if JSONNumber(self) != nil { return self }
        default: break
        }
        // The writer's own text is always JSON.
        return (try? BSONValue(plainJSON: extendedJSON(.relaxed))) ?? .null
    }
}

// MARK: - CollationError

/// ICU cannot be used: its data are missing, or it has no memory.
struct CollationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// ICU's name of the error, such as `U_FILE_ACCESS_ERROR`.
    let name: String

    var description: String {
        "ICU fails with \(name); install ICU with its data (libicu-dev, or icu4c)"
    }
}
#endif
