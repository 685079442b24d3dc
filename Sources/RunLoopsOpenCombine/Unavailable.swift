#if !OpenCombine
    public import RunLoops

    extension RunLoop {
        /// A placeholder for this property, which is available only with the package trait `OpenCombine`.
        @available(
            *, unavailable,
            message: "name the trait where you name the package: .package(url: …, traits: [\"OpenCombine\"])"
        )
        public var ocombine: Never { misuse("RunLoop.ocombine: unavailable") }
    }
#endif
