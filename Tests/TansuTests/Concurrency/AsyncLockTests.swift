import Foundation
import Testing

@testable import Tansu

@Suite("The lock for tasks")
struct AsyncLockTests {
    @Test("One task holds the lock at a time, and all get it")
    func exclusive() async throws {
        let lock = AsyncLock(limit: WaitLimit(timeout: 600_000))
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
        let lock = AsyncLock(limit: WaitLimit(timeout: 600_000))
        try await lock.acquire()
        let waiting = Task { try await lock.acquire() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        lock.release()
        try await lock.acquire()
        lock.release()
    }

    @Test("A task that waits too long is busy, and the next gets the lock", arguments: [0, 20] as [UInt32])
    func timeout(milliseconds: UInt32) async throws {
        let lock = AsyncLock(limit: WaitLimit(timeout: milliseconds))
        for _ in 0..<3 {
            try await lock.acquire()
            let waiting = (0..<20).map { _ in Task { try await lock.acquire() } }
            for task in waiting {
                let error = await #expect(throws: TansuError.self) { try await task.value }
                #expect(error?.code == .busy)
            }
            lock.release()
        }
        try await lock.acquire()
        lock.release()
    }
}
