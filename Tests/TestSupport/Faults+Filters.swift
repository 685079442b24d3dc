internal import CFaults
internal import Glibc

extension Faults {
    /// Installs a filter that refuses `membarrier` to all threads of this process, and that cannot be removed.
    ///
    /// - Returns: The errno of the call that failed, or 0.
    public static func refuseMembarrier() -> CInt { faults_refuse_membarrier() }
}
