//! Makes a report of odd events out of any bytes: known records with odd values, unknown ones, broken ones.

use crate::choices::Choices;
use crate::message::Message;
use crate::report::{Block, Report};

/// Payloads with their types and the fields that hold numbers of texts, processes, threads, or plain numbers.
const PAYLOADS: &[Payload] = &[
    Payload { kind: 48, field: 108, fields: CALL },
    Payload { kind: 47, field: 108, fields: CALL },
    Payload { kind: 59, field: 102, fields: NVTX },
    Payload {
        kind: 41,
        field: 106,
        fields: &[(1, Time), (3, Int), (4, Int), (5, Int), (6, Thread), (7, Int)],
    },
    Payload { kind: 31, field: 104, fields: SAMPLE },
    Payload { kind: 49, field: 110, fields: &[(2, Int), (3, Int), (4, Bytes), (5, Thread)] },
    Payload {
        kind: 27,
        field: 113,
        fields: &[(1, Time), (2, Thread), (5, Bytes), (6, Bytes), (7, Bytes), (9, Bytes)],
    },
    Payload { kind: 28, field: 109, fields: &[(1, Time), (2, Thread), (3, Bytes)] },
    Payload { kind: 117, field: 123, fields: &[(1, Time), (2, Int), (3, Int), (4, Thread)] },
    Payload { kind: 129, field: 129, fields: &[(1, Time), (2, Int)] },
];

/// What a field holds.
#[derive(Clone, Copy)]
enum Holds {
    Time,
    Thread,
    Text,
    Int,
    Bytes,
    Frames,
}
use Holds::{Bytes, Frames, Int, Text, Thread, Time};

type Fields = &'static [(u32, Holds)];

#[derive(Clone, Copy)]
struct Payload {
    kind: i64,
    field: u32,
    fields: Fields,
}

const CALL: Fields = &[
    (1, Time),
    (2, Time),
    (3, Int),
    (6, Int),
    (7, Text),
    (8, Int),
    (10, Int),
    (12, Text),
    (13, Thread),
    (15, Frames),
    (20, Int),
    (21, Int),
    (26, Int),
];

const NVTX: Fields = &[
    (1, Int),
    (2, Time),
    (4, Int),
    (5, Int),
    (6, Int),
    (7, Bytes),
    (8, Bytes),
    (9, Thread),
    (10, Time),
    (11, Thread),
    (12, Text),
    (13, Int),
];

const SAMPLE: Fields = &[(1, Time), (3, Int), (4, Frames), (5, Bytes), (6, Int), (11, Thread), (12, Int)];

const DEVICE_WORK: Fields =
    &[(1, Time), (2, Time), (3, Int), (4, Int), (5, Int), (6, Int), (8, Thread), (9, Int)];

/// Nested messages of device work: (type, field, fields with numbers up to, fields with texts up to).
const PARTS: &[(i64, u32, u32, u32)] = &[
    (79, 101, 36, 8),
    (80, 102, 17, 0),
    (80, 103, 8, 0),
    (106, 105, 4, 0),
    (127, 106, 2, 0),
    (130, 107, 2, 0),
];

/// Classes of calls that readers know, and some that they do not.
const CLASSES: &[i64] =
    &[0, 1, 27, 3, 103, 102, 28, 29, 48, 2, 5, 31, 32, 53, 54, 67, 77, 94, 95, 96, 7, 999];

/// Types of NVTX records.
const NVTX_KINDS: &[i64] = &[59, 60, 34, 75, 39, 33, 70, 71, 76, 35, 36, 37, 38];

/// Types of generic events: metrics of GPU 0 and 1, their ends, their lists, something else.
const GENERIC: i64 = 281_479_271_677_952;

