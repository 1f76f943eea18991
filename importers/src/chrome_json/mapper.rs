//! Events → rows of a fragment: which kind goes where, and the tracks and names all kinds need.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use tracecard_model::{DeviceId, NameId, Severity, TrackFamily, TrackId, TrackKey};

use super::event::Event;
use super::fragment::Fragment;
use super::number;
use super::scan::{RawStr, Value};
use super::string::{Backslashes, decode};

/// Newer Kineto puts synchronisation records of a stream on a thread of this number above it.
const SYNC_THREAD_OFFSET: i64 = 1_000_000;

/// Turns the events of one block into rows.
#[derive(Debug)]
pub(super) struct Mapper<'a, 'f> {
    pub(super) fragment: &'f mut Fragment,
    pub(super) backslashes: Backslashes,
    /// Tracks met in this block, by family and the raw ids: most events find theirs without an allocation.
    tracks: FxHashMap<RawKey<'a>, TrackId>,
    odd_names: FxHashMap<NameId, Oddity>,
    /// For compacting argument texts.
    pub(super) buffer: Vec<u8>,
}

/// What tells tracks of one file apart: family, process, thread or device, stream, as they stand in the file.
type RawKey<'a> = (TrackFamily, &'a [u8], &'a [u8], &'a [u8]);

/// What is odd about a name although its bytes are as JSON wants them.
#[derive(Clone, Copy, Debug)]
enum Oddity {
    ControlCharacter,
    HalfPair,
}

impl Oddity {
    /// Of a name that was decoded from this.
    fn of(text: &str, raw: RawStr<'_>) -> Option<Self> {
        if text.bytes().any(|b| b < b' ') && !raw.bytes.iter().any(|b| *b < b' ') {
            return Some(Self::ControlCharacter);
        }
        let is_new =
            text.contains(char::REPLACEMENT_CHARACTER) && !raw.bytes.windows(3).any(|w| w == b"\xef\xbf\xbd");
        (is_new && std::str::from_utf8(raw.bytes).is_ok()).then_some(Self::HalfPair)
    }

    fn issue(self) -> (&'static str, &'static str) {
        match self {
            Self::ControlCharacter => (
                "escaped_control_characters",
                "names hold \\n, \\t or other escapes of control characters, which are decoded; \
                 torch before 2.1 on Windows wrote paths that look like that",
            ),
            Self::HalfPair => {
                ("lone_surrogates", "names hold \\u escapes that are half a character; they show as \u{fffd}")
            }
        }
    }
}

impl<'a, 'f> Mapper<'a, 'f> {
    pub(super) fn new(fragment: &'f mut Fragment, backslashes: Backslashes) -> Self {
        Self {
            fragment,
            backslashes,
            tracks: FxHashMap::default(),
            odd_names: FxHashMap::default(),
            buffer: Vec::new(),
        }
    }

    /// Add what an event says. `offset` is its place in the unpacked file.
    pub(super) fn push(&mut self, event: &Event<'a>, offset: i64) {
        self.fragment.found.n_events += u64::from(event.phase != 0);
        match event.phase {
            b'X' => self.push_slice(event, offset),
            b'M' => self.push_metadata(event),
            b's' | b'f' => self.push_flow(event),
            b'i' | b'I' | b'R' | b'n' => self.push_instant(event),
            b'C' => self.push_counter(event),
            b'B' | b'E' | b'b' | b'e' | b'S' | b'F' => self.push_half(event, offset),
            // A step of a flow or of an asynchronous slice adds nothing to its ends.
            b't' | b'T' | b'p' => {}
            phase => {
                let text = "events of kinds that are not shown (samples, objects, memory dumps) are left out";
                self.fragment.builder.issues.count(Severity::Info, "events_ignored", text, || {
                    let phase = if phase == 0 { "none".to_owned() } else { char::from(phase).to_string() };
                    format!("phase {phase}, at byte {offset}")
                });
            }
        }
    }

    /// The time of an event in ns; counted when it has none.
    pub(super) fn time_ns(&mut self, event: &Event<'a>) -> Option<i64> {
        let time_ns = number::ns(&event.ts);
        if let (Value::Text(raw), Some(_)) = (&event.ts, time_ns) {
            let text = "times are texts; they are read as numbers";
            let issues = &mut self.fragment.builder.issues;
            issues.count(Severity::Info, "times_as_text", text, || String::from_utf8_lossy(raw.bytes).into());
        }
        match time_ns {
            Some(time_ns) => self.fragment.found.has_ns |= time_ns % 1000 != 0,
            None => {
                let name = self.text(event.name);
                self.fragment.count_without_time(1, || name.into_owned());
            }
        }
        time_ns
    }

