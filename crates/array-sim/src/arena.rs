//! A slab of items of one type, addressed by index: freed slots are reused, so a steady load
//! allocates nothing.

/// Items by index.
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

    /// Stores an item. Indices are below 2^32: more operations in flight would need hundreds of
    /// gigabytes.
    pub(crate) fn insert(&mut self, item: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self.items[index as usize] = item;
            return index;
        }
        self.items.push(item);
        (self.items.len() - 1) as u32
    }

    /// Removes and returns an item, and frees its slot.
    pub(crate) fn remove(&mut self, index: u32) -> T {
        let item = self.items[index as usize];
        self.free.push(index);
        item
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
