import Foundation
import Tansu
import Testing

@Suite("The commands of the cookbook")
struct CookbookTests {
    @Test("all blocks of commands in docs/cookbook.md run, in order and in one folder")
    func commands() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/cookbook.md"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```sh\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        #expect(blocks.count == 9)
        let command = try Command()
        for block in blocks {
            let result = try command.shell("set -eu\n\(block)")
            // The library may have been built without libcrypto, the program without replication.
            #expect(result.status == 0 || result.status == 69, "\(block)\(result.error)")
        }
        #expect(try command.tansu("count", "moved.tansu", "people").output == "2\n")
    }
}
