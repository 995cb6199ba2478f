"""The system calls that a learner's code does not need and that would lead past a limit.

Memory that no process is charged for (memfd, System V), new namespaces, other processes, the
kernel's inner doors. A refused call gives EPERM, so that a program can go on.
"""

import platform
import struct
from typing import NamedTuple

EPERM, ENOSYS = 1, 38
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in the kernel's struct seccomp_data
NEW_NAMESPACE = 0x7E020000  # every CLONE_NEW… flag that clone takes
X32 = 0x40000000  # x86-64's second set of numbers
CLONE3 = 435

REFUSED = (
    *("ptrace", "syslog", "pivot_root", "chroot", "acct", "mount", "umount2", "swapon", "swapoff"),
    *("reboot", "sethostname", "setdomainname", "init_module", "delete_module", "quotactl"),
    *("lookup_dcookie", "kexec_load", "add_key", "request_key", "keyctl", "unshare", "move_pages"),
    *("perf_event_open", "open_by_handle_at", "setns", "process_vm_readv", "process_vm_writev"),
    *("kcmp", "finit_module", "memfd_create", "kexec_file_load", "bpf", "userfaultfd"),
    *("shmget", "semget", "msgget", "mq_open"),
)
SINCE_2019 = [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 447]
# io_uring_setup, _enter, _register; open_tree, move_mount, fsopen, fsconfig, fsmount, fspick;
# pidfd_getfd, mount_setattr, memfd_secret: one number on every machine


class Machine(NamedTuple):
    """How the kernel of a machine numbers its calls."""

    audit: int
    refused: tuple[int, ...]  # in the order of REFUSED
    clone: int


MACHINES = {
    "x86_64": Machine(
        audit=0xC000003E,
        refused=(
            *(101, 103, 155, 161, 163, 165, 166, 167, 168, 169, 170, 171),
            *(175, 176, 179, 212, 246, 248, 249, 250, 272),
            *(279, 298, 304, 308, 310, 311, 312),
            *(313, 319, 320, 321, 323, 29, 64, 68, 240),
        ),
        clone=56,
    ),
    "aarch64": Machine(
        audit=0xC00000B7,
        refused=(
            *(117, 116, 41, 51, 89, 40, 39, 224, 225, 142, 161, 162),
            *(105, 106, 60, 18, 104, 217, 218, 219, 97),
            *(239, 241, 265, 268, 270, 271, 272),
            *(273, 279, 294, 280, 282, 194, 190, 186, 180),
        ),
        clone=220,
    ),
}


def program(machine: str = platform.machine()) -> bytes:
    """The filter as the kernel and bwrap's --seccomp read it; empty on an unknown machine."""
    if machine not in MACHINES:
        return b""
    audit, numbers, clone = MACHINES[machine]
    refused = [*numbers, *SINCE_2019]
    deny, no_such_call = (RETURN, 0, 0, ERRNO | EPERM), (RETURN, 0, 0, ERRNO | ENOSYS)
    allow = (RETURN, 0, 0, ALLOW)
    steps = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, audit), deny, (LOAD, 0, 0, NUMBER)]
    steps += [(AT_LEAST, 0, 1, X32), deny]
    for number in refused:
        steps += [(EQUAL, 0, 1, number), deny]
    steps += [(EQUAL, 0, 1, CLONE3), no_such_call]  # its flags lie in memory: clone takes its place
    steps += [(EQUAL, 1, 0, clone), allow, (LOAD, 0, 0, FIRST_ARGUMENT)]
    steps += [(ANY_BIT, 0, 1, NEW_NAMESPACE), deny, allow]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
