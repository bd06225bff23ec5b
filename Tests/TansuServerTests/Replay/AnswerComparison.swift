#if TansuServer
import Foundation
import TansuTestSupport

/// Compares an answer with the recorded one and tells each difference in words.
struct AnswerComparison {
    var tokens: Tokens
    private(set) var differences: [String] = []

    init(tokens: Tokens) {
        self.tokens = tokens
    }

    /// Compares everything that matters of an answer.
    mutating func compare(_ exchange: Exchange, _ expected: JSON, _ answer: HTTPAnswer) {
        if let status = expected["s"]?.int, status != answer.status {
            differences.append("status \(answer.status), not \(status)")
        }
        if exchange.isShapeOnly { return }
        let contentType = expected["h"]?["content-type"]?.text ?? ""
        for header in expected["h"]?.members ?? [] {
            compareHeader(header.name, header.value.text ?? "", answer[header: header.name], contentType)
        }
        if exchange.isHTTP10, answer[header: "transfer-encoding"] != nil {
            differences.append("chunks, which HTTP/1.0 does not know")
        }
        if exchange.method == "HEAD" { return }
        compareBody(exchange, expected, answer)
    }

    private mutating func compareHeader(
        _ name: String, _ expected: String, _ value: String?, _ contentType: String
    ) {
        // How the end of a body is told is free.
        if name == "transfer-encoding" { return }
        guard var value else {
            differences.append("no header \(name): \(expected)")
            return
        }
        // CouchDB sends it only if `same_site` is set, which it was not when the answers were recorded.
        if name == "set-cookie", !expected.contains("SameSite=") {
            value = value.replacingOccurrences(of: "; SameSite=Lax", with: "")
        }
        if name == "allow" {
            let methods = { (text: String) in
                Set(text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
            }
            if methods(expected) != methods(value) { differences.append("\(name): \(value), not \(expected)") }
            return
        }
        // The parameters of a type that has a boundary: each its own.
        if expected.hasPrefix("multipart/"), let boundary = expected.range(of: "boundary=") {
            if !value.hasPrefix(expected[..<boundary.upperBound]) {
                differences.append("\(name): \(value), not \(expected)")
            }
            return
        }
        if tokens.match(expected, value) { return }
        // The ETag of an attachment is its digest.
        if name == "etag", Self.isCompressible(contentType), Self.isDigest(expected),
            tokens.matchDigest(Self.digest(expected), Self.digest(value))
        {
            return
        }
        differences.append("\(name): \(value), not \(expected)")
    }

    private mutating func compareBody(_ exchange: Exchange, _ expected: JSON, _ answer: HTTPAnswer) {
        let text = String(decoding: answer.body, as: UTF8.self)
        if let raw = expected["raw"]?.text, let value = JSON(raw.utf8) {
            compareJSON(value, text, exactNumbers: true)
        } else if let value = expected["b"] {
            compareJSON(value, text, exactNumbers: false)
        } else if let lines = expected["lines"] {
            let nonempty = lines.elements.filter { $0 != .string("") }
            let found = text.split(separator: "\n", omittingEmptySubsequences: true)
            if found.count != nonempty.count {
                differences.append("\(found.count) lines, not \(nonempty.count): \(text)")
            }
            for (line, value) in zip(found, nonempty) { compareJSON(value, String(line), exactNumbers: false) }
        } else if let expectedText = expected["text"]?.text {
            if !tokens.match(expectedText, text) { differences.append("body \(text)\n      not \(expectedText)") }
        } else if let base64 = expected["b64"]?.text {
            compareBytes(base64, answer.body)
        } else if let parts = expected["multipart"] {
            compareParts(parts.elements, answer.body, answer[header: "content-type"] ?? "")
        }
    }

    private mutating func compareBytes(_ expected: String, _ bytes: [UInt8]) {
        let expected = Array(Data(base64Encoded: expected) ?? Data())
        if expected == bytes { return }
        // Other compressors make other bytes.
        if let plain = try? gunzip(expected), let found = try? gunzip(bytes), plain == found { return }
        differences.append("\(bytes.count) bytes, not the expected \(expected.count)")
    }

    private mutating func compareParts(_ expected: [JSON], _ body: [UInt8], _ contentType: String) {
        guard let parts = Part.parts(of: body, contentType: contentType) else {
            differences.append("no multipart body")
            return
        }
        guard parts.count == expected.count else {
            differences.append("\(parts.count) parts, not \(expected.count)")
            return
        }
        // Revisions come in the order of their hashes.
        var rest = parts
        for each in expected {
            let trials = rest.indices.map { index in
                var trial = AnswerComparison(tokens: tokens)
                trial.comparePart(each, rest[index])
                return (index: index, trial: trial)
            }
            let best = trials.first { $0.trial.differences.isEmpty } ?? trials[0]
            rest.remove(at: best.index)
            tokens = best.trial.tokens
            differences += best.trial.differences
        }
    }

    private mutating func comparePart(_ expected: JSON, _ part: Part) {
        let contentType = expected["h"]?["content-type"]?.text ?? ""
        for header in expected["h"]?.members ?? [] {
            // The length of compressed bytes.
            if header.name == "content-length", expected["h"]?["content-encoding"] != nil { continue }
            compareHeader(
                header.name, header.value.text ?? "", part.headers.first { $0.name == header.name }?.value,
                contentType)
        }
        if let value = expected["json"] {
            compareJSON(value, String(decoding: part.body, as: UTF8.self), exactNumbers: false)
        } else if let base64 = expected["b64"]?.text {
            compareBytes(base64, part.body)
        } else if let parts = expected["multipart"] {
            compareParts(parts.elements, part.body, part.headers.first { $0.name == "content-type" }?.value ?? "")
        }
    }

    private mutating func compareJSON(_ expected: JSON, _ text: String, exactNumbers: Bool) {
        guard let value = JSON(text.utf8) else {
            differences.append("no JSON: \(text.prefix(2000))")
            return
        }
        compare(expected, value, "", exactNumbers)
        if !differences.isEmpty, differences.last?.hasPrefix("whole") != true {
            differences.append("whole body: \(text.prefix(3000))")
        }
    }

    static func isCompressible(_ contentType: String) -> Bool {
        ["text/", "application/javascript", "application/json", "application/xml"].contains {
            contentType.hasPrefix($0)
        }
    }

    private static func isDigest(_ text: String) -> Bool {
        let digest = digest(text)
        return digest.count == 24 && digest.hasSuffix("==")
    }

    private static func digest(_ text: String) -> String {
        var text = text.trimmingCharacters(in: ["\""])
        if text.hasPrefix("md5-") { text.removeFirst(4) }
        return text
    }
}

extension AnswerComparison {
    /// Arrays of these members list revisions in an order that depends on their hashes.
    private static let unordered: Set = [
        "_conflicts", "_deleted_conflicts", "changes", "missing", "possible_ancestors",
    ]

