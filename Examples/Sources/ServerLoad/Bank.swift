import Tansu

/// The database of the example: accounts, and a ledger of the transfers between them.
struct Bank: Sendable {
    /// An account with a number as its id.
    struct Account: Codable, Sendable, Identifiable {
        var id: Int
        var balance: Int
    }

    /// A completed transfer.
    struct Entry: Codable, Sendable, Identifiable {
        var id = ObjectID()
        var client: Int
        var from: Int
        var to: Int
        var amount: Int

        /// Withdraws the amount from the source account.
        @Sendable func withdraw(from account: inout Account) throws {
            guard account.balance >= amount else { throw InsufficientFunds() }
            account.balance -= amount
        }

        /// Deposits the amount in the destination account.
        @Sendable func deposit(to account: inout Account) {
            account.balance += amount
        }
    }

    struct InsufficientFunds: Error {}

    static let accountCount = 20
    static let openingBalance = 1000
    static let total = accountCount * openingBalance

    let db: Database
    let accounts: Database.Collection<Account>
    let ledger: Database.Collection<Entry>

    init(_ db: Database) throws {
        self.db = db
        accounts = try db.collection("accounts", of: Account.self)
        ledger = try db.collection("ledger", of: Entry.self)
    }

    func open() async throws {
        try await ledger.ensureIndex("by_client", on: ["client": .ascending])
        try await accounts.insert((0..<Self.accountCount).map { Account(id: $0, balance: Self.openingBalance) })
    }

    /// Transfers money and adds a ledger entry, in one atomic transaction.
    func transfer(_ entry: Entry) async throws {
        try await db.write { transaction in
            let accounts = try transaction.collection("accounts", of: Account.self)
            try accounts.update(id: entry.from, entry.withdraw)
            try accounts.update(id: entry.to, entry.deposit)
            try transaction.collection("ledger", of: Entry.self).insert(entry)
        }
    }

    /// Transfers money with an asynchronous approval inside the transaction. All other writers wait for it.
    func transfer(_ entry: Entry, asking approve: () async throws -> Void) async throws {
        try await db.write { transaction in
            let accounts = try transaction.collection("accounts", of: Account.self)
            try await accounts.update(id: entry.from, entry.withdraw)
            try await approve()
            try await accounts.update(id: entry.to, entry.deposit)
            try await transaction.collection("ledger", of: Entry.self).insert(entry)
        }
    }

    /// The sum of all balances and the number of transfers, both from one snapshot.
    func audit() async throws -> (total: Int, transfers: Int) {
        try await db.read { transaction in
            let sum = try transaction.collection("accounts", of: Account.self).find().aggregate(.sum(\.balance))
            return (sum, try transaction.collection("ledger").count())
        }
    }
}
