/// Why a command could not do its work, in the words that the user reads.
struct CommandFailure: Error, Sendable, Equatable {
    /// The lasting name of the mistake, such as "NOT_FOUND": the engine's, or one of the same kind.
    var code: String
    /// What is wrong, one sentence.
    var message: String
    /// Where: a file, a collection, an operator; may be empty.
    var path: String
    /// What to do about it, one sentence; may be empty.
    var remedy: String
    var status: Outcome

    init(
        code: String, message: String, path: String = "", remedy: String = "",
        status: Outcome? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.remedy = remedy
        self.status = status ?? Outcome(errorCode: code)
    }

    /// The line for people.
    var text: String {
        let place = path.isEmpty ? "" : ", \(TextTable.printable(path))"
        let sentence = message.hasSuffix(".") || message.hasSuffix("?") ? message : message + "."
        let mend = remedy.isEmpty ? "" : " \(remedy)"
        return "tansu: \(TextTable.printable(sentence))\(mend) [\(code)\(place)]"
    }

    /// The object for programs, the same that the engine's JSON commands answer with.
    var json: String {
        var members = ["\"code\": \(jsonText(code))", "\"message\": \(jsonText(message))"]
        members.append("\"path\": \(jsonText(path))")
        if !remedy.isEmpty { members.append("\"remedy\": \(jsonText(remedy))") }
        return "{\"ok\": false, \"error\": {\(members.joined(separator: ", "))}}"
    }

    /// Tells the user, on standard error.
    func report(asJSON: Bool) {
        writeError(asJSON ? json : text)
    }
}

/// A text as a JSON string with its quotes.
func jsonText(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": result += "\\\""
        case "\\": result += "\\\\"
        case "\n": result += "\\n"
        case "\r": result += "\\r"
        case "\t": result += "\\t"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F:
            let digits = String(scalar.value, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result + "\""
}
