import Foundation

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

/// Milliseconds of processor time of the process, its other threads included.
private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
}

/// Removes all authors of a library that has as many books as there are people in the other rows.
private let cascade: @Sendable (Fixture, Subject) async throws -> Outcome = { fixture, subject in
    let library = Library(books: fixture.people.all.count, tagsPerBook: 0)
    let peer = try subject.openEmptyLibrary()
    try peer.load(library)
    try peer.checkpoint()
    let start = processorTime()
    let left = try peer.removeAuthors()
    let time = processorTime() - start
    try require(left == 0, "\(left) books have no author")
    try subject.removeEmpty(peer)
    return Outcome(value: time, check: left)
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
    Row(key: "cascade", title: "removing all authors with their books", unit: "ms", run: cascade),
]
