//! Writes the nasty files that were thought of rather than found: `cargo run --example by_hand`, into
//! `found/TARGET/`.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::encoding::encode_varint;
use rusqlite::Connection;
use tracecard_fuzz::message::{Message, block, with_length};
use tracecard_fuzz::report::{Block, Report, assemble};

const HEAD: &str = r#"{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":2}"#;

fn main() -> io::Result<()> {
    chrome_json()?;
    packed()?;
    reports()?;
    exports().map_err(io::Error::other)
}

fn chrome_json() -> io::Result<()> {
    let write = |name: &str, text: &str| write("chrome_json", name, text.as_bytes());
    // A reader that recurses runs out of stack.
    write("deep_arrays.json", &format!(r#"{HEAD},{{"args":{}"#, "[".repeat(60_000)))?;
    write("deep_objects.json", &format!("{HEAD},{}", r#"{"a":"#.repeat(20_000)))?;
    let times = ["1e308", "-1e308", "9223372036854775807", "-9223372036854775808", "0.1e-400", "1e400", "-0"];
    let events: Vec<String> = times
        .iter()
        .flat_map(|ts| times.iter().map(move |dur| (ts, dur)))
        .map(|(ts, dur)| format!(r#"{{"ph":"X","name":"n","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#))
        .collect();
    write("times_at_the_edges.json", &format!("{HEAD},{}]}}", events.join(",")))?;
    // Begins without ends, on one thread: each lies in all others.
    let begins = r#",{"ph":"B","name":"b","pid":1,"tid":1,"ts":3}"#.repeat(1_500);
    write("begins_without_ends.json", &format!("{HEAD}{begins}]}}"))?;
    write("ends_in_an_escape.json", &format!(r#"{HEAD},{{"ph":"X","name":"\u00"#))?;
    write("ends_in_the_head.json", r#"{"traceEvents":["#)?;
    // All that follows may be looked at anew for each of these.
    let repeated = |name: &str, start: &str, again: &str| {
        const BYTES: usize = 4 << 20;
        let text = format!("{start}{}", again.repeat(BYTES / again.len()));
        self::write("chrome_json", name, &gzip(text.as_bytes())?)
    };
    repeated("objects_behind_the_trace.json.gz", &format!("{HEAD}]}}"), "{}")?;
    repeated("events_without_a_phase.json.gz", HEAD, r#",{"name":~},{"name":"a"#)?;
    repeated("facts_that_are_no_json.json.gz", r#"{"schemaVersion":1,"#, r#""deviceProperties":[{"id":~,"#)?;
    let ids =
        r#",{"ph":"s","id":1,"ts":1,"pid":1,"tid":1},{"ph":"f","id":1,"ts":1,"pid":1,"tid":1}"#.repeat(400);
    write("flows_in_a_circle.json", &format!("{HEAD}{ids}]}}"))
}

fn packed() -> io::Result<()> {
    const BOMB_BYTES: u64 = 300 << 20;
    let write = |name: &str, bytes: &[u8]| write("packed", name, bytes);
    let bomb = io::Read::take(io::repeat(b' '), BOMB_BYTES);
    write("spaces_300_mib.zst", &zstd::encode_all(io::Read::chain(HEAD.as_bytes(), bomb), 19)?)?;
    // Each brace might begin an event.
    let bomb = io::Read::take(io::repeat(b'{'), BOMB_BYTES);
    write("braces_300_mib.zst", &zstd::encode_all(io::Read::chain(HEAD.as_bytes(), bomb), 19)?)?;
    // One event whose text never ends.
    let bomb = io::Read::take(io::repeat(b'x'), BOMB_BYTES);
    let start = format!(r#"{HEAD},{{"ph":"X","name":""#);
    write("one_event_of_300_mib.zst", &zstd::encode_all(io::Read::chain(start.as_bytes(), bomb), 19)?)?;
    let whole = gzip(format!("{HEAD}]}}").as_bytes())?;
    write("cut_in_the_head.gz", whole.get(..11).unwrap_or_default())?;
    write("cut_in_the_size.gz", whole.get(..whole.len() - 3).unwrap_or_default())?;
    write("ten_deep.gz", &(0..10).try_fold(whole.clone(), |inner, _| gzip(&inner))?)?;
    write("garbage_behind.gz", &[&whole[..], b"\x1f\x8b\x08\x04\xff\xff\xff\xff\xff\xff\xff\xff"].concat())?;
    // The end record of a zip archive: four billion members from the last byte on.
    let mut end = b"PK\x05\x06".to_vec();
    end.extend_from_slice(&[
        0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0,
    ]);
    write("too_many_members.zip", &end)
}

fn reports() -> io::Result<()> {
    let write = |target: &str, name: &str, bytes: &[u8]| write(target, name, bytes);
    let edges = [i64::MIN, -1, 0, 1, i64::MAX];
    let mut events = Vec::new();
    for start in edges {
        for end in edges {
            let thread = 1 << 48 | 100 << 24 | 100;
            let call =
                Message::default().int(1, start).int(2, end).int(3, 1).int(6, 0).int(7, 1).int(13, thread);
            events.push(Message::default().int(1, 48).message(108, &call));
            let kernel = Message::default().int(1, i64::MAX).int(10, -1).int(27, i64::MIN);
            let work =
                Message::default().int(1, start).int(2, end).int(3, end).int(7, 3).message(101, &kernel);
            events.push(Message::default().int(1, 79).message(107, &work));
            let range =
                Message::default().int(1, 59).int(2, start).int(10, end).int(9, start).bytes(7, b"\xff");
            events.push(Message::default().int(1, 59).message(102, &range));
        }
    }
    let blocks = vec![Block { events, generic: Vec::new() }];
    let texts = vec![b"a".to_vec(), b"\xff\xfe".to_vec()];
    let report = Report { blocks, texts, ..Report::default() };
    write("nsys_rep_events", "times_at_the_edges.nsys-rep", &report.to_bytes())?;
    // A million texts of no length take two bytes each, and LZ4 makes nothing of them.
    let report = Report { texts: vec![Vec::new(); 1 << 20], ..Report::default() };
    write("nsys_rep_events", "a_million_empty_texts.nsys-rep", &report.to_bytes())?;
    // A million events of no length.
    let events = vec![Message::default(); 1 << 20];
    let report = Report { blocks: vec![Block { events, generic: Vec::new() }], ..Report::default() };
    write("nsys_rep_events", "a_million_empty_events.nsys-rep", &report.to_bytes())?;

    let claim = |packed_bytes: u64, unpacked_bytes: u64| {
        let mut data = b"QDTEXT00".to_vec();
        with_length(&[], &mut data);
        with_length(&Message::default().int(1, 1).int(3, 1).0, &mut data);
        encode_varint(packed_bytes, &mut data);
        encode_varint(unpacked_bytes, &mut data);
        let texts_at = data.len() as i64;
        block(&Message::default().bytes(1, b"a").0, &mut data);
        with_length(&[], &mut data);
        let offsets = Message::default().bytes(1, b"lz4").int(2, texts_at - 8);
        let sections =
            [("Raw Sampling Data", data), ("Sampling Data Offsets", offsets.0), ("UI Data", Vec::new())];
        assemble("2026.1.1.204-261137176666v0", &sections)
    };
    let target = "nsys_rep_container";
    write(target, "block_of_16_eib.nsys-rep", &claim(u64::MAX, u64::MAX))?;
    write(target, "block_out_of_nothing.nsys-rep", &claim(0, 256 << 20))?;
    write(target, "no_sections.nsys-rep", &assemble("1", &[]))?;
    let mut own_end = assemble("1", &[]);
    let at = own_end.len() - 16;
    own_end.splice(at..at + 8, u64::MAX.to_le_bytes());
    write(target, "contents_behind_the_end.nsys-rep", &own_end)?;
    let long_version = format!("NVIDIA Tegra Profiler Report {}.", "2026@".repeat(1_500));
    write(target, "long_version.nsys-rep", long_version.as_bytes())?;
    write(target, "only_a_header.nsys-rep", b"NVIDIA Tegra Profiler Report 1.")
}

fn exports() -> rusqlite::Result<()> {
    const BASE: &str = "PRAGMA page_size = 1024;
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId,
            globalPid, demangledName, graphNodeId);";
    let write = |name: &str, sql: &str| -> rusqlite::Result<()> {
        let mut conn = Connection::open_in_memory()?;
        conn.execute_batch(&format!("{BASE}{sql}"))?;
        let bytes = conn.serialize("main")?.to_vec();
        write("nsys_sqlite", name, &bytes)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    };
    write(
        "times_at_the_edges.sqlite",
        "WITH edge (t) AS (VALUES (-9223372036854775808), (-1), (0), (9223372036854775807), (1e300), ('x'), (x'00'))
         INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT a.t, b.t, a.t, b.t, a.t, b.t, a.t, b.t, a.t
         FROM edge a, edge b;
         INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT start, end, 0, deviceId, contextId, streamId
         FROM CUPTI_ACTIVITY_KIND_KERNEL",
    )?;
    // Two rows at the ends of all row ids: a reader that walks the ids never ends.
    write(
        "row_ids_at_the_edges.sqlite",
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (rowid, start, end) VALUES (-9223372036854775808, 1, 2),
         (9223372036854775807, 3, 4);
         INSERT INTO StringIds VALUES (-9223372036854775808, 'a'), (9223372036854775807, 'b')",
    )?;
    // A chain that calls itself, and thousands of frames at one depth.
    write(
        "call_chains_in_a_circle.sqlite",
        "CREATE TABLE SAMPLING_CALLCHAINS (id, symbol, module, stackDepth);
         CREATE TABLE COMPOSITE_EVENTS (id, start, cpu, globalTid);
         INSERT INTO StringIds VALUES (1, 'f');
         WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
         INSERT INTO SAMPLING_CALLCHAINS SELECT 1, 1, 1, i % 2 * 9223372036854775807 FROM n;
         INSERT INTO COMPOSITE_EVENTS VALUES (1, 5, 0, 281476654432356), (1, 5, 0, 281476654432356)",
    )?;
    write(
        "a_table_that_runs_code.sqlite",
        "CREATE TABLE NVTX_EVENTS (start, end, eventType, text AS (abs(1)));
         INSERT INTO NVTX_EVENTS VALUES (1, 2, 59), (4, 5, 59);
         PRAGMA writable_schema = ON;
         UPDATE sqlite_master SET sql = replace(sql, 'abs(1)', 'abs(-9223372036854775808)');
         CREATE VIEW OSRT_API AS WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n)
             SELECT i AS start, i AS end FROM n",
    )
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn write(target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("found").join(target);
    std::fs::create_dir_all(&dir)?;
    std::fs::write(dir.join(name), bytes)
}
