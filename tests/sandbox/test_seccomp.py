"""The filters, run by an interpreter of their own on made-up calls, for both architectures."""

import ctypes
import errno
import struct

import pytest

from ludus.errors import SandboxUnavailable
from ludus.sandbox.seccomp import landlock_filter, namespace_filter, refused
from ludus.sandbox.syscalls import ARCHITECTURES, NEWEST_SYSCALL, NUMBERS, number

ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = ERROR | errno.EPERM, ERROR | errno.ENOSYS
machines = pytest.mark.parametrize("machine", ARCHITECTURES)


def decide(program, architecture, call, *arguments):
    """What the kernel would do."""
    data = struct.pack("=IIQ6Q", call, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    code = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    register, at = 0, 0
    while True:
        operation, yes, no, value = code[at]
        at += 1
        if operation == 0x20:
            register = struct.unpack_from("=I", data, value)[0]
        elif operation == 0x54:
            register &= value
        elif operation == 0x06:
            return value
        else:
            holds = {0x15: register == value, 0x25: register > value, 0x45: bool(register & value)}[operation]
            at += yes if holds else no


def deciding(program, machine):
    def decided(name, *arguments):
        return decide(program, ARCHITECTURES[machine], number(name, machine), *arguments)

    return decided


@machines
def test_ordinary_calls_pass(machine):
    program, known = namespace_filter(machine), set(NUMBERS.values())
    named = {pair[list(ARCHITECTURES).index(machine)] for pair in known}
    others = [one for one in range(NEWEST_SYSCALL + 1) if one not in named]
    assert {decide(program, ARCHITECTURES[machine], one) for one in others} == {ALLOW}


@machines
def test_doors_are_shut(machine):
    filters = namespace_filter(machine), landlock_filter(machine, own_user=True, signals=True)
    decided = [deciding(one, machine) for one in filters]
    there = [name for name in refused() if number(name, machine) is not None]
    assert len(there) > 40
    assert [name for name in there if [decide(name) for decide in decided] != [EPERM, EPERM]] == []


def test_what_must_be_refused_is_on_the_list():
    asked = """
        unshare setns mount umount2 pivot_root open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr bpf
        io_uring_setup io_uring_enter io_uring_register ptrace process_vm_readv process_vm_writev keyctl add_key
        request_key perf_event_open userfaultfd kexec_load kexec_file_load init_module finit_module delete_module reboot
        swapon swapoff acct quotactl name_to_handle_at open_by_handle_at chroot syslog settimeofday clock_settime
        sethostname setdomainname iopl ioperm"""
    assert set(asked.split()) <= set(refused())


@machines
def test_another_architecture_is_killed(machine):
    [other] = [one for name, one in ARCHITECTURES.items() if name != machine]
    assert decide(namespace_filter(machine), other, 0) == KILL
    assert decide(namespace_filter(machine), 0x40000003, 0) == KILL  # 32-bit x86, by int 0x80


@machines
@pytest.mark.parametrize("call", [NEWEST_SYSCALL + 1, 512, 1 << 30, (1 << 30) + 1, (1 << 32) - 1])
def test_calls_that_are_not_known_do_not_exist(machine, call):
    assert decide(namespace_filter(machine), ARCHITECTURES[machine], call) == ENOSYS


@machines
def test_clone_makes_threads_and_processes_but_no_namespaces(machine):
    decided = deciding(namespace_filter(machine), machine)
    thread, fork = 0x3D0F00, 0x1200011
    assert decided("clone", thread) == decided("clone", fork) == decided("clone", 17) == ALLOW
    for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert decided("clone", fork | flag) == EPERM
    assert decided("clone3") == ENOSYS


@machines
def test_arguments_that_are_harmless_pass(machine):
    decided = deciding(namespace_filter(machine), machine)
    assert decided("ioctl", 0, 0x5413) == ALLOW  # the size of a window
    assert decided("ioctl", 0, 0x5412) == decided("ioctl", 0, 0x541C) == decided("ioctl", 0, 0x5412 | 1 << 32) == EPERM
    assert decided("personality", 0) == decided("personality", 0xFFFFFFFF) == ALLOW
    assert decided("personality", 0x40000) == decided("personality", 0x400000) == EPERM


@machines
def test_sockets_in_a_namespace_are_local_tcp_or_udp(machine):
    decided = deciding(namespace_filter(machine), machine)
    unix, inet, inet6, netlink, packet, vsock, alg = 1, 2, 10, 16, 17, 40, 38
    stream, datagram, raw, cloexec = 1, 2, 3, 0o2000000
    for family in (inet, inet6):
        assert decided("socket", family, stream | cloexec, 0) == decided("socket", family, datagram, 17) == ALLOW
        assert decided("socket", family, stream, 6) == ALLOW
        assert decided("socket", family, raw, 1) == decided("socket", family, datagram, 1) == EPERM  # ICMP
        assert decided("socket", family, stream, 132) == decided("socket", family, 5, 132) == EPERM  # SCTP
    assert decided("socket", unix, stream) == decided("socket", unix, datagram) == ALLOW
    for family in (netlink, packet, vsock, alg, 0, 3):
        assert decided("socket", family, raw) == decided("socket", family, datagram) == EPERM
    assert decided("socketpair", unix, datagram) == ALLOW
    assert decided("socketpair", 30, stream) == EPERM


@machines
def test_without_a_network_sockets_are_local(machine):
    decided = deciding(namespace_filter(machine, network=False), machine)
    assert decided("socket", 1, 1) == decided("socket", 1, 2) == decided("socketpair", 1, 1) == ALLOW
    for family in (2, 10, 16, 17, 40):
        assert decided("socket", family, 1) == decided("socket", family, 2) == ERROR | errno.EAFNOSUPPORT


@machines
def test_nobody_watches_folders_of_the_host(machine):
    for program in (namespace_filter(machine), landlock_filter(machine, own_user=True, signals=True)):
        assert deciding(program, machine)("inotify_add_watch", 3) == EPERM


@machines
def test_a_file_sends_no_signal_where_signals_are_not_guarded(machine):
    guarded = deciding(landlock_filter(machine, own_user=True, signals=True), machine)
    open_ = deciding(landlock_filter(machine, own_user=True, signals=False), machine)
    for command in (8, 10, 15):  # F_SETOWN, F_SETSIG, F_SETOWN_EX
        assert (guarded("fcntl", 3, command), open_("fcntl", 3, command)) == (ALLOW, EPERM)
    for request in (0x8901, 0x8902):  # FIOSETOWN, SIOCSPGRP
        assert (guarded("ioctl", 3, request), open_("ioctl", 3, request)) == (ALLOW, EPERM)
    assert open_("fcntl", 3, 4) == open_("fcntl", 3, 1) == open_("ioctl", 3, 0x5421) == ALLOW  # flags, not blocking


@machines
def test_without_namespaces_there_are_only_pairs_of_streams(machine):
    decided = deciding(landlock_filter(machine, own_user=True, signals=True), machine)
    for family in (1, 2, 10):
        assert decided("socket", family, 1) == decided("socket", family, 2) == EPERM
    assert decided("socketpair", 1, 1) == decided("socketpair", 1, 5) == ALLOW
    assert decided("socketpair", 1, 2) == decided("socketpair", 1, 3) == decided("socketpair", 2, 1) == EPERM
    assert decided("connect", 3) == decided("bind", 3) == EPERM  # names of abstract sockets are the host's
    assert decided("sendto", 3, 1, 1, 0, 0) == ALLOW
    assert decided("sendto", 3, 1, 1, 0, 1) == decided("sendto", 3, 1, 1, 0, 1 << 32) == EPERM
    assert decided("shmget") == decided("msgget") == decided("semget") == decided("mq_open") == EPERM


@machines
def test_without_namespaces_others_are_left_alone(machine):
    decided = deciding(landlock_filter(machine, own_user=True, signals=True), machine)
    for name in ("prlimit64", "sched_setaffinity", "sched_setscheduler"):
        assert decided(name, 0) == ALLOW
        assert decided(name, 1) == EPERM
    assert decided("setpriority", 0, 0) == ALLOW
    assert decided("setpriority", 0, 1) == EPERM


@machines
def test_the_same_user_may_not_change_attributes_nor_send_signals_that_nobody_guards(machine):
    dropped = deciding(landlock_filter(machine, own_user=True, signals=True), machine)
    same = deciding(landlock_filter(machine, own_user=False, signals=False), machine)
    for name in ("fchmodat", "fchownat", "fchmodat2", "kill", "tgkill", "pidfd_send_signal"):
        assert (dropped(name), same(name)) == (ALLOW, EPERM)
    # Whoever may write to a file may set these, its owner or not.
    for name in ("setxattr", "fsetxattr", "removexattr"):
        assert (dropped(name), same(name)) == (EPERM, EPERM)
    assert dropped("utimensat", 0, 0) == dropped("utimensat", 0, 1) == EPERM
    assert same("utimensat", 0, 0) == ALLOW
    assert same("utimensat", 0, 1) == EPERM


MODES = {"chmod": 1, "creat": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "mkdirat": 2, "mknod": 1, "mknodat": 2}


@machines
@pytest.mark.parametrize(
    "kind", [namespace_filter, lambda machine: landlock_filter(machine, own_user=True, signals=True)]
)
def test_no_file_is_left_that_runs_with_the_rights_of_its_owner(machine, kind):
    decided = deciding(kind(machine), machine)
    for name in (one for one in MODES if number(one, machine) is not None):
        before = [0] * MODES[name]
        assert {decided(name, *before, mode) for mode in (0o755, 0o1777, 0o100644)} == {ALLOW}
        assert {decided(name, *before, mode) for mode in (0o4755, 0o2755, 0o6000, 1 << 32 | 0o4000)} == {EPERM}
    for name, before in (("open", [0]), ("openat", [0, 0])):
        if number(name, machine) is not None:
            for flags in (0o100, 0o101, 0o20000000):
                assert decided(name, *before, flags, 0o644) == ALLOW
                assert decided(name, *before, flags, 0o4755) == decided(name, *before, flags, 0o2000) == EPERM
            assert decided(name, *before, 0o2, 0o4755) == ALLOW  # nothing is made, so it is no mode
    assert decided("openat2") == ENOSYS


@machines
def test_the_same_user_may_not_hide_from_whoever_watches(machine):
    dropped = deciding(landlock_filter(machine, own_user=True, signals=True), machine)
    same = deciding(landlock_filter(machine, own_user=False, signals=True), machine)
    assert (dropped("prctl", 4, 0), same("prctl", 4, 0)) == (ALLOW, EPERM)
    assert same("prctl", 4, 1) == same("prctl", 15, 0) == same("prctl", 38, 1) == ALLOW


def test_a_machine_that_is_not_known_is_refused():
    with pytest.raises(SandboxUnavailable, match="expected one of x86_64, aarch64, got the machine 'mips'"):
        namespace_filter("mips")


@machines
def test_the_numbers_are_those_of_libseccomp(machine):
    """As far as it knows them: a name that it has not heard of, or that a machine does not have, is below zero."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        pytest.skip("there is no libseccomp here, which comes with podman")
    architecture = ctypes.c_uint32(ARCHITECTURES[machine])
    found = {name: library.seccomp_syscall_resolve_name_arch(architecture, name.encode()) for name in NUMBERS}
    known = {name: code for name, code in found.items() if code >= 0}
    assert {name: number(name, machine) for name in known} == known
    assert len(known) > 90
