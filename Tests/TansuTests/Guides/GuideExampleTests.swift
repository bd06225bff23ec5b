import Foundation
import Testing

/// The examples of all guides: the documentation catalogues of Tansu, TansuEJDBKit and TansuObjects, the cookbook, and the README. The
/// files of this folder have every example with its exact words, compile it and run it.
@Suite("The examples of the guides")
struct GuideExampleTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static var catalogues: [URL] {
        ["Tansu", "TansuEJDBKit", "TansuObjects"].map { root.appendingPathComponent("Sources/\($0)/\($0).docc") }
    }

    /// The pages of the catalogues, and the cookbook.
    private static func pages() throws -> [URL] {
        try catalogues.flatMap { try files(of: $0, "md") } + [root.appendingPathComponent("docs/cookbook.md")]
    }

    private static func files(of folder: URL, _ ending: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == ending }
    }

    @Test("Every example of a page is in this folder")
    func examplesAreHere() throws {
        let here = try Self.files(of: URL(fileURLWithPath: #filePath).deletingLastPathComponent(), "swift")
            .map { words(try String(contentsOf: $0, encoding: .utf8)) }
        let pages = try Self.pages()
        #expect(pages.count == 18)
        for page in pages {
            let examples = try blocks(of: page)
            #expect(!examples.isEmpty, "\(page.lastPathComponent) has no example")
            for example in examples {
                #expect(here.contains { $0.contains(words(example)) }, "\(page.lastPathComponent): \(example)")
            }
        }
    }

    private func blocks(of page: URL) throws -> [String] {
        try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
    }

    private func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The output that the comments of a page's examples show.
    func shown(by page: String) throws -> String {
        let url = try #require(try Self.pages().first { $0.lastPathComponent == "\(page).md" })
        let lines = try blocks(of: url).flatMap { $0.components(separatedBy: "\n") }
        let comments = lines.compactMap { line -> String? in
            guard let call = line.range(of: "print("), let comment = line.range(of: "  // ") else { return nil }
            return call.lowerBound < comment.lowerBound ? String(line[comment.upperBound...]) : nil
        }
        #expect(!comments.isEmpty, "\(page) shows no output")
        return comments.joined(separator: ", ")
    }

    /// The output of examples, its lines separated by commas as in a comment.
    struct Printed {
        private(set) var lines = ""

        mutating func add(_ items: [Any]) {
            if !lines.isEmpty { lines += ", " }
            lines += items.map { "\($0)" }.joined(separator: " ")
        }
    }
}
