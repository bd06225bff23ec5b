#if TansuServer
import Foundation

/// The status, the headers and the body of an answer.
struct HTTPAnswer: Sendable {
    var status = 0
    /// With names in lower case.
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []

    init(status: Int) {
        self.status = status
    }

    subscript(header name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

    /// Reads status and headers.
    init(headOf connection: HTTPConnection) throws {
        repeat {
            headers = []
            let head = String(decoding: try connection.read(through: Array("\r\n\r\n".utf8)), as: UTF8.self)
            let lines = head.components(separatedBy: "\r\n").filter { !$0.isEmpty }
            let words = lines[0].split(separator: " ")
            guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
                throw HTTPConnection.Failure(description: "No HTTP: \(lines[0])")
            }
            self.status = status
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":") else {
                    throw HTTPConnection.Failure(description: "No header: \(line)")
                }
                headers.append(
                    (
                        name: line[..<colon].lowercased(),
                        value: line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                    ))
            }
        } while status == 100
    }

    /// Reads the body that the headers announce.
    mutating func readBody(of connection: HTTPConnection, method: String) throws {
        if method == "HEAD" || status == 204 || status == 304 { return }
        if self[header: "transfer-encoding"] == "chunked" {
            while true {
                let line = String(decoding: try connection.read(through: Array("\r\n".utf8)), as: UTF8.self)
                guard let count = Int(line.trimmingCharacters(in: .whitespacesAndNewlines), radix: 16) else {
                    throw HTTPConnection.Failure(description: "No size of a chunk: \(line)")
                }
                body += try connection.read(count: count)
                _ = try connection.read(through: Array("\r\n".utf8))
                if count == 0 { return }
            }
        }
        if let length = self[header: "content-length"].flatMap({ Int($0) }) {
            body = try connection.read(count: length)
        } else {
            body = try connection.readToEnd()
        }
    }
}

/// A part of a multipart body.
struct Part {
    var headers: [(name: String, value: String)]
    var body: [UInt8]

    /// The parts of a body of a content type; nil if it is malformed.
    static func parts(of body: [UInt8], contentType: String) -> [Part]? {
        guard let range = contentType.range(of: "boundary=") else { return nil }
        let boundary = contentType[range.upperBound...].trimmingCharacters(in: ["\""])
        var parts: [Part] = []
        let delimiter = Array("--\(boundary)".utf8)
        guard var start = body.firstRange(of: delimiter)?.upperBound else { return nil }
        while true {
            if body[start...].starts(with: "--".utf8) { return parts }
            guard let end = body[start...].firstRange(of: Array("\r\n".utf8) + delimiter),
                let part = Part(Array(body[start..<end.lowerBound]))
            else { return nil }
            parts.append(part)
            start = end.upperBound
        }
    }

    private init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        body = Array(bytes[end.upperBound...])
        headers = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            .compactMap { line in
                guard let colon = line.firstIndex(of: ":") else { return nil }
                return (
                    name: line[..<colon].lowercased(),
                    value: line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                )
            }
    }
}
#endif
