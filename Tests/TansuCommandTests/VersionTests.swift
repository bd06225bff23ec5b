import Tansu
import Testing

@Suite("tansu --version")
struct VersionTests {
    @Test("names the versions, the file format, the engine's libraries and the traits, one a line")
    func lines() throws {
        let result = try Command().tansu("--version")
        #expect(result.status == 0 && result.error == "")
        #expect(result.lines.count == 5)
        #expect(result.lines.first == "tansu \(Database.engineVersion)")
        let origin = Database.isEngineFromSource ? "from source" : "installed"
        let libraries = Database.engineLibraries.joined(separator: " ")
        #expect(
            result.lines.dropFirst().dropLast() == [
                "engine: \(Database.engineVersion), \(origin)",
                "file format: 2",
                "libraries: \(libraries.isEmpty ? "none" : libraries)",
            ])
        #if TansuServer
        #expect(result.lines.last == "traits: TansuServer TansuSync")
        #elseif TansuSync
        #expect(result.lines.last == "traits: TansuSync")
        #else
        #expect(result.lines.last == "traits: none")
        #endif
    }
}
