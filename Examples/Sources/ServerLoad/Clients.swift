import Checking
import Tansu

/// The workloads of the clients. Each client is a task.
extension Bank {
    /// Attempts a number of transfers. Returns the number of completed ones.
    func makeTransfers(_ number: Int, client: Int) async throws -> Int {
        var done = 0
        for _ in 0..<number where try await attempt(client: client) { done += 1 }
        return done
    }

    /// Makes transfers until its task is cancelled. Returns the number of completed ones.
    func makeTransfersUntilCancelled(client: Int) async throws -> Int {
        var done = 0
        do {
            while true { if try await attempt(client: client) { done += 1 } }
        } catch is CancellationError {
            return done
        }
    }

    /// Cancels a number of transfers inside their transactions, which must roll back.
    func cancelTransfers(_ number: Int, client: Int) async throws {
        var cancelled = 0
        while cancelled < number {
            let request = Task {
                try await transfer(.random(client: client)) { withUnsafeCurrentTask { $0?.cancel() } }
            }
            do {
                try await request.value
                check(false, "a cancelled transfer is not committed")
            } catch is CancellationError {
                cancelled += 1
            } catch is InsufficientFunds {}
        }
    }

    /// Audits all accounts repeatedly until its task is cancelled. The total must be the same in every snapshot. Returns
    /// the number of audits.
    func keepAuditing() async throws -> Int {
        var audits = 0
        var transfers = 0
        do {
            while true {
                let now = try await audit()
                check(now.total == Self.total, "the total \(now.total) is \(Self.total) during transfers")
                check(now.transfers >= transfers, "committed transfers are durable")
                transfers = now.transfers
                audits += 1
            }
        } catch is CancellationError {
            return audits
        }
    }

    private func attempt(client: Int) async throws -> Bool {
        do {
            try await transfer(.random(client: client))
            return true
        } catch is InsufficientFunds {
            return false
        }
    }
}

extension Bank.Entry {
    /// A transfer between any two accounts.
    static func random(client: Int) -> Self {
        let from = Int.random(in: 0..<Bank.accountCount)
        let to = (from + Int.random(in: 1..<Bank.accountCount)) % Bank.accountCount
        return Self(client: client, from: from, to: to, amount: Int.random(in: 1...300))
    }
}
