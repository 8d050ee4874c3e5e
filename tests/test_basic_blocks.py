"""Instructions of basic blocks, of listings by hand."""

from memwalk.analysis.traces.basic_blocks import listed_blocks

GCC = """
0000000000001000 <find>:
    1000:\tpush   %rbx
    1001:\tmov    0x8(%rsp),%rdi
    1006:\tcall   5000 <__tsan_func_entry>
    100b:\tcall   5100 <__sanitizer_cov_trace_pc>
    1010:\tlea    0x8(%rbx),%rdi
    1014:\tcall   5200 <__tsan_read8>
    1019:\tcmp    %rax,0x8(%rbx)
    101d:\tjne    1030 <find+0x30>
    101f:\tcall   5100 <__sanitizer_cov_trace_pc>
    1024:\tcall   5300 <__tsan_func_exit>
    1029:\tpop    %rbx
    102a:\tret
    102b:\tnopl   0x0(%rax,%rax,1)
    1030:\tcall   5100 <__sanitizer_cov_trace_pc>
    1035:\txchg   %rax,(%rbx)
    1038:\tcall   1000 <find>
    103d:\txchg   %ax,%ax
    103f:\tjmp    1010 <find+0x10>
    1041:\tcs nopw 0x0(%rax,%rax,1)
"""
"""Its blocks compare and branch; return; and exchange, call and jump. What only fills the code up is no instruction."""

LLVM = """
0000000000002000 <main>:
    2000:\tlea    0x100(%rip),%rdi        # 9000 <__start___sancov_guards>
    2007:\tcall   5100 <__sanitizer_cov_trace_pc_guard>
    200c:\tadd    $0x1,%eax
    200f:\tlea    0x104(%rip),%rdi        # 9004 <__start___sancov_guards+0x4>
    2016:\tcall   5100 <__sanitizer_cov_trace_pc_guard>
    201b:\tret
"""

TAIL = """
0000000000002000 <main>:
    2000:\tcall   3000 <free>
    2005:\tcall   *%rax
    2007:\tret

0000000000003000 <free>:
    3000:\tlea    0x100(%rip),%rdi        # 9000 <__start___sancov_guards>
    3007:\tcall   5100 <__sanitizer_cov_trace_pc_guard>
    300c:\tadd    $0x1,%eax
    300f:\tlea    0x104(%rip),%rdi        # 9004 <__start___sancov_guards+0x4>
    3016:\tpop    %rbx
    3017:\tjmp    5100 <__sanitizer_cov_trace_pc_guard>
"""
"""The last block of a function jumps to the recorder, which returns to where the function was called."""

AARCH64 = """
0000000000003000 <main>:
    3000:\tbl\t5100 <__sanitizer_cov_trace_pc>
    3004:\tmov\tx0, x19
    3008:\tbl\t5200 <__tsan_read8>
    300c:\tldr\tx1, [x19]
    3010:\tb.eq\t3020 <main+0x20>
    3014:\tbl\t5100 <__sanitizer_cov_trace_pc>
    3018:\tret
"""


def test_blocks_of_gcc() -> None:
    assert listed_blocks(GCC.splitlines()) == [(0x100F, 2), (0x1023, 2), (0x1034, 3)]


def test_blocks_of_llvm() -> None:
    assert listed_blocks(LLVM.splitlines()) == [(0x200B, 1), (0x201A, 1)]


def test_a_block_that_ends_a_function_is_told_by_where_that_was_called() -> None:
    assert listed_blocks(TAIL.splitlines()) == [(0x300B, 2), (0x2004, 1), (0x2006, 1)]


def test_blocks_of_another_processor() -> None:
    assert listed_blocks(AARCH64.splitlines()) == [(0x3003, 2), (0x3017, 1)]
