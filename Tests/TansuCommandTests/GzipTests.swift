import Foundation
import Testing

@testable import TansuCommand

@Suite("Reading compressed files")
struct GzipTests {
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

    @Test("gzip is detected by its first bytes and decompressed")
    func whole() throws {
        #expect(try unpack(gzipped(text)) == text)
    }

    @Test("plain text of any length is not changed", arguments: ["", "{", "{}\n"])
    func plain(text: String) throws {
        #expect(try unpack(Array(text.utf8)) == text)
    }

    @Test("several members are concatenated, and padding after them is ignored")
    func members() throws {
        let bytes = try gzipped("{}\n") + gzipped("") + gzipped(text) + [0, 0, 0, 0]
        #expect(try unpack(bytes) == "{}\n" + text)
    }

    @Test(
        "what follows a member and is neither another one nor zeros is an error",
        arguments: [Array("{}\n".utf8), [0, 0, 1], [0x1F], [0x1F, 0x8B, 8], [0x1E, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]])
    func garbage(bytes: [UInt8]) throws {
        #expect {
            try unpack(try gzipped(text) + bytes)
        } throws: { error in
            (error as? CommandError)?.code == "BAD_GZIP"
        }
    }

    @Test("a truncated file is an error")
    func truncated() throws {
        let bytes = try gzipped(text)
        #expect {
            try unpack(Array(bytes.dropLast(10)))
        } throws: { error in
            (error as? CommandError)?.status == .invalidInput
        }
    }

    @Test("a corrupt file is an error")
    func corrupt() throws {
        var bytes = try gzipped(text)
        bytes[bytes.count - 5] ^= 0xFF
        #expect {
            try unpack(bytes)
        } throws: { error in
            (error as? CommandError)?.code == "BAD_GZIP"
        }
    }
}
