"""Make checker/pages/math.woff2: STIX Two Math with the characters that formulas use, and its table for mathematics.

    npm pack @fontsource/stix-two-math && tar xzf fontsource-stix-two-math-*.tgz
    pip install fonttools brotli
    python site/math_font.py package/files/stix-two-math-latin-400-normal.woff2

Without a font for mathematics a browser shows a sum as large as a letter and does not stretch brackets. Reports carry
the file inside, so it has to be small: alphabets that formulas seldom have, such as Fraktur, are left out.
"""

import sys
from pathlib import Path

from fontTools.subset import main

TARGET = Path(__file__).parents[1] / "checker" / "pages" / "math.woff2"
CHARACTERS = {
    "letters, digits and signs of a keyboard": "20-7E A0 AC B1 B7 D7 F7",
    "Greek": "391-3A9 3B1-3C9 3D1 3D5 3F1 3F5",
    "italic Latin": "1D434-1D467 210E",
    "italic Greek": "1D6E2-1D71B",
    "double-struck": "1D538-1D551 1D7D9 2102 2115 2119 211A 211D 2124",
    "script": "1D49C-1D4B5 210B 2110 2112 2113 211B 212C 2130 2131 2133",
    "bold": "1D400-1D433",
    "accents": "2C6 2DC AF 300-304 307 20D7",
    "dots, primes, signs that are not seen": "2016 2026 2032-2034 2044 2061-2064 22EE-22F1",
    "arrows": "2190-2194 21A6 21D0-21D4 27F6-27FA",
    "operators": "2200 2202-2209 220F-2213 2215 2217 2218 221A 221D 221E 2223-222C 2234 2295-2299 22A4 22A5 22C5",
    "relations": "223C 2243 2245 2248 2260 2261 2264 2265 226A 226B 2282-2287 2A7D 2A7E",
    "brackets": "2308-230B 23DE 23DF 27E8 27E9",
}

if __name__ == "__main__":
    unicodes = ",".join(" ".join(CHARACTERS.values()).split())
    options = [
        "--flavor=woff2",
        "--layout-features=",
        "--drop-tables+=GSUB,GPOS,GDEF",
        "--no-hinting",
        "--desubroutinize",
    ]
    main([sys.argv[1], f"--unicodes={unicodes}", "--name-IDs=*", f"--output-file={TARGET}", *options])
