import Tansu
import Testing

/// The code of the `TansuError` that a body throws; `nil` when it throws nothing.
func errorCode(_ body: () throws -> Void) -> TansuError.Code? {
    do {
        try body()
        return nil
    } catch {
        return code(of: error)
    }
}

/// The same of a body that awaits.
func awaitedErrorCode(_ body: () async throws -> Void) async -> TansuError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return code(of: error)
    }
}

private func code(of error: any Error) -> TansuError.Code? {
    guard let error = error as? TansuError else {
        Issue.record("no TansuError: \(error)")
        return nil
    }
    return error.code
}
