#if TansuSync
    import TansuBSON

    extension BSONValue {
        /// The member of an object; nil when this is none, or does not have it.
        subscript(name: String) -> BSONValue? { documentValue?[name] }
    }
#endif
