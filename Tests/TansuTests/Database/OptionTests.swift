import Tansu
import Testing

@Suite("Options of a database")
struct OptionTests {
    typealias Options = Database.Options

    @Test(
        "A negative number is an error that names the option",
        arguments: [
            ("segmentSize", \Options.segmentSize), ("checkpointBytes", \Options.checkpointBytes),
            ("indexCacheBytes", \Options.indexCacheBytes), ("sortMemoryBytes", \Options.sortMemoryBytes),
            ("groupMemoryBytes", \Options.groupMemoryBytes),
            ("transactionMemoryBytes", \Options.transactionMemoryBytes),
            ("blockCacheBytes", \Options.blockCacheBytes), ("maxPinnedBytes", \Options.maxPinnedBytes),
            ("compactionPercent", \Options.compactionPercent), ("compactionShare", \Options.compactionShare),
        ] as [(String, WritableKeyPath<Options, Int?> & Sendable)])
    func negative(name: String, option: WritableKeyPath<Options, Int?> & Sendable) throws {
        for number in [-1, Int.min] {
            var options = Options()
            options[keyPath: option] = number
            let error = #expect(throws: TansuError.self) { try Database(.memory, options: options) }
            #expect(error?.code == .invalidArgument && error?.message.contains("\"\(name)\"") == true)
        }
    }
}
