//! Wall clock of the session start.
//!
//! Since 2025.6 a section holds a graph of clocks: nodes with a kind, edges that tie one instant of two
//! clocks. Before, the session message lists offsets between numbered clocks.

use super::message::{Damaged, Value, each_field, field, nested, repeated};

/// Kind of the UTC clock in the graph.
const UTC_KIND: i64 = 11;

/// Numbers of clocks in the list of offsets.
const SESSION_CLOCK: i64 = 1;
const UTC_CLOCK: i64 = 9;

/// Clocks and ties between clocks that are looked at: real reports have about ten.
const MAX_CLOCKS: usize = 256;

/// ns since 1970 UTC at time 0; `None` where the report does not say.
pub(super) fn start_unix_ns(session: &[u8], clocks: &[u8]) -> Option<i64> {
    let start = field(session, 17).ok()??.int()?;
    let by_graph = from_graph(clocks, start).ok().flatten();
    by_graph.or_else(|| from_offsets(session, start).ok().flatten()).filter(|ns| 0 < *ns)
}

/// An edge from UTC says which instant x of UTC is the instant y of the target's clock.
fn from_graph(section: &[u8], start: i64) -> Result<Option<i64>, Damaged> {
    let mut utc_ids = Vec::new();
    for node in repeated(nested(section, &[1])?, 1)?.into_iter().take(MAX_CLOCKS) {
        if field(node, 2)?.and_then(Value::int) == Some(UTC_KIND) {
            utc_ids.extend(field(node, 1)?.and_then(Value::bytes));
        }
    }
    for edge in repeated(nested(section, &[2])?, 1)?.into_iter().take(MAX_CLOCKS) {
        let from = field(edge, 1)?.and_then(Value::bytes);
        if !from.is_some_and(|from| utc_ids.contains(&from)) {
            continue;
        }
        let point = nested(edge, &[3, 1])?;
        let number = |wanted| field(point, wanted).map(|value| value.and_then(Value::int));
        if let (Some(x), Some(y)) = (number(1)?, number(2)?) {
            return Ok(start.checked_sub(y).and_then(|since| since.checked_add(x)));
        }
    }
    Ok(None)
}

/// Follow offsets from the session's clock to UTC: the value of `to` is that of `from` less the offset.
fn from_offsets(session: &[u8], start: i64) -> Result<Option<i64>, Damaged> {
    struct Offset {
        from: i64,
        to: i64,
        offset_ns: i64,
    }
    let mut offsets = Vec::new();
    for entry in repeated(nested(session, &[16])?, 1)? {
        let mut row = Offset { from: 0, to: 0, offset_ns: 0 };
        let mut text = None;
        each_field(entry, |number, value| match (number, value) {
            (1, Value::Int(clock)) => row.from = clock,
            (2, Value::Int(clock)) => row.to = clock,
            (5, Value::Bytes(digits)) => text = std::str::from_utf8(digits).ok(),
            _ => {}
        })?;
        let offset_ns = text.and_then(|text| {
            let unsigned = text.parse::<u64>().map(|value| value as i64);
            text.parse::<i64>().or(unsigned).ok()
        });
        if let Some(offset_ns) = offset_ns {
            offsets.push(Offset { offset_ns, ..row });
        }
    }
    if MAX_CLOCKS < offsets.len() {
        return Err(Damaged);
    }
    let mut known = vec![(SESSION_CLOCK, start)];
    let mut at = 0;
    while let Some((clock, value)) = known.get(at).copied() {
        if clock == UTC_CLOCK {
            return Ok(Some(value));
        }
        for row in &offsets {
            let next = match clock {
                clock if clock == row.from => (row.to, value.wrapping_sub(row.offset_ns)),
                clock if clock == row.to => (row.from, value.wrapping_add(row.offset_ns)),
                _ => continue,
            };
            if !known.iter().any(|(have, _)| *have == next.0) {
                known.push(next);
            }
        }
        at += 1;
    }
    Ok(None)
}
