/// Asks so often in the loaded library; the answers are compared after the clock has stopped.
private func asks(
    _ times: Int, in unit: Double = 1, _ body: @escaping @Sendable (any LibraryPeer, Library, Int) throws -> Answer
) -> @Sendable (Fixture, Subject) async throws -> Outcome {
    { fixture, subject in
        let peer = try subject.openLibrary(fixture)
        var random = Random(state: 100)
        let numbers = (0..<times).map { _ in Int.random(in: 0..<1_000_000, using: &random) }
        var answers: [Answer] = []
        let time = try microseconds(times) {
            for number in numbers { answers.append(try body(peer, fixture.library, number)) }
        }
        return Outcome(value: time / unit, check: answers.reduce(0) { $0 &* 31 &+ $1() })
    }
}

let libraryRows = [
    Row(
        key: "including", title: "all books, with author and tags", unit: "ms",
        run: asks(3, in: 1000) { peer, _, _ in try peer.shelves() }),
    Row(
        key: "including-inverse", title: "all authors, with their books", unit: "ms",
        run: asks(3, in: 1000) { peer, _, _ in try peer.works() }),
    Row(
        key: "by-reference", title: "books by the author's name", unit: "us",
        run: asks(500) { peer, library, number in
            try peer.books(byAuthor: library.authors[number % library.authors.count].name)
        }),
    Row(
        key: "by-inverse", title: "authors with a book since a year", unit: "us",
        run: asks(30) { peer, _, number in try peer.authors(since: 1970 + number % 45) }),
]
