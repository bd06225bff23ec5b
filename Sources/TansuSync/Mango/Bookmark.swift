#if TansuSync
import Foundation
import TansuBSON

extension Mango {
    /// Where an answer ended, as text that a client sends with its next request.
    ///
    /// The text is base64 with letters for URLs; what is inside is no business of a client. An answer without documents
    /// has the bookmark of its request, or `nil`.
    struct Bookmark: Sendable {
        /// The key of the last document in the index.
        let key: [BSONValue]
        /// The id of the last document.
        let id: BSONValue

        /// The text that stands for the beginning.
        static let none = "nil"

        init(key: [BSONValue], id: BSONValue) {
            self.key = key
            self.id = id
        }

        /// Reads the text of a bookmark.
        ///
        /// - Throws: ``Mango/QueryError`` when the text is none that this library made.
        init(_ text: String) throws(QueryError) {
            var standard = text.replacing("-", with: "+").replacing("_", with: "/")
            standard += String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
            guard let data = Data(base64Encoded: standard),
                let document = try? BSONDocument(extendedJSON: [UInt8](data)),
                case .array(let key)? = document["key"], let id = document["id"]
            else {
                throw QueryError(
                    "invalid_bookmark", "Invalid bookmark value: \(BSONValue.string(text).extendedJSON(.relaxed))")
            }
            self.init(key: Array(key), id: id)
        }

        /// The bookmark as text.
        var text: String {
            let document: BSONDocument = ["key": .array(BSONArray(key)), "id": id]
            return Data(document.extendedJSONBytes(.canonical)).base64EncodedString().replacing("+", with: "-")
                .replacing("/", with: "_").replacing("=", with: "")
        }
    }
}

/// How CouchDB's error messages show values: as Erlang's terms.
extension BSONValue {
    /// The value in Erlang's format `~w`: text as a list of bytes.
    var erlangTerm: String { erlangTerm { "<<" + $0.utf8.map { String($0) }.joined(separator: ",") + ">>" } }

    /// The value in Erlang's format `~p`: text as text when all of it can be printed.
    var prettyErlangTerm: String {
        erlangTerm { text in
            let bytes = Array(text.utf8)
            guard bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }), !bytes.isEmpty else {
                return "<<" + bytes.map { String($0) }.joined(separator: ",") + ">>"
            }
            return "<<\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\">>"
        }
    }

    private func erlangTerm(_ text: (String) -> String) -> String {
        switch jsonForm {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .string(let value): return text(value)
        case .int32(let value): return String(value)
        case .int64(let value): return String(value)
        case .double(let value): return Self.erlangFloat(value)
        case .array(let values):
            return "[" + values.map { $0.erlangTerm(text) }.joined(separator: ",") + "]"
        case .document(let members):
            return "{["
                + members.map { "{\(text($0.key)),\($0.value.erlangTerm(text))}" }.joined(separator: ",") + "]}"
        case let other: return other.wireJSON
        }
    }

    /// The shortest text of a double, with a point in front of an exponent: `1.0e22`.
    private static func erlangFloat(_ value: Double) -> String {
        let parts = value.description.parts(separatedBy: "e", maxSplits: 1)
        guard parts.count == 2 else { return value.description }
        let mantissa = parts[0].contains(".") ? String(parts[0]) : parts[0] + ".0"
        return "\(mantissa)e\(parts[1].dropping(prefix: "+") ?? parts[1])"
    }
}

/// Erlang's external format of terms, from which CouchDB makes the names of indexes that come without one.
struct ExternalTerm {
    private(set) var bytes: [UInt8] = []

    mutating func atom(_ name: String) {
        bytes.append(UInt8(ascii: "d"))
        append16(name.utf8.count)
        bytes += Array(name.utf8)
    }

    mutating func tuple(count: Int) { bytes += [UInt8(ascii: "h"), UInt8(truncatingIfNeeded: count)] }

    /// Begins a list, which ``endList()`` ends.
    mutating func list(count: Int) {
        bytes.append(UInt8(ascii: "l"))
        append32(count)
    }

    mutating func endList() { bytes.append(UInt8(ascii: "j")) }

    mutating func binary(_ text: String) {
        bytes.append(UInt8(ascii: "m"))
        append32(text.utf8.count)
        bytes += Array(text.utf8)
    }

    mutating func integer(_ value: Int64) {
        if (0...255).contains(value) {
            bytes += [UInt8(ascii: "a"), UInt8(value)]
        } else if let small = Int32(exactly: value) {
            bytes.append(UInt8(ascii: "b"))
            append32(Int(small))
        } else {
            var magnitude = value.magnitude
            var digits: [UInt8] = []
            while magnitude > 0 {
                digits.append(UInt8(truncatingIfNeeded: magnitude))
                magnitude >>= 8
            }
            bytes += [UInt8(ascii: "n"), UInt8(digits.count), value < 0 ? 1 : 0] + digits
        }
    }

    /// A JSON value in the form that CouchDB's parser gives it.
    mutating func value(_ value: BSONValue) {
        switch value {
        case .null: atom("null")
        case .bool(let flag): atom(flag ? "true" : "false")
        case .string(let text): binary(text)
        case .int32(let number): integer(Int64(number))
        case .int64(let number): integer(number)
        case .double(let number):
            bytes.append(UInt8(ascii: "F"))
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: number.bitPattern >> UInt64(shift)))
            }
        case .array(let array): self.array(Array(array))
        case .document(let document):
            tuple(count: 1)
            guard !document.isEmpty else { return endList() }
            list(count: document.count)
            for (name, member) in document {
                tuple(count: 2)
                binary(name)
                self.value(member)
            }
            endList()
        // JSON has no other types.
        default: binary(value.extendedJSON(.relaxed))
        }
    }

    private mutating func array(_ elements: [BSONValue]) {
        guard !elements.isEmpty else { return endList() }
        let small = elements.compactMap { $0.wholeNumber.flatMap { UInt8(exactly: $0) } }
        if small.count == elements.count, small.count <= UInt16.max {
            bytes.append(UInt8(ascii: "k"))
            append16(small.count)
            bytes += small
            return
        }
        list(count: elements.count)
        for element in elements { value(element) }
        endList()
    }

    private mutating func append16(_ value: Int) {
        bytes += [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
    }

    private mutating func append32(_ value: Int) {
        append16(value >> 16)
        append16(value)
    }
}
#endif