    /// A string as text.
    pub(super) fn text(&self, raw: RawStr<'a>) -> Cow<'a, str> {
        decode(raw, self.backslashes)
    }

    /// A name, interned; counts the events whose name is odd.
    pub(super) fn name(&mut self, raw: RawStr<'a>) -> NameId {
        let text = self.text(raw);
        let builder = &mut self.fragment.builder;
        let n_names = builder.names.len();
        let id = builder.names.intern(&text);
        if id.idx() == n_names
            && matches!(text, Cow::Owned(_))
            && let Some(oddity) = Oddity::of(&text, raw)
        {
            self.odd_names.insert(id, oddity);
        }
        if !self.odd_names.is_empty()
            && let Some(oddity) = self.odd_names.get(&id)
        {
            let (code, about) = oddity.issue();
            builder.issues.count(Severity::Info, code, about, || text.escape_debug().to_string());
        }
        id
    }

    /// A process or thread id as text: profilers write numbers, texts, or nothing.
    pub(super) fn label(&mut self, value: &Value<'a>) -> Cow<'a, str> {
        match value {
            Value::Text(raw) if !raw.bytes.is_empty() => self.text(*raw),
            Value::Number(bytes) => String::from_utf8_lossy(bytes),
            _ => Cow::Borrowed("unknown"),
        }
    }

    /// The track of this family of the event's thread.
    pub(super) fn thread_track(&mut self, family: TrackFamily, event: &Event<'a>) -> TrackId {
        let raw_key = (family, raw(&event.pid), raw(&event.tid), [].as_slice());
        if let Some(track) = self.tracks.get(&raw_key) {
            return *track;
        }
        let (pid, tid) = (self.label(&event.pid), self.label(&event.tid));
        let builder = &mut self.fragment.builder;
        let process = builder.process(&pid);
        let track = builder.track(TrackKey::thread(family, process, &*tid));
        if family == TrackFamily::Ops {
            self.fragment.found.op_threads.insert((pid.into_owned(), tid.into_owned()));
        }
        self.tracks.insert(raw_key, track);
        track
    }

    /// The track of this family of a stream. Its process is found when the whole file is known.
    pub(super) fn stream_track(
        &mut self,
        family: TrackFamily,
        event: &Event<'a>,
        device: Value<'a>,
        stream: Value<'a>,
    ) -> TrackId {
        let raw_key = (family, raw(&event.pid), raw(&device), raw(&stream));
        if let Some(track) = self.tracks.get(&raw_key) {
            return *track;
        }
        let is_thread = raw(&stream) == raw(&event.tid);
        let device = Some(self.device(&event.pid, &device));
        let mut stream = stream_id(&stream);
        if family == TrackFamily::Sync && is_thread {
            stream = stream.map(|id| if SYNC_THREAD_OFFSET <= id { id - SYNC_THREAD_OFFSET } else { id });
        }
        let key =
            TrackKey { family, process: None, thread: None, device, context: None, stream, label: None };
        let track = self.fragment.builder.track(key);
        self.tracks.insert(raw_key, track);
        track
    }

    /// The device of an event: `args.device`, else the process id, which Kineto sets to the same number.
    /// Files merged from several ranks have other process ids; their devices are kept apart.
    pub(super) fn device(&mut self, pid: &Value<'a>, device: &Value<'a>) -> DeviceId {
        let pid = self.label(pid);
        match device {
            Value::Number(_) | Value::Text(_) => {
                let device = self.label(device);
                let key = if device == pid { pid } else { Cow::Owned(format!("{pid}/{device}")) };
                self.fragment.builder.device(&key, device_number(&device))
            }
            _ => self.fragment.builder.device(&pid, device_number(&pid)),
        }
    }
}

impl Fragment {
    /// Note events that have no time and so no place in the trace.
    pub(super) fn count_without_time(&mut self, n: u64, example: impl FnOnce() -> String) {
        let text = "events have no time; they are left out of every lane and number";
        self.builder.issues.count_n(n, Severity::DataLoss, "events_without_time", text, example);
    }
}

/// What a value is known by inside one file.
pub(super) fn raw<'a>(value: &Value<'a>) -> &'a [u8] {
    match value {
        Value::Text(text) => text.bytes,
        Value::Number(bytes) | Value::Word(bytes) | Value::List(bytes) | Value::Object(bytes) => bytes,
        Value::Missing => &[],
    }
}

/// The number in `7`, `"stream 7"` or a 64-bit handle. `None` where the tool says "no stream" (−1).
pub(super) fn stream_id(value: &Value<'_>) -> Option<i64> {
    /// −1 as CUPTI's unsigned 32-bit number.
    const NO_STREAM: i64 = 0xffff_ffff;
    let id = number::id(value).or_else(|| match value {
        Value::Text(text) => trailing_number(text.bytes),
        _ => None,
    })?;
    (id != -1 && id != NO_STREAM).then_some(id)
}

fn trailing_number(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii_end();
    let n_digits = text.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    number::integer(&Value::Number(text.get(text.len() - n_digits..)?))
}

/// The number of a device from its name: `3`, `GPU 3`; 0 where there is none.
pub(super) fn device_number(text: &str) -> u32 {
    trailing_number(text.as_bytes()).and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}
