/// When an ``EditingContext`` saves its changes by itself.
public enum Autosave: Sendable, Hashable {
    /// Never: only `save()` does. The default.
    case never

    /// With the change that makes that many unsaved ones. That call throws what the save throws, with its change kept.
    case every(Int)

    /// So long after the first unsaved change. What the save throws is in ``EditingContext/autosaveError``, and the
    /// changes are kept; the next change begins another period.
    case after(Duration)
}
