#if TansuServer
import Foundation
import TansuTestSupport

/// A recorded request and what CouchDB answered.
struct Exchange: Sendable {
    var scenario: String
    var number: Int
    var note: String?
    /// Only the form of the answer counts.
    var isShapeOnly = false
    var request: JSON
    /// nil: held back.
    var answer: JSON?
    /// Requests sent while this one waits for its answer.
    var during: [Exchange] = []

    var method: String { request["m"]?.text ?? "" }
    var path: String { request["p"]?.text ?? "" }
    var isHTTP10: Bool { request["http"] != nil }

    private init(_ line: JSON, scenario: String, number: Int) {
        self.scenario = scenario
        self.number = number
        note = line["note"]?.text
        isShapeOnly = line["shape_only"] == .bool(true)
        request = line["req"] ?? .null
        answer = line["res"]?["held"] == nil ? line["res"] : nil
        during = (line["during"]?.elements ?? []).map { Exchange($0, scenario: scenario, number: number) }
    }

    /// All exchanges of all scenarios in order.
    static let recorded: [Exchange] = {
        // Not `resourceURL`, because Foundation takes a folder named Resources as that of an application.
        let folder = Bundle.module.bundleURL.appendingPathComponent("Resources")
        guard let file = try? Data(contentsOf: folder.appendingPathComponent("http-transcripts.ndjson.gz")),
            let bytes = try? gunzip(Array(file))
        else { return [] }
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            JSON(line).map { Exchange($0, scenario: $0["sc"]?.text ?? "", number: $0["n"]?.int ?? 0) }
        }
    }()

    static func scenario(_ name: String) -> [Exchange] {
        recorded.filter { $0.scenario == name }
    }
}

extension Exchange {
    /// The bytes of the request; the names in it have been replaced by what they stand for.
    func bytes(replacing tokens: Tokens) throws -> [UInt8] {
        var out = Array("\(method) \(try tokens.replaced(path)) HTTP/1.\(isHTTP10 ? 0 : 1)\r\n".utf8)
        // What the answers' Location was made of.
        if request["h"]?.members.contains(where: { $0.name.lowercased() == "host" }) != true {
            out += Array("Host: 127.0.0.1:5984\r\n".utf8)
        }
        if let credentials {
            out += Array("Authorization: Basic \(Data(credentials.utf8).base64EncodedString())\r\n".utf8)
        }
        for header in request["h"]?.members ?? [] {
            let value = try tokens.replaced(header.value.text ?? "")
            // The name stands for the value that Set-Cookie had.
            let prefix = header.value.text == "<<cookie>>" ? "AuthSession=" : ""
            out += Array("\(header.name): \(prefix)\(value)\r\n".utf8)
        }
        let body = try body(replacing: tokens)
        if request["chunked"] != nil {
            out += Array("Transfer-Encoding: chunked\r\n\r\n".utf8)
            for start in stride(from: 0, to: body?.count ?? 0, by: 7) {
                let piece = (body ?? [])[start...].prefix(7)
                out += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8)
            }
            return out + Array("0\r\n\r\n".utf8)
        }
        if let body {
            out += Array("Content-Length: \(body.count)\r\n\r\n".utf8) + body
        } else if ["PUT", "POST", "PATCH"].contains(method) {
            out += Array("Content-Length: 0\r\n\r\n".utf8)
        } else {
            out += Array("\r\n".utf8)
        }
        return out
    }

    private var credentials: String? {
        switch request["auth"] {
        case nil: "admin:admin"
        case .string("bad"): "admin:wrong"
        case .string("user"): "jan:apple"
        case .string("baduser"): "jan:pear"
        default: nil
        }
    }

    private func body(replacing tokens: Tokens) throws -> [UInt8]? {
        guard let body = request["b"] else { return nil }
        if let text = body["$text"]?.text { return Array(try tokens.replaced(text).utf8) }
        if let text = body["$b64"]?.text { return Array(Data(base64Encoded: text) ?? Data()) }
        if let pieces = body["$repeat"]?.elements {
            return pieces.flatMap { piece -> [UInt8] in
                let text = Array((piece.elements[0].text ?? "").utf8)
                return (0..<(piece.elements[1].int ?? 0)).flatMap { _ in text }
            }
        }
        return Array(try tokens.replaced("\(body)").utf8)
    }
}
#endif
