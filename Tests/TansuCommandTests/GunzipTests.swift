import Foundation
import Testing

@testable import TansuCommand

@Suite("Reading compressed files")
struct GunzipTests {
    private func unpack(_ bytes: [UInt8]) throws -> String {
        let command = try Command()
        try command.write("file", bytes)
        let source = try openByteSource(path: command.path("file"))
        var result: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1000)
        while true {
            let got = try piece.withUnsafeMutableBytes { try source.read(into: $0) }
            if got == 0 { return String(decoding: result, as: UTF8.self) }
            result += piece[..<got]
        }
    }

    private let text = (0..<20_000).map { "{\"number\": \($0)}\n" }.joined()

    @Test("gzip is known by its first bytes and unpacked")
    func whole() throws {
        #expect(try unpack(gzipped(text)) == text)
    }

    @Test("plain text is left as it is, however short", arguments: ["", "{", "{}\n"])
    func plain(text: String) throws {
        #expect(try unpack(Array(text.utf8)) == text)
    }

    @Test("members follow each other, and padding behind them is nothing")
    func members() throws {
        let bytes = try gzipped("{}\n") + gzipped("") + gzipped(text) + [0, 0, 0, 0]
        #expect(try unpack(bytes) == "{}\n" + text)
    }

    @Test("a file cut short is an error, not the end")
    func truncated() throws {
        let bytes = try gzipped(text)
        #expect {
            try unpack(Array(bytes.dropLast(10)))
        } throws: { error in
            (error as? CommandFailure)?.status == .badData
        }
    }

    @Test("a damaged file is an error")
    func damaged() throws {
        var bytes = try gzipped(text)
        bytes[bytes.count - 5] ^= 0xFF
        #expect {
            try unpack(bytes)
        } throws: { error in
            (error as? CommandFailure)?.code == "BAD_GZIP"
        }
    }
}
