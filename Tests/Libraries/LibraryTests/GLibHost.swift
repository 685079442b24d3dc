import CGLib
import RunLoops

/// A source of GLib through which a main context serves the run loop of the calling thread.
///
/// The three steps of the source are those of a guest.
///
/// `@safe`: the source belongs to the host from `init` to `deinit`, and the context calls the source only on the host's thread.
@safe
final class GLibHost {
    let guest: RunLoop.Guest
    private let source: UnsafeMutablePointer<GSource>
    /// The number of times that the context has called `prepare`: it does so once before and once after each wait.
    private(set) var preparations = 0
    private(set) var services = 0

    /// The functions of the source, to which GLib keeps a pointer.
    ///
    /// `nonisolated(unsafe)`: the functions are set here, and never changed.
    nonisolated(unsafe) private static let functions: UnsafeMutablePointer<GSourceFuncs> = {
        let functions = UnsafeMutablePointer<GSourceFuncs>.allocate(capacity: 1)
        unsafe functions.initialize(to: GSourceFuncs())
        unsafe functions.pointee.prepare = { source, timeout in
            guard let source = unsafe source else { return 0 }
            // The guest's timers make its descriptor readable, so the context needs no time-out.
            unsafe timeout?.pointee = -1
            return unsafe GLibHost.of(source).prepare() ? 1 : 0
        }
        unsafe functions.pointee.check = { source in
            guard let source = unsafe source else { return 0 }
            return unsafe GLibHost.isReadable(source) ? 1 : 0
        }
        unsafe functions.pointee.dispatch = { source, _, _ in
            guard let source = unsafe source else { return 0 }
            unsafe GLibHost.of(source).serve()
            return 1
        }
        return unsafe functions
    }()

    /// Adds the guest to a main context.
    ///
    /// - Parameters:
    ///   - guest: The guest.
    ///   - context: The context that the calling thread runs, or nil for GLib's default context.
    init(_ guest: RunLoop.Guest, in context: OpaquePointer?) {
        self.guest = guest
        let size = guint(MemoryLayout<glib_shim_source>.size)
        guard let source = unsafe g_source_new(GLibHost.functions, size) else {
            fatalError("GLib has no memory")
        }
        unsafe self.source = source
        // Safe: the source has room for the pointer, and is destroyed before the host.
        unsafe source.withMemoryRebound(to: glib_shim_source.self, capacity: 1) {
            unsafe $0.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
            unsafe $0.pointee.tag = g_source_add_unix_fd(source, guest.descriptor, G_IO_IN)
        }
        unsafe g_source_attach(source, context)
    }

    deinit {
        unsafe g_source_destroy(source)
        unsafe g_source_unref(source)
    }

    private func prepare() -> Bool {
        preparations += 1
        return guest.prepare()
    }

    private func serve() {
        services += 1
        guest.serve()
    }

    private static func of(_ source: UnsafeMutablePointer<GSource>) -> GLibHost {
        unsafe source.withMemoryRebound(to: glib_shim_source.self, capacity: 1) {
            unsafe Unmanaged<GLibHost>.fromOpaque($0.pointee.owner).takeUnretainedValue()
        }
    }

    private static func isReadable(_ source: UnsafeMutablePointer<GSource>) -> Bool {
        unsafe source.withMemoryRebound(to: glib_shim_source.self, capacity: 1) {
            unsafe g_source_query_unix_fd(source, $0.pointee.tag).rawValue & G_IO_IN.rawValue != 0
        }
    }
}
