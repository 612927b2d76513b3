//! Who may hold a connection: a share for those who have shown the token, and another for
//! those who have not, of whom the one who has been there longest makes room for the next.
//! So connections that say nothing, or half of something, keep nobody out who has the token.
//!
//! Pure: connections are numbers here, and what is dropped is returned.

use std::collections::{BTreeSet, VecDeque};

/// Connections of those who have shown the token.
pub(crate) const KNOWN_MAX: usize = 64;
/// Connections of those who have not. Many, as one that has the token, too, begins here, and
/// must have time to show it while a crowd comes.
pub(crate) const STRANGERS_MAX: usize = 256;

/// Connections that there are.
#[derive(Debug, Default)]
pub(crate) struct Seats {
    /// Number of the next.
    next: u64,
    /// In the order in which they came.
    strangers: VecDeque<u64>,
    known: BTreeSet<u64>,
}

impl Seats {
    /// A new connection: its number, and which one is to be dropped for it.
    pub(crate) fn take(&mut self) -> (u64, Option<u64>) {
        let dropped = match self.strangers.len() >= STRANGERS_MAX {
            true => self.drop_oldest(),
            false => None,
        };
        let number = self.next;
        self.next += 1;
        self.strangers.push_back(number);
        (number, dropped)
    }

    /// The stranger who has been there longest has to go.
    pub(crate) fn drop_oldest(&mut self) -> Option<u64> {
        self.strangers.pop_front()
    }

    /// A connection has shown the token: it will not be dropped. Where too many have, it
    /// stays among the strangers.
    pub(crate) fn shows_token(&mut self, number: u64) {
        if self.known.len() >= KNOWN_MAX {
            return;
        }
        if let Ok(at) = self.strangers.binary_search(&number) {
            self.strangers.remove(at);
            self.known.insert(number);
        }
    }

    /// A connection has ended.
    pub(crate) fn leave(&mut self, number: u64) {
        self.known.remove(&number);
        if let Ok(at) = self.strangers.binary_search(&number) {
            self.strangers.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_stranger_makes_room_and_who_has_the_token_stays() {
        let mut seats = Seats::default();
        let (owner, _) = seats.take();
        seats.shows_token(owner);
        let crowd: Vec<u64> = (0..STRANGERS_MAX).map(|_| seats.take().0).collect();
        for expected in &crowd {
            assert_eq!(seats.take().1, Some(*expected));
        }
        // One in the middle of a crowd has time to show it.
        let (late, _) = seats.take();
        for _ in 1..STRANGERS_MAX {
            assert_ne!(seats.take().1, Some(late));
        }
        seats.shows_token(late);
        for _ in 0..2 * STRANGERS_MAX {
            let (_, dropped) = seats.take();
            assert!(dropped.is_none_or(|number| number != late && number != owner));
        }
    }

    #[test]
    fn who_leaves_makes_room() {
        let mut seats = Seats::default();
        let all: Vec<u64> = (0..STRANGERS_MAX).map(|_| seats.take().0).collect();
        seats.leave(all[7]);
        assert_eq!(seats.take().1, None);
        assert_eq!(seats.take().1, Some(all[0]));
        // Whoever is gone shows nothing any more.
        seats.shows_token(all[0]);
        assert_eq!(seats.known.len(), 0);
    }

    #[test]
    fn the_known_are_bounded_and_the_next_of_them_stay_strangers() {
        let mut seats = Seats::default();
        let known: Vec<u64> = (0..KNOWN_MAX).map(|_| seats.take().0).collect();
        known.iter().for_each(|number| seats.shows_token(*number));
        let (more, _) = seats.take();
        seats.shows_token(more);
        assert_eq!(seats.drop_oldest(), Some(more));
        assert_eq!(seats.drop_oldest(), None);
        seats.leave(known[0]);
        let (next, _) = seats.take();
        seats.shows_token(next);
        assert_eq!(seats.drop_oldest(), None);
    }
}
