import Tansu
import Testing

@Suite("What the engine is")
struct EngineInfoTests {
    @Test("the optional libraries are named in order, and are none of an engine from source")
    func libraries() {
        let names = Database.engineLibraries
        #expect(names == names.sorted())
        let known: Set = ["libbson-1.0", "libcrypto", "libdeflate", "liblz4", "libpcre2-8", "libstemmer"]
        #expect(Set(names).isSubset(of: known))
        if Database.isEngineFromSource { #expect(names.isEmpty) }
    }

    @Test("collections are compressed with the library that is named")
    func compression() throws {
        let database = try Database(.memory)
        if Database.engineLibraries.contains("liblz4") {
            try database.ensureCollection("notes", compression: .lz4)
        } else {
            #expect(throws: TansuError.self) { try database.ensureCollection("notes", compression: .lz4) }
        }
    }

    @Test("the file format is the one of the documentation")
    func fileFormat() { #expect(Database.fileFormat == 2) }
}
