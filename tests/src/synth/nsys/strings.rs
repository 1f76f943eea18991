//! The StringIds table: strings that other tables name by number.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::synth::SynthError;

/// Strings in the order of first use.
#[derive(Debug, Default)]
pub(super) struct Strings {
    id_from_text: HashMap<&'static str, i64>,
    texts: Vec<&'static str>,
}

/// Ids start here: the profiler's own strings come first in a real export.
const FIRST_ID: i64 = 28;

impl Strings {
    pub(super) fn id(&mut self, text: &'static str) -> i64 {
        if let Some(id) = self.id_from_text.get(text) {
            return *id;
        }
        let id = FIRST_ID + self.texts.len() as i64;
        self.id_from_text.insert(text, id);
        self.texts.push(text);
        id
    }

    pub(super) fn write(&self, conn: &Connection) -> Result<(), SynthError> {
        let mut insert = conn.prepare("INSERT INTO StringIds VALUES (?1, ?2)")?;
        for (id, text) in (FIRST_ID..).zip(&self.texts) {
            insert.execute((id, text))?;
        }
        Ok(())
    }
}
