import Glibc

/// The terminal that the program writes to.
enum Terminal {
    /// The size of the terminal, in characters.
    ///
    /// If the output is not a terminal, the width is 200 columns, so that long lines are not cut off.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        // Safe: the kernel only writes to `size`, a local variable.
        if unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
            return (Int(size.ws_col), Int(size.ws_row))
        }
        return (200, 1000)
    }
}
