/// Which results belong to which value, all by their positions: the members of each owner, in the order in which they were
/// added.
struct Membership {
    private let ownerCount: Int
    private var owners: [Int] = []
    private var members: [Int] = []
    private var lastMembers: [Int]

    init(owners: Int) {
        ownerCount = owners
        lastMembers = [Int](repeating: -1, count: owners)
    }

    /// Adds a member.
    mutating func add(_ member: Int, to owner: Int) {
        owners.append(owner)
        members.append(member)
        lastMembers[owner] = member
    }

    /// The member that was added to an owner last; -1 when it has none.
    func lastMember(of owner: Int) -> Int { lastMembers[owner] }

    /// Replaces each member by another. Negative ones belong to nobody.
    mutating func replaceMembers(_ other: (Int) -> Int) {
        for index in members.indices { members[index] = other(members[index]) }
    }

    /// The results that belong to each owner.
    func all<Result>(of results: [Result]) -> [[Result]] {
        let (starts, sorted) = sorted()
        return (0..<ownerCount).map { owner in
            let (start, end) = (starts[owner], starts[owner + 1])
            return start == end ? [] : sorted[start..<end].map { results[$0] }
        }
    }

    /// The first result that belongs to each owner.
    func first<Result>(of results: [Result]) -> [Result?] {
        let (starts, sorted) = sorted()
        return (0..<ownerCount).map { owner in
            starts[owner] == starts[owner + 1] ? nil : results[sorted[starts[owner]]]
        }
    }

    /// The members by owner, and where those of each begin; the end is that of the next.
    private func sorted() -> (starts: [Int], members: [Int]) {
        var starts = [Int](repeating: 0, count: ownerCount + 1)
        for (owner, member) in zip(owners, members) where member >= 0 { starts[owner + 1] += 1 }
        for owner in 0..<ownerCount { starts[owner + 1] += starts[owner] }
        var next = starts
        var sorted = [Int](repeating: 0, count: starts[ownerCount])
        for (owner, member) in zip(owners, members) where member >= 0 {
            sorted[next[owner]] = member
            next[owner] += 1
        }
        return (starts, sorted)
    }
}