/// A report out of any bytes.
pub fn report(bytes: &[u8]) -> Vec<u8> {
    let mut choices = Choices::new(bytes);
    let mut report = frame(&mut choices);
    report.blocks.push(Block::default());
    while choices.is_more() {
        if choices.one_in(32) {
            report.blocks.push(Block::default());
        }
        let Some(block) = report.blocks.last_mut() else { break };
        if choices.one_in(8) {
            block.generic.push(generic(&mut choices));
        } else {
            block.events.push(event(&mut choices));
        }
    }
    report.to_bytes()
}

/// All but the events.
fn frame(choices: &mut Choices<'_>) -> Report {
    let mut report = Report::default();
    let odd = choices.byte();
    // Sixteen texts, so that small numbers name one; some odd.
    const TEXTS: &[&[u8]] = &[b"", b"gemm", b"cudaLaunchKernel_v7000", b"aten::mm", b"\xff\xfe", b"metric %"];
    report.texts = (0..16).map(|idx| TEXTS.get(idx % TEXTS.len()).unwrap_or(&&b""[..]).to_vec()).collect();
    if odd & 1 != 0 {
        report.texts.push(choices.bytes(64).to_vec());
        for _ in 0..choices.below(4) {
            let thread = Message::default().int(2, choices.int()).int(3, 20).int(4, thread(choices));
            report.threads.push(thread);
        }
    }
    if odd & 2 != 0 {
        let mut machine = Message::default();
        for _ in 0..choices.below(3) {
            let gpu = (1..=44).fold(Message::default().bytes(2, b"GPU").int(15, 0), |gpu, field| {
                if field != 2 && choices.one_in(4) { gpu.int(field, choices.int()) } else { gpu }
            });
            let device = Message::default().int(1, choices.int()).int(2, choices.int()).int(3, choices.int());
            let vm = Message::default()
                .int(1, 1 << 48)
                .message(2, &Message::default().message(7, &gpu).message(9, &device).message(1, &gpu));
            machine = machine.message(1, &vm);
        }
        for field in [14, 15, 24] {
            let odd = (1..=9).fold(Message::default(), |all, field| all.int(field, choices.int()));
            machine = machine.message(field, &odd);
        }
        report.machine = machine.raw(choices.bytes(16));
    }
    if odd & 4 != 0 {
        let offset = choices.int().to_string();
        let entry = Message::default()
            .int(1, choices.int())
            .int(2, choices.int())
            .bytes(5, if choices.one_in(4) { choices.bytes(24) } else { offset.as_bytes() })
            .bytes(6, b"Offset");
        let entries = Message::default().message(1, &entry).message(1, &entry);
        report.session = Message::default()
            .message(16, &entries)
            .int(17, choices.int())
            .int(18, choices.int())
            .raw(choices.bytes(8));
    }
    if odd & 8 != 0 {
        report.clocks = Some(clocks(choices));
    }
    if odd & 16 != 0 {
        report.schemas = Some(Message::default().int(1, choices.int()));
        report.version = String::from_utf8_lossy(choices.bytes(20)).into_owned();
    }
    if odd & 0xc0 == 0xc0 {
        report.count_error = choices.int();
    }
    let n_kinds = choices.below(3) as i64 + 1;
    for kind in 0..n_kinds {
        let mut described = Message::default().int(1, GENERIC + kind).int(2, choices.int());
        for metric in 0..choices.below(6) as i64 {
            let (offset, size) =
                if choices.one_in(4) { (choices.int(), choices.int()) } else { (8 * metric, 8) };
            let text = if choices.one_in(8) { choices.int() } else { 5 };
            described = described.message(3, &Message::default().int(1, text).int(2, offset).int(3, size));
        }
        report.layout = report.layout.message(14, &described);
    }
    report
}

