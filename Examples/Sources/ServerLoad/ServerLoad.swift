import Checking
import Foundation
import Tansu

/// The load of a server: concurrent tasks transfer money, audit the accounts and are cancelled. At the end all sums must
/// be consistent, also after the database is reopened.
@main
struct ServerLoad {
    static let workers = 0..<16
    static let cancelledWorkers = 16..<20
    static let cancellingClient = 20
    static let transfersEach = 100

    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bank-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }

        let acknowledged = try await serve(folder.path)
        try await checkConsistency(Bank(try await Database.open(.persistent(path: folder.path))), acknowledged)
        print("all sums are consistent")
    }

    /// Runs all clients concurrently. Returns the number of acknowledged transfers of each client.
    static func serve(_ path: String) async throws -> [Int: Int] {
        let db = try await Database.open(.persistent(path: path))
        let bank = try Bank(db)
        try await bank.open()

        let clock = ContinuousClock()
        let start = clock.now
        let auditors = (0..<2).map { _ in Task { try await bank.keepAuditing() } }
        let endless = cancelledWorkers.map { client in
            (client, Task { try await bank.makeTransfersUntilCancelled(client: client) })
        }
        let cancelling = Task { try await bank.cancelTransfers(transfersEach, client: cancellingClient) }

        var acknowledged = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for client in workers {
                group.addTask { (client, try await bank.makeTransfers(transfersEach, client: client)) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for (client, task) in endless {
            task.cancel()
            acknowledged[client] = try await task.value
        }
        try await cancelling.value
        var audits = 0
        for auditor in auditors {
            auditor.cancel()
            audits += try await auditor.value
        }
        let seconds = (clock.now - start) / .seconds(1)
        try await db.close()

        let transfers = acknowledged.values.reduce(0, +)
        print("\(transfers) transfers, \(transfersEach) cancelled, \(audits) audits in \(rounded(seconds)) s:")
        print("\(Int(Double(transfers) / seconds)) transactions and \(Int(Double(audits) / seconds)) audits per second")
        return acknowledged
    }

    /// Checks that accounts and ledger are consistent with each other and with the acknowledged transfers.
    static func checkConsistency(_ bank: Bank, _ acknowledged: [Int: Int]) async throws {
        let expected = acknowledged.values.reduce(0, +)
        let (total, transfers) = try await bank.audit()
        check(total == Bank.total, "the total \(total) is \(Bank.total)")
        check(transfers == expected, "\(transfers) transfers are stored, \(expected) were acknowledged")

        let byClient = try await bank.ledger.find().groups(by: \.client, .count)
        for (client, count) in byClient {
            check(count == acknowledged[client], "all \(count) transfers of client \(client) were acknowledged")
        }

        var balances = [Int](repeating: Bank.openingBalance, count: Bank.accountCount)
        for try await entry in bank.ledger.find() {
            balances[entry.from] -= entry.amount
            balances[entry.to] += entry.amount
        }
        let stored = try await bank.accounts.find().sorted(by: \.id).all()
        check(stored.map(\.balance) == balances, "each balance is the sum of its transfers")
        check(stored.allSatisfy { $0.balance >= 0 }, "no account is overdrawn")
        try await bank.db.verify()
    }

    private static func rounded(_ seconds: Double) -> Double { (seconds * 100).rounded() / 100 }
}
