"""The numbers of the system calls that a box refuses."""

from checker.grading.box.seccomp import ARCHITECTURES, CLONE, REFUSED

# asm/unistd_64.h of x86-64 and asm-generic/unistd.h, which arm64 uses, as Linux' own headers give them.
HEADERS = {
    "x86_64": "29 64 68 101 155 161 165 166 248 249 250 272 298 308 311 319 321 323 425 428 429 430 432 435 442 447",
    "aarch64": "39 40 41 51 97 117 186 190 194 217 218 219 241 268 271 279 280 282 425 428 429 430 432 435 442 447",
}


def test_the_numbers_are_those_of_the_headers():
    """Catches a call that goes through because another one's number stands in its place: nothing else would show it."""
    for machine, (column, _) in ARCHITECTURES.items():
        assert sorted(calls[column] for calls in REFUSED.values()) == [int(one) for one in HEADERS[machine].split()]
    assert CLONE == (56, 220)
    assert {name: value for name, (_, value) in ARCHITECTURES.items()} == {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
