//! Message transport: the only part that differs between MPI and the tests.

/// Sends and receives without blocking: a caller that waits sleeps between
/// polls, because a process that waits inside MPI keeps a processor busy.
pub trait Carrier {
    /// This rank's number, from 0.
    fn rank(&self) -> u32;

    /// The number of ranks.
    fn size(&self) -> u32;

    /// Sends a copy of bytes to a rank without blocking.
    fn send(&self, to: u32, bytes: Vec<u8>);

    /// The next received message and its sender. Messages from one rank arrive in the
    /// order in which they were sent.
    fn receive(&self) -> Option<(u32, Vec<u8>)>;
}
