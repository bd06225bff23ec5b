#if TansuSync
import TansuTestSupport

@testable import TansuSync

/// A part as it was written, or as it was read: with bytes, or with parts of its own.
struct Part: Hashable {
    var headers: [String]
    var body: [UInt8] = []
    var parts: [Part]?
}

enum MultipartBodies {
    /// Reads a body that is given in chunks of the sizes that `chunk` returns.
    static func read(
        _ bytes: [UInt8], _ type: MediaType, nesting: Int = 2, limits: MultipartParser.Limits = .init(),
        chunk: () -> Int
    ) throws(MultipartError) -> [Part] {
        var reader = try MultipartReader(type, nesting: nesting, limits: limits)
        var stack: [[Part]] = [[]]
        var current: Part?
        var isComplete = false
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(max(1, chunk()))
            rest = rest.dropFirst(piece.count)
            for event in try reader.push(piece) {
                switch event {
                case .open(let head):
                    stack[stack.count - 1].append(Part(headers: head.lines, parts: []))
                    stack.append([])
                case .close:
                    let parts = stack.removeLast()
                    stack[stack.count - 1][stack[stack.count - 1].count - 1].parts = parts
                case .part(let head): current = Part(headers: head.lines)
                case .body(let bytes): current?.body += bytes
                case .partEnd:
                    if let part = current { stack[stack.count - 1].append(part) }
                    current = nil
                case .end: isComplete = true
                }
            }
        }
        try reader.finish()
        return isComplete ? stack[0] : []
    }

    /// A body of random parts that hold what looks like boundaries.
    static func random(
        depth: Int, boundary: String, using random: inout SeededGenerator
    ) -> (parts: [Part], bytes: [UInt8]) {
        var writer = MultipartWriter(boundary: boundary)
        var bytes: [UInt8] = []
        var parts: [Part] = []
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            var headers: [(name: String, value: String)] = (0..<Int.random(in: 0...2, using: &random)).map {
                ("X-\($0)", ["", "a", "é; b=\"c\""].randomElement(using: &random) ?? "")
            }
            if depth > 1, Bool.random(using: &random) {
                let inner = boundary + (["xx", "-xx", " xx", "00"].randomElement(using: &random) ?? "")
                let nested = Self.random(depth: depth - 1, boundary: inner, using: &random)
                headers.append(("Content-Type", "multipart/related; boundary=\"\(inner)\""))
                bytes += writer.begin(headers) + nested.bytes
                parts.append(Part(headers: headers.map { "\($0.name): \($0.value)" }, parts: nested.parts))
            } else {
                let body = content(boundary, using: &random)
                if Bool.random(using: &random) { headers.append(("Content-Length", String(body.count))) }
                bytes += writer.begin(headers) + body
                parts.append(Part(headers: headers.map { "\($0.name): \($0.value)" }, body: body))
            }
        }
        bytes += writer.end()
        return (parts, bytes)
    }

    private static func content(_ boundary: String, using random: inout SeededGenerator) -> [UInt8] {
        let pieces = [
            "\r", "\n", "\r\n", "-", "--", "\r\n-", "\r\n--", "\r\n--\(boundary.dropLast())", "\r\n--\(boundary)y",
            "\r\n--\(boundary) y", "\r\n--\(boundary)-y", "--\(boundary.dropLast())", "z", "\u{0}",
        ]
        return (0..<Int.random(in: 0...8, using: &random)).flatMap { _ in
            Array((pieces.randomElement(using: &random) ?? "").utf8)
        }
    }
}

extension MultipartHead {
    var lines: [String] { headers.map { "\($0.name): \($0.value)" } }
}
#endif
