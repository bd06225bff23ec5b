internal import Foundation

/// A page of the documentation whose examples a test file runs.
package struct GuidePage {
    /// The lines of its Swift examples, without indentation.
    package let lines: [String]
    /// The text of the test file.
    package let test: String

    /// - Parameters:
    ///   - name: The path of the page in the project.
    ///   - file: The test file.
    package init(_ name: String, testedBy file: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent(name), encoding: .utf8)
        lines = page.components(separatedBy: "```swift\n").dropFirst().flatMap {
            $0.components(separatedBy: "\n```")[0].split(separator: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
        test = try String(contentsOf: URL(fileURLWithPath: file), encoding: .utf8)
    }
}
