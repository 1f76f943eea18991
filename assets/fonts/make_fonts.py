#!/usr/bin/env python3
"""Makes the bundled fonts from the upstream static TTFs (see README.md).

Usage: make_fonts.py DIR_WITH_UPSTREAM_TTFS OUT_DIR      (needs fonttools)

Three changes, each for a reason:
- Inter's tabular digits become the default ones: egui cannot switch OpenType
  features on, and columns of numbers must line up.
- Ligatures and contextual alternates go: they would turn `->` and `128x128` in
  kernel names into other signs, and egui and resvg would disagree on widths.
- Only Latin, Greek, Cyrillic and technical symbols stay, hinting goes.
"""

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

RANGES = [
    (0x0020, 0x007E), (0x00A0, 0x024F), (0x02C6, 0x02DD), (0x0300, 0x0304), (0x0306, 0x030C),
    (0x0370, 0x03FF), (0x0400, 0x04FF), (0x1E80, 0x1E85), (0x2000, 0x206F), (0x2070, 0x209F),
    (0x20A0, 0x20BF), (0x2100, 0x214F), (0x2150, 0x218F), (0x2190, 0x21FF), (0x2200, 0x22FF),
    (0x2300, 0x23FF), (0x2500, 0x259F), (0x25A0, 0x25FF), (0x2600, 0x26FF), (0x2700, 0x27BF),
    (0xFFFD, 0xFFFD),
]
FEATURES = ["kern", "mark", "mkmk", "ccmp", "locl"]
# Signs that egui and our own buttons use, shown by a glyph that looks the same.
ALIASES = {0x23F5: 0x25B6, 0x23F4: 0x25C0, 0x23F6: 0x25B2, 0x23F7: 0x25BC, 0x23F9: 0x25A0}
FONTS = {
    "Inter_400Regular.ttf": "Inter-Regular.ttf",
    "Inter_600SemiBold.ttf": "Inter-SemiBold.ttf",
    "JetBrainsMono_400Regular.ttf": "JetBrainsMono-Regular.ttf",
}


def make_digits_tabular(font):
    gsub = font["GSUB"].table
    lookups = {
        idx
        for record in gsub.FeatureList.FeatureRecord
        if record.FeatureTag == "tnum"
        for idx in record.Feature.LookupListIndex
    }
    glyphs = {}
    for idx in sorted(lookups):
        for table in gsub.LookupList.Lookup[idx].SubTable:
            table = getattr(table, "ExtSubTable", table)
            glyphs.update(getattr(table, "mapping", {}))
    for cmap in font["cmap"].tables:
        for digit in "0123456789":
            name = cmap.cmap.get(ord(digit))
            if name in glyphs:
                cmap.cmap[ord(digit)] = glyphs[name]


def add_aliases(font):
    for cmap in font["cmap"].tables:
        if not cmap.isUnicode():
            continue
        for alias, original in ALIASES.items():
            if alias not in cmap.cmap and original in cmap.cmap:
                cmap.cmap[alias] = cmap.cmap[original]


def main(source, out):
    for upstream, name in FONTS.items():
        font = TTFont(source / upstream)
        make_digits_tabular(font)
        add_aliases(font)
        options = subset.Options()
        options.layout_features = FEATURES
        options.hinting = False
        options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14, 16, 17]
        options.notdef_outline = True
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=[c for lo, hi in RANGES for c in range(lo, hi + 1)])
        subsetter.subset(font)
        # The upstream time stamp stays, so that the same input gives the same bytes.
        font.recalcTimestamp = False
        font.save(out / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
