import Foundation
import TansuTestSupport
import Testing

@testable import Tansu

@Suite("Hashes of attachments")
struct ContentHashTests {
    private func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test("The vectors of FIPS 180-4 and RFC 1321")
    func vectors() {
        let long = Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)
        let digits = Array(String(repeating: "1234567890", count: 8).utf8)
        for (bytes, sha256, md5) in [
            (
                [], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "d41d8cd98f00b204e9800998ecf8427e"
            ),
            (
                Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "900150983cd24fb0d6963f7d28e17f72"
            ),
            (
                long, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
                "8215ef0796a20bcaaae116d3876c664a"
            ),
            (
                digits, "f371bc4a311f2b009eef952dd83ca80e2b60026c8e935592d0f9c308453c813e",
                "57edf4a22be3c955ac49da2e2107b67a"
            ),
        ] as [([UInt8], String, String)] {
            var (sha, hash) = (PlainSHA256(), PlainMD5())
            sha.update(data: bytes)
            hash.update(data: bytes)
            #expect(hex(sha.finalize()) == sha256 && hex(hash.finalize()) == md5)
            #expect(hex(sha.finalize()) == sha256, "It may be asked for again")
        }
    }

    @Test("Bytes in pieces of any size are those of the whole, and what other systems compute")
    func pieces() {
        let bytes = BlobTests.random(1000)
        for size in [1, 3, 55, 56, 63, 64, 65, 119, 128, 1000] {
            var (plain, other) = (PlainSHA256(), BlobHash())
            var (plainMD5, otherMD5) = (PlainMD5(), AttachmentHash())
            for start in stride(from: 0, to: bytes.count, by: size) {
                let piece = Array(bytes[start..<min(start + size, bytes.count)])
                plain.update(data: piece)
                plainMD5.update(data: piece)
                // Of each length up to the last.
                var whole = BlobHash()
                whole.update(data: Array(bytes[..<(start + piece.count)]))
                #expect(hex(plain.finalize()) == hex(whole.finalize()))
                other.update(data: piece)
                otherMD5.update(data: piece)
                #expect(hex(plainMD5.finalize()) == hex(otherMD5.finalize()))
            }
            #expect(hex(plain.finalize()) == hex(other.finalize()))
        }
    }
}
