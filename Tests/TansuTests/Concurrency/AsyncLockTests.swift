import Foundation
import Testing

@testable import Tansu

@Suite("The lock for tasks")
struct AsyncLockTests {
    @Test("One task holds the lock at a time, and all get it")
    func exclusive() async throws {
        let lock = AsyncLock()
        let state = JobLog()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await lock.acquire()
                    state.enter()
                    await Task.yield()
                    state.leave()
                    lock.release()
                }
            }
            try await group.waitForAll()
        }
        #expect(state.highest == 1)
        #expect(state.entries == 50)
    }

    @Test("A task cancelled while it waits stops waiting, and the next gets the lock")
    func cancellation() async throws {
        let lock = AsyncLock()
        try await lock.acquire()
        let waiting = Task { try await lock.acquire() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        lock.release()
        try await lock.acquire()
        lock.release()
    }
}
