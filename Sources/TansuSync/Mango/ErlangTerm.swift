#if TansuSync
    import TansuBSON

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
#endif
