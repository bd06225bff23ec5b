#if canImport(Glibc)
import Glibc

/// Limits what the heaps of a long-running process keep.
///
/// The allocator of glibc has a heap for each thread, up to eight for each processor. Requests move between threads, so that
/// each heap grows as far as the largest requests need it. Two heaps are enough, and large blocks go back at once.
func limitFragmentation() {
    // Swift does not see malloc.h.
    guard let symbol = dlsym(nil, "mallopt") else { return }
    let mallopt = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
    let (arenaMaximum, mappingThreshold, trimThreshold): (CInt, CInt, CInt) = (-8, -3, -1)
    _ = mallopt(arenaMaximum, 2)
    _ = mallopt(mappingThreshold, 128 << 10)
    _ = mallopt(trimThreshold, 128 << 10)
}
#else
/// Other C libraries have no such limit.
func limitFragmentation() {}
#endif
