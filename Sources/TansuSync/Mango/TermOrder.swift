#if TansuSync
import Foundation
import TansuBSON

/// The order that CouchDB uses for the field `_id` in place of the collation: that of Erlang's terms.
///
/// Numbers < false < null < true < objects < arrays < text. Text is compared byte by byte.
enum TermOrder {
    static func order(_ a: BSONValue, _ b: BSONValue) -> Collation.Order {
        if case .string(let x) = a, case .string(let y) = b { return order(x, y) }
        if let x = JSONNumber(a), let y = JSONNumber(b) { return x.order(y) }
        let a = a.jsonForm
        let b = b.jsonForm
        switch (a, b) {
        case (.array(let x), .array(let y)): return order(x, y)
        case (.document(let x), .document(let y)): return order(x, y)
        default: return Collation.Order(rank(a), rank(b))
        }
    }

    /// The order of the texts' bytes.
    static func order(_ a: String, _ b: String) -> Collation.Order {
        var a = a
        var b = b
        return a.withUTF8 { a in
            b.withUTF8 { b in
                let count = min(a.count, b.count)
                var order: Int32 = 0
                if let x = a.baseAddress, let y = b.baseAddress { order = memcmp(x, y, count) }
                return order == 0 ? Collation.Order(a.count, b.count) : Collation.Order(order, 0)
            }
        }
    }

    private static func order(_ a: BSONArray, _ b: BSONArray) -> Collation.Order {
        var rest = b.makeIterator()
        for x in a {
            guard let y = rest.next() else { return .after }
            let order = order(x, y)
            if order != .same { return order }
        }
        return rest.next() == nil ? .same : .before
    }

    private static func order(_ a: BSONDocument, _ b: BSONDocument) -> Collation.Order {
        var rest = b.makeIterator()
        for (key, x) in a {
            guard let (otherKey, y) = rest.next() else { return .after }
            let keys = order(key, otherKey)
            if keys != .same { return keys }
            let values = order(x, y)
            if values != .same { return values }
        }
        return rest.next() == nil ? .same : .before
    }

    private static func rank(_ value: BSONValue) -> Int {
        switch value {
        case .bool(false): 1
        case .null: 2
        case .bool(true): 3
        case .document: 4
        case .array: 5
        case .string: 6
        default: 0
        }
    }
}

/// The order of ``TermOrder`` as sort keys, which the field `_id` has.
extension TermOrder {
    /// Appends the sort key of a text: its bytes, where 0 is 0, 1, and a 0, 0 at the end.
    static func appendKey(of text: String, to key: inout [UInt8]) {
        for byte in text.utf8 {
            key.append(byte)
            if byte == 0 { key.append(1) }
        }
        key.append(0)
        key.append(0)
    }
}
#endif
