//! A slab of equal things addressed by index: freed places are used again, so
//! a steady load allocates nothing.

/// Things by index.
#[derive(Clone, Debug)]
pub(crate) struct Arena<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T: Copy> Arena<T> {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Arena {
            items: Vec::with_capacity(capacity),
            free: Vec::with_capacity(capacity),
        }
    }

    /// Stores an item. Indices are below 2^32: that many operations in flight
    /// would need hundreds of gigabytes for themselves.
    pub(crate) fn insert(&mut self, item: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self.items[index as usize] = item;
            return index;
        }
        self.items.push(item);
        (self.items.len() - 1) as u32
    }

    /// Gives an item's place back and returns it.
    pub(crate) fn remove(&mut self, index: u32) -> T {
        self.free.push(index);
        self.items[index as usize]
    }
}

impl<T> std::ops::Index<u32> for Arena<T> {
    type Output = T;
    fn index(&self, index: u32) -> &T {
        &self.items[index as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Arena<T> {
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.items[index as usize]
    }
}
