import Glibc

/// The terminal that the program writes to.
enum Terminal {
    /// The size of the terminal; 200 columns if the output is not a terminal, so that no line is cut short for a pipe.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        // Safe: the kernel fills our own value.
        if unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
            return (Int(size.ws_col), Int(size.ws_row))
        }
        return (200, 1000)
    }
}
