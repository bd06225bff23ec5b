#if TansuSync
@testable import TansuSync

/// The revisions of a document as the set of all paths that were merged. Everything is derived from the paths anew.
struct NaiveRevisions {
    private(set) var paths: [[Revision]] = []
    private(set) var stored: [Revision: RevisionStatus] = [:]

    mutating func merge(_ path: RevisionPath, _ status: RevisionStatus) {
        paths.append(path.revisions)
        if stored[path.revision] == nil { stored[path.revision] = status }
    }

    var revisions: Set<Revision> { Set(paths.joined()) }

    func status(of revision: Revision) -> RevisionStatus? {
        revisions.contains(revision) ? stored[revision] ?? .missing : nil
    }

    private var parents: [Revision: Revision] {
        var parents: [Revision: Revision] = [:]
        for path in paths {
            for (child, parent) in zip(path, path.dropFirst()) { parents[child] = parent }
        }
        return parents
    }

    func path(of revision: Revision) -> [Revision] {
        let parents = parents
        return Array(sequence(first: revision) { parents[$0] })
    }

    /// Best first.
    var leaves: [Revision] {
        revisions.subtracting(parents.values).sorted { a, b in
            let (aIsDeleted, bIsDeleted) = (stored[a] == .deleted, stored[b] == .deleted)
            if aIsDeleted != bIsDeleted { return bIsDeleted }
            if a.generation != b.generation { return a.generation > b.generation }
            return bytes(b).lexicographicallyPrecedes(bytes(a))
        }
    }

    private func bytes(_ revision: Revision) -> [UInt8] {
        let text = Array(revision.hashText)
        guard text.count == 32 else { return Array(revision.hashText.utf8) }
        return stride(from: 0, to: 32, by: 2).compactMap { UInt8(String(text[$0...$0 + 1]), radix: 16) }
    }

    /// Each leaf keeps so many of its newest revisions.
    mutating func stem(to limit: Int) {
        let kept = Set(leaves.flatMap { path(of: $0).prefix(limit) })
        // What is between two kept revisions stays, whichever leaf keeps them.
        paths = leaves.map { Array(path(of: $0).prefix { kept.contains($0) }) }
        stored = stored.filter { kept.contains($0.key) }
    }

    mutating func purge(_ purged: Set<Revision>) {
        paths = leaves.filter { !purged.contains($0) }.map { path(of: $0) }
        let kept = revisions
        stored = stored.filter { kept.contains($0.key) }
    }
}

/// A history in which every revision has one parent, and random paths of it.
struct RandomRevisions<Generator: RandomNumberGenerator> {
    private var generator: Generator
    private let all: [(path: RevisionPath, status: RevisionStatus)]

    init(count: Int, _ generator: Generator) throws {
        var generator = generator
        var all: [(path: RevisionPath, status: RevisionStatus)] = []
        for number in 0..<count {
            let hash = try RevisionHash(utf8: Self.hash(number, &generator).utf8)
            let status: RevisionStatus = Int.random(in: 0..<4, using: &generator) == 0 ? .deleted : .available
            // Mostly edits of late revisions, so that there are long paths, and now and then another root.
            let late = all.suffix(Bool.random(using: &generator) ? 3 : all.count)
            if let parent = late.randomElement(using: &generator), Int.random(in: 0..<15, using: &generator) > 0 {
                let path = RevisionPath(
                    generation: parent.path.generation + 1, hashes: [hash] + parent.path.hashes)
                all.append((path, status))
            } else {
                let generation = Int.random(in: 1...5, using: &generator)
                all.append((RevisionPath(generation: generation, hashes: [hash]), status))
            }
        }
        self.all = all
        self.generator = generator
    }

    /// Digests and other hashes; all of a history are different.
    private static func hash(_ number: Int, _ generator: inout Generator) -> String {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return "x\(number)"
        case 1: return "f" + String(repeating: "8", count: 16 + number)
        default:
            let first = String(UInt8.random(in: 0...255, using: &generator), radix: 16)
            let text = first + String(number, radix: 16)
            return String(repeating: "0", count: (32 - text.count) / 2)
                + text + String(repeating: "a", count: 32 - text.count - (32 - text.count) / 2)
        }
    }

    /// One of the revisions with some of its ancestors.
    mutating func next() -> (path: RevisionPath, status: RevisionStatus) {
        let (path, status) = all[Int.random(in: all.indices, using: &generator)]
        let length =
            Bool.random(using: &generator)
            ? path.count : Int.random(in: 1...min(path.count, 6), using: &generator)
        return (RevisionPath(generation: path.generation, hashes: Array(path.hashes.prefix(length))), status)
    }

    var revisions: [Revision] { all.map(\.path.revision) }
}
#endif
