#if TansuSync
import TansuBSON

/// The documents that were changed without the layer, as far as the change stream was read, and may have no revision yet.
///
/// A snapshot says nothing of what happened since. Who looks at one asks afterwards which documents may have changes without
/// revisions in it, and some of those may have got theirs in the meantime, by a commit that the snapshot does not have. So what is
/// settled is remembered for a while:
///
/// 1. ``mark``, then take a snapshot,
/// 2. read the change stream, then ask for ``uncertain(since:)`` with that mark.
struct LocalChanges {
    /// The documents that may have changed since they were compared, with the number of their last commit.
    private(set) var pending: [BSONValue: Int] = [:]
    /// Those that write transactions have taken, until their commit is there: a snapshot from before it has these changes
    /// without revisions.
    private var taken: [Int: [BSONValue: Int]] = [:]
    private var nextTaken = 0
    /// Documents that were settled lately, with the mark of that.
    private var settled: [BSONValue: Int] = [:]
    /// What was settled up to this mark is not remembered.
    private var forgottenMark = 0
    /// How often something was settled.
    private(set) var mark = 0

    /// How many settled documents are remembered; a snapshot is looked at microseconds after it was taken.
    private static let rememberedCount = 256

    /// What a write transaction took, to be settled when it is committed and put back when it fails.
    struct Taken {
        fileprivate let number: Int
        fileprivate let changes: [BSONValue: Int]

        var ids: some Collection<BSONValue> { changes.keys }
    }

    /// Whether nothing is pending or taken.
    var isEmpty: Bool { pending.isEmpty && taken.isEmpty }

    /// The documents that may have changes without revisions in a snapshot that is taken from now on.
    var uncertain: [BSONValue: Int] {
        taken.values.reduce(into: pending) { $0.merge($1) { max($0, $1) } }
    }

    /// The documents that may have changes without revisions in a snapshot that was taken after a mark.
    ///
    /// - Returns: Nil when it is not known any more: then they all may.
    func uncertain(since mark: Int) -> [BSONValue: Int]? {
        if mark == self.mark { return uncertain }
        guard mark >= forgottenMark else { return nil }
        return settled.reduce(into: uncertain) { uncertain, element in
            if element.value > mark, uncertain[element.key] == nil { uncertain[element.key] = 0 }
        }
    }

    /// Notes that a commit has changed a document.
    mutating func note(_ id: BSONValue, commit: Int) { pending[id] = commit }

    /// Takes all that is pending.
    mutating func take() -> Taken {
        let new = Taken(number: nextTaken, changes: pending)
        nextTaken += 1
        if !pending.isEmpty { taken[new.number] = pending }
        pending = [:]
        return new
    }

    /// The transaction failed.
    mutating func putBack(_ failed: Taken) {
        taken[failed.number] = nil
        pending.merge(failed.changes) { max($0, $1) }
    }

    /// The transaction was committed, and its snapshot is what readers see.
    mutating func settle(_ committed: Taken) {
        guard taken.removeValue(forKey: committed.number) != nil else { return }
        remember(committed.ids)
    }

    /// A newer snapshot shows that documents have no changes without revisions, as of the commits that were known.
    mutating func settle(_ compared: [BSONValue: Int]) {
        remember(compared.filter { pending[$0.key] == $0.value }.keys)
        for (id, commit) in compared where pending[id] == commit { pending[id] = nil }
    }

    /// A commit gave each document that it changed its revision.
    mutating func settle(commit: Int) {
        remember(pending.filter { $0.value == commit }.keys)
        pending = pending.filter { $0.value != commit }
    }

    /// Any document may have got a revision.
    mutating func settleAll() {
        mark += 1
        forgottenMark = mark
        settled = [:]
    }

    private mutating func remember(_ ids: some Collection<BSONValue>) {
        guard !ids.isEmpty else { return }
        guard ids.count <= Self.rememberedCount else { return settleAll() }
        if settled.count + ids.count > Self.rememberedCount {
            settled = [:]
            forgottenMark = mark
        }
        mark += 1
        for id in ids { settled[id] = mark }
    }
}
#endif
