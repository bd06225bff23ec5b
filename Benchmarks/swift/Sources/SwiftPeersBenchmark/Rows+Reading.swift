private let gets = 20_000
private let observed = 200

/// Runs `body` so often in the loaded database; it adds what it found to the check.
private func reads(
    _ times: Int, in unit: Double = 1, _ body: @escaping @Sendable (any Peer, People, Int) throws -> Int
) -> @Sendable (Fixture, Subject) async throws -> Outcome {
    { fixture, subject in
        let peer = try subject.openLoaded(fixture)
        var random = Random(state: 100)
        let numbers = (0..<times).map { _ in Int.random(in: 0..<fixture.people.all.count, using: &random) }
        var check = 0
        let time = try microseconds(times) {
            for number in numbers { check &+= try body(peer, fixture.people, number) }
        }
        return Outcome(value: time / unit, check: check)
    }
}

private func found(_ people: [Person], _ expected: Int) throws -> Int {
    try require(people.count == expected, "\(people.count) people instead of \(expected)")
    return people.reduce(0) { $0 &+ $1.id &* 31 &+ $1.age &+ $1.email.utf8.count }
}

private let observation: @Sendable (Fixture, Subject) async throws -> Outcome = { fixture, subject in
    let peer = try subject.openLoaded(fixture)
    let person = fixture.people.all[0]
    let clock = Latencies()
    try await peer.observe(name: person.name) { found in
        guard let current = found.first(where: { $0.id == person.id }) else {
            throw BenchmarkError(description: "an observed person is missing")
        }
        try require(found.count == People.perName, "\(found.count) observed people")
        // Libraries may deliver a result twice; what counts is when the saved one arrives.
        guard clock.delivered(current.visits) else { return true }
        guard clock.rounds < observed else { return false }
        var next = person
        next.visits = clock.begin()
        try peer.save(next)
        return true
    }
    try peer.save(person)
    return Outcome(value: clock.mean, check: clock.rounds)
}

let readingRows = [
    Row(
        key: "get", title: "get by id", unit: "us",
        run: reads(gets) { peer, people, number in
            let person = people.all[number]
            try require(try peer.get(person.id) == person, "get returned another person")
            return 1
        }),
    Row(
        key: "get-async", title: "get by id, with await", unit: "us",
        run: { fixture, subject in
            let peer = try subject.openLoaded(fixture)
            var random = Random(state: 101)
            let start = ContinuousClock.now
            for _ in 0..<gets {
                let person = fixture.people.all[Int.random(in: 0..<fixture.people.all.count, using: &random)]
                try require(try await peer.getAsync(person.id) == person, "get returned another person")
            }
            return Outcome(value: microseconds(since: start) / Double(gets), check: gets)
        }),
    Row(
        key: "equal-10", title: "indexed equality, 10 records", unit: "us",
        run: reads(2000) { peer, people, number in
            try found(peer.named(people.all[number].name), People.perName)
        }),
    Row(
        key: "range", title: "indexed range, 5 % of all", unit: "ms",
        run: reads(4, in: 1000) { peer, people, number in
            let lowest = 10 + number % 70
            return try found(peer.aged(lowest...lowest + 3), people.all.count / People.ages * 4)
        }),
    Row(
        key: "count-city", title: "count by index, 1/80 of all", unit: "us",
        run: reads(500) { peer, people, number in
            let count = try peer.count(city: people.all[number].city)
            try require(count == people.all.count / People.cities, "wrong count")
            return count
        }),
    Row(
        key: "scan", title: "scan, 1 % match", unit: "ms",
        run: reads(3, in: 1000) { peer, people, number in
            try found(peer.zipped(people.all[number].zip), people.all.count / People.zips)
        }),
    Row(key: "observe", title: "save until an observation delivers", unit: "us", run: observation),
]
