import CTansu

extension EngineDatabase {
    /// Checks everything that is stored, and returns the engine's report. With `.corrupt` the error has the report.
    func verify(progress: (Database.Progress) throws -> Void) throws -> BSONDocument {
        var report: BSONDocument?
        do {
            return try call { database in
                try engineTask(progress, failureReport: { report = $0 }) { tansu_verify(database, $0, $1, $2, $3) }
            }
        } catch var error as TansuError where error.code == .corrupt {
            error.report = report
            throw error
        }
    }

    /// Salvages a damaged database into a new one, and returns the engine's report.
    static func repair(
        from damaged: String, to path: String, progress: (Database.Progress) throws -> Void
    ) throws -> BSONDocument {
        let (damaged, path) = (try damaged.systemPath(), try path.destinationPath())
        return try engineTask(progress) { tansu_repair(damaged, path, $0, $1, $2, $3) }
    }
}
