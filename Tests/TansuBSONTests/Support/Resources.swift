import Foundation

/// The resource files of the tests.
enum Resource {
    static func files(in folder: String) throws -> [URL] {
        // Not `resourceURL`, because Foundation takes a folder named Resources as that of an application.
        let root = Bundle.module.bundleURL.appendingPathComponent("Resources/\(folder)")
        return try FileManager.default.contentsOfDirectory(at: root, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
    }
}

extension EncodingError {
    /// The context of the error.
    var context: Context {
        switch self {
        case .invalidValue(_, let context): context
        @unknown default: Context(codingPath: [], debugDescription: "unknown case")
        }
    }
}

/// Bytes from hexadecimal digits.
func bytes(_ hex: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var digits = hex.filter { $0 != " " }.makeIterator()
    while let high = digits.next(), let low = digits.next() {
        bytes.append(UInt8(String([high, low]), radix: 16) ?? 0)
    }
    return bytes
}

/// JSON text with white space removed and escape sequences normalized.
///
/// It does not use the parser under test, so that it does not hide an error of the parser.
func normalized(_ json: String) -> String {
    var out = ""
    var isInString = false
    var scalars = Array(json.unicodeScalars)[...]
    while let scalar = scalars.popFirst() {
        guard isInString else {
            if scalar == "\"" { isInString = true }
            if !" \n\t\r".unicodeScalars.contains(scalar) { out.unicodeScalars.append(scalar) }
            continue
        }
        switch scalar {
        case "\"":
            isInString = false
            out += "\""
        case "\\":
            let escape = scalars.popFirst() ?? " "
            if escape == "u" {
                let code = UInt32(String(String.UnicodeScalarView(scalars.prefix(4))), radix: 16) ?? 0
                scalars = scalars.dropFirst(4)
                out += "<\(code)>"
            } else {
                let codes: [UnicodeScalar: UInt32] = ["b": 8, "f": 12, "n": 10, "r": 13, "t": 9]
                out += "<\(codes[escape] ?? escape.value)>"
            }
        case _ where scalar.value >= 0x80 || scalar.value < 0x20:
            out += "<\(scalar.value)>"
        default:
            out.unicodeScalars.append(scalar)
        }
    }
    return out
}
