"""Counts and sums the slices of PyTorch traces by kind and name, plainly: the reference of chrome_corpus.rs.

python3 recount.py FOLDER   prints: file, kind, count, sum of durations in ns, name as JSON (tab-separated).
A file that json refuses is counted by regular expressions, by kind only (name null).
The kind "valid" has count 1 for a file that is JSON as the standard wants it, else 0.
"""
import collections, decimal, glob, json, os, re, sys, zlib

KINDS = {"kernel": "kernel", "gpu_memcpy": "memcpy", "memcpy": "memcpy", "gpu_memset": "memset", "memset": "memset",
         "cpu_op": "op", "operator": "op", "user_annotation": "annotation", "python_function": "python",
         "cuda_runtime": "api", "cuda_driver": "api", "runtime": "api", "mtia_runtime": "api"}

def kind(event):
    category, name = event.get("cat", "").lower(), event["name"]
    if category == "mtia_ccp_events":
        return "memcpy" if name == "dma_request" else "sync" if "wait" in name or "sync" in name else "kernel"
    if not category and event.get("pid") == "CPU functions":
        return "op"
    found = KINDS.get(category, "")
    return "annotation" if found == "op" and name.startswith("ProfilerStep#") else found

def ns(us):
    return int((decimal.Decimal(us) * 1000).to_integral_value(decimal.ROUND_HALF_UP))

for path in sorted(glob.glob(os.path.join(sys.argv[1], "*"))):
    raw = open(path, "rb").read()
    raw = zlib.decompressobj(31).decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    total = collections.defaultdict(lambda: [0, 0])
    constants, is_valid = [], 0
    try:
        parsed = json.loads(raw, parse_float=decimal.Decimal, parse_constant=constants.append)
        is_valid = 0 if constants else 1
        for event in parsed if isinstance(parsed, list) else parsed["traceEvents"]:
            if event["ph"] == "X":
                of_name = total[kind(event), event["name"]]
                of_name[0] += 1
                of_name[1] += ns(event["dur"])
    except ValueError:
        for event in raw.decode(errors="replace").split('"ph": "X"')[1:]:
            category, dur = re.search(r'"cat": "(\w+)"', event), re.search(r'"dur": ([\d.]+)', event)
            # What the end of the file cuts off has no end of its own.
            if category and dur and re.search(r"\}\s*[,\]]", event):
                name = "ProfilerStep#" if '"name": "ProfilerStep#' in event else ""
                of_kind = total[kind({"cat": category[1], "name": name}), None]
                of_kind[0] += 1
                of_kind[1] += ns(dur[1])
    print(os.path.basename(path), "valid", is_valid, 0, "null", sep="\t")
    for (of_kind, name), (count, sum_ns) in sorted(total.items(), key=str):
        if of_kind:
            print(os.path.basename(path), of_kind, count, sum_ns, json.dumps(name), sep="\t")
