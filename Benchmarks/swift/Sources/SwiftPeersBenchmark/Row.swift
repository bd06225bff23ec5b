/// What one run of a row measured with one library: a time, or a size, and what both libraries must agree on.
struct Outcome: Sendable {
    var value: Double
    var check: Int
}

/// One line of the table.
struct Row: Sendable {
    let key: String
    let title: String
    let unit: String
    /// A size is the same in each repetition.
    var once = false
    let run: @Sendable (Fixture, Subject) async throws -> Outcome
}

/// The sum of what can be compared of some people, whatever their order.
func checksum(_ people: some Sequence<Person>) -> Int {
    people.reduce(0) { sum, person in
        var value = person.id &* 31 &+ person.age &* 1009 &+ person.visits
        for text in [person.name, person.email, person.city, person.zip] + person.tags {
            value = text.utf8.reduce(value) { $0 &* 33 &+ Int($1) }
        }
        return sum &+ value
    }
}

func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw BenchmarkError(description: message()) }
}

/// Microseconds of some repetitions, for each.
func microseconds(_ times: Int, _ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return microseconds(since: start) / Double(times)
}

func microseconds(since start: ContinuousClock.Instant) -> Double {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return Double(seconds) * 1e6 + Double(attoseconds) / 1e12
}

/// All rows in the order in which they run.
let swiftPeersRows = writingRows + readingRows + libraryRows + sizeRows