    mutating func compare(_ expected: JSON, _ value: JSON, _ path: String, _ exactNumbers: Bool) {
        switch (expected, value) {
        case (.string("<<any>>"), _): break
        case (.string(let expected), .string(let text)):
            if !tokens.match(expected, text) { differences.append("\(path): \(text), not \(expected)") }
        case (.number(let expected), .number(let number)):
            if exactNumbers ? expected != number : Double(expected) != Double(number) {
                differences.append("\(path): \(number), not \(expected)")
            }
        case (.array(let expected), .array(let elements)): compare(expected, elements, path, exactNumbers)
        case (.object(let expected), .object(let members)): compare(expected, members, path, exactNumbers)
        default:
            if expected != value { differences.append("\(path): \(value), not \(expected)") }
        }
    }

    private mutating func compare(_ expected: [JSON], _ elements: [JSON], _ path: String, _ exactNumbers: Bool) {
        if expected.count != elements.count {
            differences.append("\(path): \(elements.count) elements, not \(expected.count)")
            return
        }
        var ordered = self
        for (index, pair) in zip(expected, elements).enumerated() {
            ordered.compare(pair.0, pair.1, "\(path)[\(index)]", exactNumbers)
        }
        let name = path.split(separator: ".").last.map { String($0) } ?? ""
        let isFreeList =
            Self.unordered.contains(name) || expected.allSatisfy { $0["ok"] != nil || $0["missing"] != nil }
        if ordered.differences.count > differences.count, isFreeList, "\(expected)".contains("<<R"),
            let permuted = permuted(expected[...], elements, path, exactNumbers)
        {
            self = permuted
        } else {
            self = ordered
        }
    }

    /// This with the first assignment of elements to expected ones in which all are equal.
    private func permuted(
        _ expected: ArraySlice<JSON>, _ elements: [JSON], _ path: String, _ exactNumbers: Bool
    ) -> AnswerComparison? {
        guard let first = expected.first else { return self }
        for index in elements.indices {
            var trial = self
            trial.compare(first, elements[index], path, exactNumbers)
            guard trial.differences.count == differences.count else { continue }
            var rest = elements
            rest.remove(at: index)
            if let found = trial.permuted(expected.dropFirst(), rest, path, exactNumbers) { return found }
        }
        return nil
    }

    private mutating func compare(
        _ expected: [JSON.Member], _ members: [JSON.Member], _ path: String, _ exactNumbers: Bool
    ) {
        let isCompressed =
            JSON.object(expected)["encoding"] != nil
            || Self.isCompressible(JSON.object(expected)["content_type"]?.text ?? "")
        // Names of revisions are bound before their hashes are met.
        for member in expected.sorted(by: { $0.name == "_rev" && $1.name != "_rev" }) {
            let place = path.isEmpty ? member.name : "\(path).\(member.name)"
            guard let value = members.first(where: { $0.name == member.name })?.value else {
                differences.append("\(place) is missing: \(member.value)")
                continue
            }
            if isCompressed, member.name == "digest", let expected = member.value.text, let text = value.text {
                if !tokens.matchDigest(Self.digest(expected), Self.digest(text)) {
                    differences.append("\(place): \(text), not \(expected)")
                }
            } else if isCompressed, member.name == "encoded_length" {
                if value.int == nil { differences.append("\(place): \(value)") }
            } else {
                compare(member.value, value, place, exactNumbers)
            }
        }
        for member in members where !expected.contains(where: { $0.name == member.name }) {
            differences.append("\(path).\(member.name) is too much: \(member.value)")
        }
    }
}
#endif
