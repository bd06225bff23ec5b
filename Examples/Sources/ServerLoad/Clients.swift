import Checking
import Tansu

/// The clients of the server, each a task of its own.
extension Bank {
    /// Makes so many transfers; one that the account can't pay is no transfer. Returns how many were done.
    func makeTransfers(_ number: Int, client: Int) async throws -> Int {
        var done = 0
        for _ in 0..<number where try await attempt(client: client) { done += 1 }
        return done
    }

    /// Makes transfers until its task is cancelled. Returns how many were done.
    func makeTransfersUntilCancelled(client: Int) async throws -> Int {
        var done = 0
        do {
            while true { if try await attempt(client: client) { done += 1 } }
        } catch is CancellationError {
            return done
        }
    }

    /// Begins transfers and gives each up when the money is on its way: nothing of them may stay.
    func giveUpTransfers(_ number: Int, client: Int) async throws {
        var givenUp = 0
        while givenUp < number {
            let request = Task {
                try await transfer(.random(client: client)) { withUnsafeCurrentTask { $0?.cancel() } }
            }
            do {
                try await request.value
                check(false, "a transfer that was given up is not done")
            } catch is CancellationError {
                givenUp += 1
            } catch is InsufficientFunds {}
        }
    }

    /// Looks at all the accounts again and again until its task is cancelled: no money is ever lost or doubled on the
    /// way. Returns how often it looked.
    func keepAuditing() async throws -> Int {
        var audits = 0
        var transfers = 0
        do {
            while true {
                let now = try await audit()
                check(now.total == Self.total, "\(now.total) is \(Self.total), in the midst of transfers")
                check(now.transfers >= transfers, "what was committed stays")
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
