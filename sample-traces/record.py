#!/usr/bin/env python3
"""Records a real PyTorch profiler trace of a small transformer: five training steps with shapes, stacks,
modules and memory.

    python -m venv venv && venv/bin/pip install torch==2.9.1
    venv/bin/python sample-traces/record.py

Without a CUDA device it writes torch/cpu_transformer.json.gz, with one torch/cuda_transformer.json.gz.
Before writing, it takes the folders of this machine out of all names and refuses to write a trace that
still names the machine, the user or an absolute path.
"""

import getpass
import gzip
import re
import socket
import sys
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, Dataset

HERE = Path(__file__).resolve().parent
VOCAB, SEQ_LEN, HIDDEN, N_HEADS, N_LAYERS, BATCH = 512, 64, 64, 4, 2, 4
N_WAIT, N_WARMUP, N_ACTIVE = 1, 2, 5


class Tokens(Dataset):
    """Random sentences: the labels are the next tokens."""

    def __len__(self):
        return BATCH * (N_WAIT + N_WARMUP + N_ACTIVE)

    def __getitem__(self, idx):
        generator = torch.Generator().manual_seed(idx)
        tokens = torch.randint(VOCAB, (SEQ_LEN + 1,), generator=generator)
        return tokens[:-1], tokens[1:]


class Block(nn.Module):
    """Attention and MLP, each behind a layer norm and beside a residual path."""

    def __init__(self):
        super().__init__()
        self.attention_norm = nn.LayerNorm(HIDDEN)
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.projection = nn.Linear(HIDDEN, HIDDEN)
        self.mlp_norm = nn.LayerNorm(HIDDEN)
        self.up = nn.Linear(HIDDEN, 4 * HIDDEN)
        self.down = nn.Linear(4 * HIDDEN, HIDDEN)

    def forward(self, x):
        batch, seq_len, _ = x.shape
        heads = self.qkv(self.attention_norm(x)).view(batch, seq_len, 3, N_HEADS, HIDDEN // N_HEADS)
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(attended.transpose(1, 2).reshape(batch, seq_len, HIDDEN))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))


class Transformer(nn.Module):
    """A small decoder-only transformer."""

    def __init__(self):
        super().__init__()
        self.token_embedding = nn.Embedding(VOCAB, HIDDEN)
        self.position_embedding = nn.Embedding(SEQ_LEN, HIDDEN)
        self.blocks = nn.Sequential(*(Block() for _ in range(N_LAYERS)))
        self.norm = nn.LayerNorm(HIDDEN)
        self.head = nn.Linear(HIDDEN, VOCAB, bias=False)

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.token_embedding(tokens) + self.position_embedding(positions)
        return self.head(self.norm(self.blocks(x)))


def train(device, on_trace_ready):
    """Runs the steps under the profiler."""
    torch.manual_seed(0)
    is_cuda = device.type == "cuda"
    model = Transformer().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=is_cuda)
    loader = DataLoader(Tokens(), batch_size=BATCH, num_workers=2, pin_memory=is_cuda)
    with profile(
        activities=[ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * is_cuda,
        schedule=schedule(wait=N_WAIT, warmup=N_WARMUP, active=N_ACTIVE, repeat=1),
        on_trace_ready=on_trace_ready,
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        with_modules=True,
    ) as profiler:
        for tokens, labels in loader:
            tokens = tokens.to(device, non_blocking=True)
            labels = labels.to(device, non_blocking=True)
            optimizer.zero_grad()
            with record_function("forward"):
                logits = model(tokens)
                loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
            with record_function("backward"):
                loss.backward()
            with record_function("optimizer"):
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            loss.item()
            profiler.step()


def scrub(text):
    """Takes the folders of this machine out of all names."""
    folders = {str(HERE), str(HERE.parent), sys.prefix, sys.base_prefix, str(Path.home())}
    folders.update(entry for entry in sys.path if entry.startswith("/"))
    for folder in sorted(folders, key=len, reverse=True):
        text = text.replace(folder.rstrip("/") + "/", "")
    text = re.sub(r'"traceName": "[^"]*"', '"traceName": "transformer.json"', text)
    private = [socket.gethostname(), str(Path.home())]
    if getpass.getuser() != "root":
        private.append(getpass.getuser())
    left = [word for word in private if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)]
    left += re.findall(r'"/[^"]*"', text)
    left += re.findall(r"/(?:home|Users|root|opt|tmp|usr|work)/[^\"]*", text)
    if left:
        raise SystemExit(f"the trace still says where it was made: {sorted(set(left))[:10]}")
    return text


def main():
    """Records, scrubs and writes."""
    # One thread: operators this small gain nothing from more, and waiting for them would be in the trace.
    torch.set_num_threads(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "trace.json"
        train(device, lambda profiler: profiler.export_chrome_trace(str(raw)))
        text = scrub(raw.read_text())
    path = HERE / "torch" / f"{device.type}_transformer.json.gz"
    path.parent.mkdir(exist_ok=True)
    with open(path, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as out:
        out.write(text.encode())
    print(f"{path.relative_to(HERE.parent)}: {path.stat().st_size} bytes, torch {torch.__version__}")


if __name__ == "__main__":
    main()
