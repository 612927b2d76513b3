//! Limits connections: a share for clients that have presented the token, and another for
//! those that have not, of which the oldest is dropped for the next.
//! So silent or half-open connections cannot lock out a client that has the token.
//!
//! Pure: connections are numbers here, and the one to drop is returned.

use std::collections::{BTreeSet, VecDeque};

/// Maximum connections that have presented the token.
pub(crate) const KNOWN_MAX: usize = 64;
/// Maximum connections that have not. Large, since clients with the token begin here, too, and
/// must have time to present it during a flood of connections.
pub(crate) const STRANGERS_MAX: usize = 256;

/// The current connections.
#[derive(Debug, Default)]
pub(crate) struct ConnectionSlots {
    /// Number of the next connection.
    next: u64,
    /// In order of arrival.
    unauthenticated: VecDeque<u64>,
    known: BTreeSet<u64>,
}

impl ConnectionSlots {
    /// Registers a connection; returns its number, and the number of one to drop for it.
    pub(crate) fn take(&mut self) -> (u64, Option<u64>) {
        let dropped = match self.unauthenticated.len() >= STRANGERS_MAX {
            true => self.drop_oldest(),
            false => None,
        };
        let number = self.next;
        self.next += 1;
        self.unauthenticated.push_back(number);
        (number, dropped)
    }

    /// Removes the oldest unauthenticated connection.
    pub(crate) fn drop_oldest(&mut self) -> Option<u64> {
        self.unauthenticated.pop_front()
    }

    /// A connection has presented the token and will not be dropped. If too many have, it
    /// stays among the unauthenticated ones.
    pub(crate) fn shows_token(&mut self, number: u64) {
        if self.known.len() >= KNOWN_MAX {
            return;
        }
        if let Ok(at) = self.unauthenticated.binary_search(&number) {
            self.unauthenticated.remove(at);
            self.known.insert(number);
        }
    }

    /// A connection has ended.
    pub(crate) fn leave(&mut self, number: u64) {
        self.known.remove(&number);
        if let Ok(at) = self.unauthenticated.binary_search(&number) {
            self.unauthenticated.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_stranger_makes_room_and_who_has_the_token_stays() {
        let mut slots = ConnectionSlots::default();
        let (owner, _) = slots.take();
        slots.shows_token(owner);
        let connections: Vec<u64> = (0..STRANGERS_MAX).map(|_| slots.take().0).collect();
        for expected in &connections {
            assert_eq!(slots.take().1, Some(*expected));
        }
        // A client in the middle of a flood has time to present it.
        let (late, _) = slots.take();
        for _ in 1..STRANGERS_MAX {
            assert_ne!(slots.take().1, Some(late));
        }
        slots.shows_token(late);
        for _ in 0..2 * STRANGERS_MAX {
            let (_, dropped) = slots.take();
            assert!(dropped.is_none_or(|number| number != late && number != owner));
        }
    }

    #[test]
    fn who_leaves_makes_room() {
        let mut slots = ConnectionSlots::default();
        let all: Vec<u64> = (0..STRANGERS_MAX).map(|_| slots.take().0).collect();
        slots.leave(all[7]);
        assert_eq!(slots.take().1, None);
        assert_eq!(slots.take().1, Some(all[0]));
        // A closed connection can no longer present it.
        slots.shows_token(all[0]);
        assert_eq!(slots.known.len(), 0);
    }

    #[test]
    fn the_known_are_bounded_and_the_next_of_them_stay_strangers() {
        let mut slots = ConnectionSlots::default();
        let known: Vec<u64> = (0..KNOWN_MAX).map(|_| slots.take().0).collect();
        known.iter().for_each(|number| slots.shows_token(*number));
        let (more, _) = slots.take();
        slots.shows_token(more);
        assert_eq!(slots.drop_oldest(), Some(more));
        assert_eq!(slots.drop_oldest(), None);
        slots.leave(known[0]);
        let (next, _) = slots.take();
        slots.shows_token(next);
        assert_eq!(slots.drop_oldest(), None);
    }
}
