//! A value that is computed again only when what it depends on has changed.

/// The last value with the key it was computed for.
#[derive(Clone, Debug)]
pub struct Memo<K, V>(Option<(K, V)>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: PartialEq, V> Memo<K, V> {
    /// The value for this key, computed when the last one was for another.
    pub fn get(&mut self, key: K, compute: impl FnOnce(&K) -> V) -> &V {
        if !self.is_for(&key) {
            let value = compute(&key);
            self.0 = Some((key, value));
        }
        match &self.0 {
            Some((_, value)) => value,
            None => unreachable!("it was set above"),
        }
    }

    /// Is the kept value that of this key?
    pub fn is_for(&self, key: &K) -> bool {
        self.0.as_ref().is_some_and(|(kept, _)| kept == key)
    }

    /// Keep a value that was computed elsewhere, e.g. in a job.
    pub fn set(&mut self, key: K, value: V) {
        self.0 = Some((key, value));
    }

    /// As [`Self::last`], with the key it was computed for.
    pub fn last_with_key(&self) -> Option<(&K, &V)> {
        self.0.as_ref().map(|(key, value)| (key, value))
    }

    /// The last value, whatever its key: what stays on screen while a new one is made.
    pub fn last(&self) -> Option<&V> {
        self.0.as_ref().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_once_a_key() {
        let mut n_computed = 0;
        let mut memo = Memo::default();
        for key in [1, 1, 2, 2, 1] {
            memo.get(key, |key| {
                n_computed += 1;
                key * 10
            });
        }
        assert_eq!((n_computed, memo.last()), (3, Some(&10)));
        assert!(memo.is_for(&1) && !memo.is_for(&2));
    }
}
