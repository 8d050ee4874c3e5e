"""Instructions of a program's basic blocks, where the compiler has each of them call memwalk's recorder."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from memwalk.analysis.traces.binutils import told_by
from memwalk.simcore.errors import UserError

_INSTRUCTION = re.compile(r"\s*([0-9a-f]+):\t(\S+)\s*(.*)")
_FUNCTION = re.compile(r"[0-9a-f]+ <.*>:$")
_CALLED = re.compile(r"<(\w+)(?:@plt)?>")
_CALLBACKS = ("__tsan_", "__sanitizer_cov_")
_BLOCK = ("__sanitizer_cov_trace_pc", "__sanitizer_cov_trace_pc_guard")
"""What a block calls when it begins."""
_CALLS = ("call", "callq", "bl")
_ENDS = ("jmp", "jmpq", "ret", "retq", "b", "br")
"""Instructions behind which a block does not go on."""
_PADDING = re.compile(r"(nop|data16|cs nop|xchg +%ax,%ax)")
_WITHOUT_ARGUMENT = ("__sanitizer_cov_trace_pc", "__tsan_func_exit")
"""Calls of the recorder before which nothing is put into a register."""


def block_instructions(program: Path) -> list[tuple[int, int]]:
    """Return the place of each basic block of a program as its recordings tell it, and how many instructions the block has.

    Those that call the recorder are not counted. Raises UserError if the file is no program, has no block that calls the recorder,
    or objdump is missing.
    """
    blocks = listed_blocks(told_by("objdump", program, "--disassemble", "--no-show-raw-insn"))
    if not blocks:
        needed = "compile it with @memwalk_compile.rsp, or name it as it was before `strip`"
        raise UserError(f"--program {program}: no basic block calls the recorder; {needed}")
    return blocks


def listed_blocks(listing: Iterable[str]) -> list[tuple[int, int]]:
    """Return place and instructions of each block of a listing, as objdump writes it.

    What a function does before its first block calls is left out: nearly all of it is for the calls' sake, which leave few registers alone.
    The last block of a function may jump to the recorder, which then returns to where the function was called. If some do, each such place
    is that of a block of one instruction, the return.
    """
    blocks: list[list[int]] = []
    returned_to: list[int] = []
    goes_on = jumps = False
    behind: Literal["block", "call"] | None = None
    for line in listing:
        if _FUNCTION.match(line):
            goes_on, behind = False, None
            continue
        if (found := _INSTRUCTION.match(line)) is None:
            continue
        address, name, operands = int(found[1], 16), found[2], found[3]
        # A call is known by the byte before the place that it returns to.
        if behind == "block":
            blocks.append([address - 1, 0])
            goes_on = True
        elif behind == "call":
            returned_to.append(address - 1)
        behind = None
        called = _CALLED.search(operands) if name in _CALLS or name in _ENDS else None
        if called is not None and called[1].startswith(_CALLBACKS):
            if goes_on:
                blocks[-1][1] = max(0, blocks[-1][1] - (called[1] not in _WITHOUT_ARGUMENT))
            if called[1] in _BLOCK:
                goes_on = False
                behind = "block" if name in _CALLS else None
                jumps |= name in _ENDS
        elif not _PADDING.match(f"{name} {operands}"):
            behind = "call" if name in _CALLS else None
            if goes_on:
                blocks[-1][1] += 1
                goes_on = name not in _ENDS
    all_blocks = [(place, count) for place, count in blocks]
    return all_blocks + [(place, 1) for place in returned_to] if jumps else all_blocks
