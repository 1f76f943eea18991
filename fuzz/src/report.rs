//! Writes the container of an Nsight Systems report around given parts, with the right lengths and counts.
//!
//! ```text
//! header   data: magic, session, layout, event blocks, texts, threads, machine   offsets, version, clocks
//! table of contents   its offset   "U3w[END]"
//! ```

use crate::message::{Message, block, with_length};

/// The parts of a report.
#[derive(Clone, Debug)]
pub struct Report {
    /// As in the header: `2026.1.1.204-261137176666v0`.
    pub version: String,
    /// Message about the session.
    pub session: Message,
    /// What the layout message says beside the counts: descriptions of metrics.
    pub layout: Message,
    /// Blocks of events.
    pub blocks: Vec<Block>,
    /// Texts by number.
    pub texts: Vec<Vec<u8>>,
    /// Names of threads.
    pub threads: Vec<Message>,
    /// Message about GPUs, contexts, streams.
    pub machine: Message,
    /// Schemas of NVTX payloads: a last block.
    pub schemas: Option<Message>,
    /// Section `Time Conversion Data`.
    pub clocks: Option<Message>,
    /// Added to the count of events: the file lies when this is not 0.
    pub count_error: i64,
}

/// Events that are packed together.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Events.
    pub events: Vec<Message>,
    /// Generic events: samples of GPU metrics.
    pub generic: Vec<Message>,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            version: "2026.1.1.204-261137176666v0".to_owned(),
            session: Message::default().int(17, 1_000).int(18, 2_000_000),
            layout: Message::default(),
            blocks: Vec::new(),
            texts: Vec::new(),
            threads: Vec::new(),
            machine: Message::default(),
            schemas: None,
            clocks: None,
            count_error: 0,
        }
    }
}

impl Report {
    /// The file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let count = |of: fn(&Block) -> usize| self.blocks.iter().map(of).sum::<usize>() as i64;
        let layout = Message::default()
            .int(1, count(|block| block.events.len()).wrapping_add(self.count_error))
            .int(3, self.texts.len() as i64)
            .int(5, self.threads.len() as i64)
            .bytes(9, b"lz4")
            .int(15, count(|block| block.generic.len()))
            .raw(&self.layout.0);
        let mut data = b"QDTEXT00".to_vec();
        with_length(&self.session.0, &mut data);
        with_length(&layout.0, &mut data);
        for Block { events, generic } in &self.blocks {
            let message = events.iter().fold(Message::default(), |all, event| all.message(1, event));
            let message = generic.iter().fold(message, |all, event| all.message(2, event));
            block(&message.0, &mut data);
        }
        let texts_at = data.len() as i64;
        let texts = self.texts.iter().fold(Message::default(), |all, text| all.bytes(1, text));
        block(&texts.0, &mut data);
        if !self.threads.is_empty() {
            let threads = self.threads.iter().fold(Message::default(), |all, one| all.message(1, one));
            with_length(&threads.0, &mut data);
        }
        with_length(&self.machine.0, &mut data);
        if let Some(schemas) = &self.schemas {
            block(&schemas.0, &mut data);
        }

        let offsets = Message::default().bytes(1, b"lz4").int(2, texts_at - 8).int(3, 0);
        let ui = Message::default().bytes(6, self.version.as_bytes()).bytes(7, self.version.as_bytes());
        let mut sections =
            vec![("Raw Sampling Data", data), ("Sampling Data Offsets", offsets.0), ("UI Data", ui.0)];
        sections.extend(self.clocks.iter().map(|clocks| ("Time Conversion Data", clocks.0.clone())));
        assemble(&self.version, &sections)
    }
}

/// Header, sections, table of contents, end mark.
pub fn assemble(version: &str, sections: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut out = format!("NVIDIA Tegra Profiler Report {}.", version.replace('.', "@")).into_bytes();
    let mut contents = Message::default();
    for (name, bytes) in sections {
        let entry =
            Message::default().bytes(1, name.as_bytes()).int(2, out.len() as i64).int(3, bytes.len() as i64);
        contents = contents.message(1, &entry);
        out.extend_from_slice(bytes);
    }
    let contents_at = out.len() as u64;
    out.extend_from_slice(&contents.0);
    out.extend_from_slice(&contents_at.to_le_bytes());
    out.extend_from_slice(b"U3w[END]");
    out
}
