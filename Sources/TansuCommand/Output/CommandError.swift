/// An error of a command, with the text and the exit status for the user.
struct CommandError: Error, Sendable, Equatable {
    /// The stable name of the error, such as "NOT_FOUND". Most are the names of the engine.
    var code: String
    /// The description of the error: a capital first letter and no full stop.
    var message: String
    /// The file, collection or operator that the error is about, or an empty string.
    var path: String
    /// The suggested action or the consequence, in lower case, or an empty string.
    var remedy: String
    /// The exit status of the process.
    var status: CommandExitCode
    /// The number of the document at fault when several were saved, counted from 0, as in JSON commands.
    var document: Int?
    /// Whether the output could not be written, after all the command's work.
    var isOfOutput = false

    init(
        code: String, message: String, path: String = "", remedy: String = "",
        status: CommandExitCode? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.remedy = remedy
        self.status = status ?? CommandExitCode(errorCode: code)
    }

    /// The error as a line of text: message, remedy, code and path.
    var text: String {
        let sentence = remedy.isEmpty ? message : "\(message); \(remedy)"
        let location = path.isEmpty ? code : "\(code), \(path)"
        return "tansu: \(TextTable.printable(sentence)) [\(TextTable.printable(location))]"
    }

    /// The error as a JSON object, in the same form as in the results of the engine's JSON commands.
    var json: String {
        var members = ["\"code\": \(jsonText(code))", "\"message\": \(jsonText(message))"]
        members.append("\"path\": \(jsonText(path))")
        if let document { members.append("\"document\": \(document)") }
        if !remedy.isEmpty { members.append("\"remedy\": \(jsonText(remedy))") }
        return "{\"ok\": false, \"error\": {\(members.joined(separator: ", "))}}"
    }

    /// Writes the error to standard error.
    func report(asJSON: Bool) {
        writeError(asJSON ? json : text)
    }
}

/// A JSON string literal of a text.
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
