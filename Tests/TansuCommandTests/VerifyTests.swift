import Foundation
import Testing

@Suite("tansu verify")
struct VerifyTests {
    @Test("a sound database passes")
    func sound() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("verify", "people.tansu")
        #expect(result.status == 0 && result.output.hasPrefix("All is well: 3 documents"))
        #expect(try command.tansu("verify", "people.tansu", "--json").json()["problemCount"]?.intValue == 0)
    }

    @Test("a flipped bit is found", arguments: [[], ["--json"]])
    func damaged(flags: [String]) throws {
        let command = try Command.withPeople()
        try command.damage("people.tansu", at: "Cem")
        let result = try command.tansu(["verify", "people.tansu"] + flags, input: [])
        #expect(result.status == 72)
        #expect((result.output + result.error).contains(flags.isEmpty ? "tansu: " : "\"ok\":false"))
    }
}

extension Command {
    /// Flips a bit of every place in a folder's files where a text stands.
    func damage(_ name: String, at text: String) throws {
        var found = false
        for file in try FileManager.default.subpathsOfDirectory(atPath: path(name)) {
            let file = folder.appendingPathComponent(name).appendingPathComponent(file)
            guard var bytes = try? Data(contentsOf: file), let place = bytes.range(of: Data(text.utf8)) else {
                continue
            }
            bytes[place.lowerBound] ^= 1
            try bytes.write(to: file)
            found = true
        }
        try #require(found)
    }
}
