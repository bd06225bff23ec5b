import Checking
import Foundation
import Tansu

/// A server's work: many tasks that transfer money, audit, and are cancelled, on one database. At the end every sum
/// must be right, also after the database was closed and opened again.
@main
struct ServerLoad {
    static let workers = 0..<16
    static let impatient = 16..<20
    static let quitter = 20
    static let transfersEach = 100

    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bank-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }

        let acknowledged = try await serve(folder.path)
        try await checkBooks(Bank(try await Database.open(.persistent(path: folder.path))), acknowledged)
        print("the books are right")
    }

    /// Runs all clients at once. Returns how many transfers each client was told are done.
    static func serve(_ path: String) async throws -> [Int: Int] {
        let db = try await Database.open(.persistent(path: path))
        let bank = try Bank(db)
        try await bank.open()

        let clock = ContinuousClock()
        let start = clock.now
        let auditors = (0..<2).map { _ in Task { try await bank.keepAuditing() } }
        let endless = impatient.map { client in
            (client, Task { try await bank.makeTransfersUntilCancelled(client: client) })
        }
        let quitting = Task { try await bank.giveUpTransfers(transfersEach, client: quitter) }

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
        try await quitting.value
        var audits = 0
        for auditor in auditors {
            auditor.cancel()
            audits += try await auditor.value
        }
        let seconds = (clock.now - start) / .seconds(1)
        try await db.close()

        let transfers = acknowledged.values.reduce(0, +)
        print("\(transfers) transfers, \(transfersEach) given up halfway, \(audits) audits in \(rounded(seconds)) s:")
        print("\(Int(Double(transfers) / seconds)) transactions and \(Int(Double(audits) / seconds)) audits a second")
        return acknowledged
    }

    /// Compares what is stored with itself and with what the clients were told.
    static func checkBooks(_ bank: Bank, _ acknowledged: [Int: Int]) async throws {
        let told = acknowledged.values.reduce(0, +)
        let (total, transfers) = try await bank.audit()
        check(total == Bank.total, "\(total) is \(Bank.total)")
        check(transfers == told, "\(transfers) transfers are stored, \(told) were acknowledged")

        let byClient = try await bank.ledger.find().groups(by: \.client, .count)
        for (client, count) in byClient {
            check(count == acknowledged[client], "client \(client) was told of \(count) transfers")
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
