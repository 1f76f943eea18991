//! Work done by all cores and taken in the order of its parts, so that nothing depends on which thread was
//! faster.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;

/// Finished parts that may wait for an earlier one, for each worker.
const WAITING_A_WORKER: usize = 2;

/// Call `work` for every part on all cores, each thread with a state of its own, and `take` what it returns,
/// in order, on this thread. The first error ends it.
pub(crate) fn in_order<S, T: Send, E: Send>(
    n_parts: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<T, E> + Sync,
    mut take: impl FnMut(T),
) -> Result<(), E> {
    let n_workers = rayon::current_num_threads().min(n_parts);
    let next = AtomicUsize::new(0);
    let is_stopped = AtomicBool::new(false);
    let mut failure = None;
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::sync_channel(n_workers * WAITING_A_WORKER);
        for _ in 0..n_workers {
            let (send, next, is_stopped, state, work) = (send.clone(), &next, &is_stopped, &state, &work);
            scope.spawn(move || {
                let mut state = state();
                loop {
                    let idx = next.fetch_add(1, Relaxed);
                    if n_parts <= idx || is_stopped.load(Relaxed) {
                        return;
                    }
                    // Nobody listens once it has failed.
                    if send.send((idx, work(&mut state, idx))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut waiting = BTreeMap::new();
        let mut n_taken = 0;
        for (idx, result) in receive {
            match result {
                Ok(part) => waiting.insert(idx, part),
                Err(error) => {
                    is_stopped.store(true, Relaxed);
                    failure = Some(error);
                    break;
                }
            };
            while let Some(part) = waiting.remove(&n_taken) {
                take(part);
                n_taken += 1;
            }
        }
    });
    failure.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_taken_in_order() {
        let mut taken = Vec::new();
        let work = |_: &mut (), idx: usize| {
            // Later parts are ready first.
            std::thread::sleep(std::time::Duration::from_micros(300 / (1 + idx as u64)));
            Ok::<_, ()>(idx)
        };
        assert_eq!(in_order(20, || (), work, |idx| taken.push(idx)), Ok(()));
        assert_eq!(taken, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn an_error_ends_it() {
        let work = |_: &mut (), idx: usize| if idx == 3 { Err(idx) } else { Ok(idx) };
        assert_eq!(in_order(1_000_000, || (), work, |_| {}), Err(3));
    }
}
