#if TansuSync
import Tansu
import TansuBSON

/// Writes what is between the parts of a multipart body; the caller sends the bytes of the parts.
package struct MultipartWriter: Sendable {
    /// The boundary.
    package let boundary: String
    private var isFirst = true

    /// Creates a writer with a boundary of 32 random hex digits.
    package init() {
        let digits = (0..<32).map { _ in "0123456789abcdef".randomElement() ?? "0" }
        self.init(boundary: String(digits))
    }

    /// Creates a writer with a boundary, which must not be in any part.
    package init(boundary: String) { self.boundary = boundary }

    /// The media type of the body, such as `multipart/related; boundary="…"`.
    package func contentType(_ subtype: String) -> String { "multipart/\(subtype); boundary=\"\(boundary)\"" }

    /// What stands before the bytes of the next part.
    package mutating func begin(_ headers: [(name: String, value: String)]) -> [UInt8] {
        var text = isFirst ? "--" : "\r\n--"
        isFirst = false
        text += boundary
        for (name, value) in headers { text += "\r\n\(name): \(Self.line(value))" }
        text += "\r\n\r\n"
        return Array(text.utf8)
    }

    /// What stands before the JSON text of a document.
    package mutating func beginJSON() -> [UInt8] { begin([("Content-Type", "application/json")]) }

    /// What stands before the stored bytes of an attachment.
    ///
    /// A name and a media type that no header can have are left out: the JSON text has them, in the order of the parts.
    package mutating func begin(_ file: AttachmentFile) -> [UInt8] {
        var headers: [(String, String)] = []
        if Self.isHeader(file.name) {
            headers.append(("Content-Disposition", "attachment; filename=\"\(Self.quoted(file.name))\""))
        }
        // CouchDB cannot read a media type without characters.
        if Self.isHeader(file.contentType), file.contentType.utf8.contains(where: { $0 != 0x20 && $0 != 0x3B }) {
            headers.append(("Content-Type", file.contentType))
        }
        headers.append(("Content-Length", String(file.encodedLength ?? file.length)))
        if let encoding = file.encoding { headers.append(("Content-Encoding", encoding)) }
        return begin(headers)
    }

    /// What stands after the last part.
    package mutating func end() -> [UInt8] {
        let text = isFirst ? "--\(boundary)--" : "\r\n--\(boundary)--"
        isFirst = false
        return Array(text.utf8)
    }

    /// The number of bytes of a body of a document with attachments, so that its Content-Length can be sent first.
    package func length(json: Int, files: [AttachmentFile]) -> Int64 {
        var copy = self
        var length = Int64(copy.beginJSON().count + json)
        for file in files { length += Int64(copy.begin(file).count) + (file.encodedLength ?? file.length) }
        return length + Int64(copy.end().count)
    }

    /// The greatest number of bytes of a text in a header, of which a head has few.
    private static let longestText = 2_048

    private static func isHeader(_ text: String) -> Bool {
        text.utf8.count <= longestText && text == line(text)
    }

    /// Text in a quoted parameter.
    private static func quoted(_ text: String) -> String {
        var quoted = ""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted
    }

    /// Text without control characters, which would end the header.
    private static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else { return text }
        var line = ""
        for scalar in text.unicodeScalars {
            line.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7F ? " " : scalar)
        }
        return line
    }
}
#endif
