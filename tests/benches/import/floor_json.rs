//! The floor of chrome traces: serde_json on one thread, into borrowed fields and raw `args`, nothing kept; and
//! gzip unpacked, nothing read.

use std::error::Error;
use std::fmt;
use std::fs;
use std::hint::black_box;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The fields that the importer wants of an event. Texts that may hold escapes stay raw.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    ph: Option<&'a str>,
    cat: Option<&'a str>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    pid: Option<&'a RawValue>,
    #[serde(borrow)]
    tid: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    ts: Option<f64>,
    dur: Option<f64>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

impl Event<'_> {
    /// Looks at every field, so that none is optimised away.
    fn weight(&self) -> usize {
        let raw = |value: Option<&RawValue>| value.map_or(0, |value| value.get().len());
        let text = |value: Option<&str>| value.map_or(0, str::len);
        let texts = text(self.ph) + text(self.cat);
        let raws = raw(self.name) + raw(self.pid) + raw(self.tid) + raw(self.id) + raw(self.args);
        texts + raws + (self.ts.unwrap_or(0.0) + self.dur.unwrap_or(0.0)) as usize % 2
    }
}

#[derive(Deserialize)]
struct File {
    #[serde(rename = "traceEvents")]
    events: Weights,
}

/// The sum over all events, made while they pass by.
struct Weights(usize);

impl<'de> Deserialize<'de> for Weights {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Events;
        impl<'de> Visitor<'de> for Events {
            type Value = Weights;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of events")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Weights, A::Error> {
                let mut sum = 0;
                while let Some(event) = list.next_element::<Event<'de>>()? {
                    sum += event.weight();
                }
                Ok(Weights(sum))
            }
        }
        deserializer.deserialize_seq(Events)
    }
}

/// Scan all events; fetching the file is part of it, as it is for the importer.
pub(crate) fn scan(json: &Path) -> Result<(), Box<dyn Error + Send + Sync>> {
    let bytes = fs::read(json)?;
    let file: File = serde_json::from_slice(&bytes)?;
    black_box(file.events.0);
    Ok(())
}

/// Unpack a gzip file.
pub(crate) fn unpack(gz: &Path) -> Result<(), Box<dyn Error + Send + Sync>> {
    const BUFFER_BYTES: usize = 1 << 18;
    let file = std::io::BufReader::with_capacity(BUFFER_BYTES, fs::File::open(gz)?);
    let mut unpacked = flate2::read::MultiGzDecoder::new(file);
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut sum = 0;
    loop {
        let n = unpacked.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        sum += n;
    }
    black_box(sum);
    Ok(())
}
