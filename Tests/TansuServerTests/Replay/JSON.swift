#if TansuServer
/// A JSON value that keeps the order of members and the spelling of numbers, which the library's documents do not.
indirect enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSON])
    case object([Member])

    struct Member: Equatable, Sendable {
        var name: String
        var value: JSON
    }

    subscript(name: String) -> JSON? {
        if case .object(let members) = self { return members.last { $0.name == name }?.value }
        return nil
    }

    var text: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    var int: Int? {
        if case .number(let text) = self { return Int(text) }
        return nil
    }

    var elements: [JSON] {
        if case .array(let elements) = self { return elements }
        return []
    }

    var members: [Member] {
        if case .object(let members) = self { return members }
        return []
    }
}

extension JSON: CustomStringConvertible {
    var description: String {
        switch self {
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .number(let text): text
        case .string(let text): JSON.quoted(text)
        case .array(let elements): "[" + elements.map { "\($0)" }.joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { "\(JSON.quoted($0.name)):\($0.value)" }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}
#endif
