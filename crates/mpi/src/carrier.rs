//! How messages travel: the one thing that differs between MPI and the tests.

/// Sends and receives without ever waiting: who waits for something sleeps between two
/// looks, because a process that waits inside of MPI keeps a processor busy.
pub trait Carrier {
    /// Which of the ranks this is, from 0.
    fn rank(&self) -> u32;

    /// How many there are.
    fn size(&self) -> u32;

    /// Sends bytes to a rank. They are copied; nothing is waited for.
    fn send(&self, to: u32, bytes: Vec<u8>);

    /// The next message that has come, and from whom. Messages of one rank come in the
    /// order in which they were sent.
    fn receive(&self) -> Option<(u32, Vec<u8>)>;
}
