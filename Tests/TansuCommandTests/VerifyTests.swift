import Foundation
import Testing

@Suite("tansu verify")
struct VerifyTests {
    @Test("an intact database passes")
    func intact() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("verify", "people.tansu")
        #expect(result.status == 0 && result.output.hasPrefix("No corruption found: 3 documents"))
        #expect(try command.tansu("verify", "people.tansu", "--json").json()["problemCount"]?.intValue == 0)
    }

    @Test("a flipped bit is detected")
    func corrupt() throws {
        let command = try Command.withPeople()
        try command.corrupt("people.tansu", at: "Cem")
        let text = try command.tansu("verify", "people.tansu")
        #expect(text.status == 72 && text.output.isEmpty)
        #expect(text.error.contains("tansu: The database is corrupt: "))
        #expect(text.error.split(separator: "\n").count >= 2)
        let json = try command.tansu("verify", "people.tansu", "--json")
        #expect(json.status == 72 && json.error.isEmpty)
        let report = try json.json()
        #expect(report["ok"] == false)
        let problems = try #require(report["problems"]?.arrayValue)
        #expect(!problems.isEmpty && report["problemCount"]?.intValue == problems.count)
        #expect(problems.allSatisfy { $0.documentValue?["message"]?.stringValue?.isEmpty == false })
    }
}

extension Command {
    /// Flips a bit of the first occurrence of a text in each file of a folder.
    func corrupt(_ name: String, at text: String) throws {
        var found = false
        for file in try FileManager.default.subpathsOfDirectory(atPath: path(name)) {
            let file = folder.appendingPathComponent(name).appendingPathComponent(file)
            guard var bytes = try? Data(contentsOf: file), let range = bytes.range(of: Data(text.utf8)) else {
                continue
            }
            bytes[range.lowerBound] ^= 1
            try bytes.write(to: file)
            found = true
        }
        try #require(found)
    }
}
