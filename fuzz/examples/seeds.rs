//! Writes small inputs to start from: `cargo run --example seeds`, into `corpus/TARGET/`.
//!
//! All are made here, from a fixed generator or by hand; none comes from a real trace.

use std::io;
use std::path::Path;

use tracecard_fuzz::input::make;
use tracecard_fuzz::packing::BOMB;

/// Lengths of the made-up bytes that makers turn into files.
const LENGTHS: &[usize] = &[0, 24, 96, 192, 384, 700, 1_200, 2_400];

const TRACES: &[&str] = &[
    r#"{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"GPU","numSms":132}],"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":10.5,"dur":5,"args":{"External id":1,"Input Dims":[[2,3],[3,4]],"Input type":["float","float"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":11,"dur":1.25,"args":{"correlation":7,"cbid":211}},
{"ph":"s","id":7,"pid":1,"tid":1,"ts":11,"cat":"ac2g","name":"ac2g"},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":13,"dur":2,"args":{"correlation":7,"stream":7,"device":0,"context":1,"grid":[1,2,3],"block":[4,5,6],"registers per thread":32,"shared memory":1024}},
{"ph":"f","id":7,"pid":0,"tid":7,"ts":13,"cat":"ac2g","name":"ac2g","bp":"e"},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":16,"dur":1,"args":{"bytes":4096,"stream":7,"device":0}},
{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":1,"ts":12,"args":{"Bytes":512,"Addr":99,"Device Type":1,"Device Id":0,"Total Allocated":512,"Total Reserved":2048}},
{"ph":"M","name":"process_name","pid":1,"tid":0,"ts":0,"args":{"name":"python"}},
{"ph":"M","name":"thread_name","pid":0,"tid":7,"ts":0,"args":{"name":"stream 7"}},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":9,"dur":20}
],"traceName":"t.json","displayTimeUnit":"ms","baseTimeNanoseconds":1700000000000000000}"#,
    r#"[{"ph":"B","name":"a","pid":1,"tid":2,"ts":1},{"ph":"B","name":"b","pid":1,"tid":2,"ts":"2"},
{"ph":"E","pid":1,"tid":2,"ts":3},{"ph":"C","name":"c","pid":1,"ts":4,"args":{"x":1,"y":-2.5e3}},
{"ph":"b","cat":"k","id":"0x1","name":"n","pid":1,"tid":2,"ts":1},{"ph":"e","cat":"k","id":"0x1","name":"n","pid":1,"tid":2,"ts":9}
"#,
    r#"{"traceEvents":[{"ph":"X","name":"C:\temp\x","cat":"cpu_op","ts":NaN,"dur":Infinity,"pid":"a","tid":{}},],}{"traceEvents":[{"ph":"X","name":"\ud800","ts":1,"dur":-1,"pid":1,"tid":1}]}"#,
    r#"{"deviceProperties":[],"distributedInfo":{"rank":0,"world_size":8,"backend":"nccl"},"traceEvents":[{"ph":"X","cat":"gpu_user_annotation","name":"nccl:all_reduce","ts":1e18,"dur":1e18,"pid":0,"tid":7,"args":{"Collective name":"allreduce","In msg nelems":9,"dtype":"Float","Group size":8,"stream":7}}]}"#,
];

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for target in ["nsys_rep_events", "nsys_sqlite"] {
        for (number, n_bytes) in LENGTHS.iter().enumerate() {
            write(&root, target, number, &bytes(*n_bytes, number as u64))?;
        }
    }
    for (number, n_bytes) in LENGTHS.iter().enumerate() {
        let report = make("nsys_rep_events", &bytes(*n_bytes, number as u64));
        write(&root, "nsys_rep_container", number, &report)?;
    }
    for (number, trace) in TRACES.iter().enumerate() {
        write(&root, "chrome_json", number, trace.as_bytes())?;
    }
    // The first byte says how to pack, the next ones how to damage; then comes the trace.
    for kind in 0..8_u8 {
        let text = TRACES.get(usize::from(kind) % TRACES.len()).copied().unwrap_or_default();
        let packed = [&[kind, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], text.as_bytes()].concat();
        write(&root, "packed", usize::from(kind), &packed)?;
    }
    let [first, second] = BOMB;
    write(&root, "packed", 8, &[0, first, second, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b'{'])?;
    Ok(())
}

fn write(root: &Path, target: &str, number: usize, bytes: &[u8]) -> io::Result<()> {
    let dir = root.join(target);
    std::fs::create_dir_all(&dir)?;
    std::fs::write(dir.join(format!("seed-{number}")), bytes)
}

/// Bytes of a xorshift generator (Marsaglia 2003), the same on every machine.
fn bytes(n: usize, number: u64) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d);
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(n).collect()
}
