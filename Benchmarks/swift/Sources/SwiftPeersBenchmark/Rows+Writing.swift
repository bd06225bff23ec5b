private func saves(_ durability: Durability, _ wanted: Int, async: Bool = false)
    -> @Sendable (
        Fixture, Subject
    ) async throws -> Outcome
{
    { fixture, subject in
        let people = fixture.people.all.prefix(wanted)
        let peer = try subject.openEmpty(durability)
        let start = ContinuousClock.now
        if async {
            for person in people { try await peer.saveAsync(person) }
        } else {
            // A closure that is not async: `save` without await.
            try { for person in people { try peer.save(person) } }()
        }
        let time = microseconds(since: start) / Double(people.count)
        try require(try { try peer.count() }() == people.count, "saved people are missing")
        let check = checksum(try { try people.prefix(50).compactMap { try peer.get($0.id) } }())
        try subject.removeEmpty(peer)
        return Outcome(value: time, check: check)
    }
}

private func load(indexes: [Field]) -> @Sendable (Fixture, Subject) async throws -> Outcome {
    { fixture, subject in
        let peer = try subject.openEmpty(.full)
        for field in indexes { try peer.createIndex(on: field) }
        let time = try microseconds(1000) { try peer.load(fixture.people.all) }
        try require(try { try peer.count() }() == fixture.people.all.count, "loaded people are missing")
        try subject.removeEmpty(peer)
        return Outcome(value: time, check: fixture.people.all.count)
    }
}

let writingRows = [
    Row(key: "save-full", title: "durable save", unit: "us", run: saves(.full, 500)),
    Row(key: "save-full-async", title: "durable save, with await", unit: "us", run: saves(.full, 500, async: true)),
    Row(key: "save-process", title: "save that survives kill -9", unit: "us", run: saves(.process, 10_000)),
    Row(key: "load-0", title: "bulk load, one transaction, 0 indexes", unit: "ms", run: load(indexes: [])),
    Row(key: "load-2", title: "bulk load, one transaction, 2 indexes", unit: "ms", run: load(indexes: [.name, .city])),
]