/// A graph of clocks, which may lead in a circle.
fn clocks(choices: &mut Choices<'_>) -> Message {
    let ids = [[1_u8; 16], [2; 16], [3; 16]];
    let mut nodes = Message::default();
    for id in &ids {
        nodes = nodes.message(1, &Message::default().bytes(1, id).int(2, [11, 14, 5, 12][choices.below(4)]));
    }
    let mut edges = Message::default();
    for _ in 0..choices.below(4) {
        let point = Message::default().int(1, choices.int()).int(2, choices.int());
        let slope = f64::from_bits(choices.int() as u64);
        let line = Message::default().message(1, &point).double(2, slope);
        let (from, to) = (ids[choices.below(3)], ids[choices.below(3)]);
        edges = edges.message(1, &Message::default().bytes(1, &from).bytes(2, &to).message(3, &line));
    }
    Message::default().message(1, &nodes).message(2, &edges)
}

fn event(choices: &mut Choices<'_>) -> Message {
    let message = match choices.below(16) {
        0..=6 => {
            let Some((kind, part, last, last_text)) = choices.one_of(PARTS) else {
                return Message::default();
            };
            let mut nested = Message::default();
            for field in 1..=last {
                if !choices.one_in(8) {
                    let text = i64::from(choices.byte() % 20);
                    nested = nested.int(field, if field <= last_text { text } else { choices.int() });
                }
            }
            let payload = fill(choices, DEVICE_WORK).int(7, 3).message(part, &nested);
            Message::default().int(1, kind).message(107, &payload)
        }
        7..=14 => {
            let Some(Payload { mut kind, field, fields }) = choices.one_of(PAYLOADS) else {
                return Message::default();
            };
            let mut payload = fill(choices, fields);
            if field == 108 {
                payload = payload.maybe(6, choices.one_of(CLASSES));
            } else if field == 102 {
                kind = choices.one_of(NVTX_KINDS).unwrap_or(kind);
                payload = payload.int(1, kind);
            }
            Message::default().int(1, kind).message(field, &payload)
        }
        // Something that no version writes.
        _ => Message::default()
            .int(1, choices.int())
            .bytes(u32::from(choices.byte()) + 1, choices.bytes(32))
            .bytes([101, 102, 104, 106, 107, 108, 110, 113][choices.below(8)], choices.bytes(32)),
    };
    if choices.one_in(32) { message.raw(choices.bytes(12)) } else { message }
}

fn fill(choices: &mut Choices<'_>, fields: Fields) -> Message {
    let start_ns = i64::from(choices.byte()) * 100;
    let mut message = Message::default();
    for (field, holds) in fields {
        if choices.one_in(10) {
            continue;
        }
        message = match holds {
            Time if choices.one_in(6) => message.int(*field, choices.int()),
            Time => message.int(*field, start_ns + i64::from(*field) * i64::from(choices.byte())),
            Thread => message.int(*field, thread(choices)),
            Text if choices.one_in(8) => message.int(*field, choices.int()),
            Text => message.int(*field, i64::from(choices.byte() % 17)),
            Int => message.int(*field, choices.int()),
            Bytes => message.bytes(*field, choices.bytes(24)),
            Frames => {
                let n = choices.below(5);
                (0..n).fold(message, |all, _| {
                    let frame =
                        Message::default().int(1, choices.int()).int(2, i64::from(choices.byte() % 17));
                    all.message(*field, &frame.int(8, choices.int()))
                })
            }
        };
    }
    message
}

/// A thread in nsys' packing; mostly of two processes.
fn thread(choices: &mut Choices<'_>) -> i64 {
    if choices.one_in(8) {
        return choices.int();
    }
    let (process, thread) = (i64::from(choices.byte() % 2), i64::from(choices.byte() % 4));
    1 << 48 | (100 + process) << 24 | (100 + thread)
}

fn generic(choices: &mut Choices<'_>) -> Message {
    const KINDS: &[i64] = &[0, 0, 0, 1, 2, 0x200, 0x300, 7];
    let kind = GENERIC + choices.one_of(KINDS).unwrap_or(0);
    let time = if choices.one_in(8) { choices.int() } else { i64::from(choices.byte()) * 1_000 };
    Message::default().int(1, kind).int(2, time).bytes(3, choices.bytes(48))
}
