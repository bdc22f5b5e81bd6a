"""Attacks over sockets."""

import socket

from tests.attacks.attack import Account, Attack, Judge, Moment
from tests.attacks.judges import did_nothing, shut
from tests.attacks.scene import Scene

__all__ = ["NETWORK_ATTACKS"]

DENIED, UNHEARD = "denied", "unheard"


def _unheard(*names: str) -> Judge:
    def judge(scene: Scene, account: Account) -> str:
        del account
        found = scene.listeners.heard(*names)
        return found and f"it reached {found} of the host"

    return judge


def _connect(moment: Moment) -> str:
    try:
        with socket.create_connection(("127.0.0.1", moment.scene.free_port), timeout=1.0):
            return "the host reached it on its own loopback"
    except OSError:
        return ""


def _not_reached(scene: Scene, account: Account) -> str:
    del scene
    return account.seen


def _probe(name: str, title: str, function: str, judge: Judge, expects: str = UNHEARD) -> Attack:
    program = f"network:{function}"
    return Attack(name=name, title=title, expects=expects, guarantee="network", program=program, judge=judge)


NETWORK_ATTACKS = (
    _probe("host-loopback", "connect to a service on the host's loopback", "call_loopback", _unheard("tcp")),
    _probe("abstract-socket", "connect to an abstract socket of the host", "call_abstract", _unheard("abstract")),
    _probe("path-socket", "connect to a socket in a folder that everybody may enter", "call_path", _unheard("socket")),
    _probe(
        "datagrams",
        "send datagrams to the host: UDP, abstract sockets, one of a pair",
        "send_datagrams",
        _unheard("udp", "abstract_datagrams"),
    ),
    _probe("name-server", "tell a secret to a name server", "ask_names", _unheard("names")),
    _probe("route", "find a route to the outside", "find_route", did_nothing, DENIED),
    Attack(
        name="raw-sockets",
        title="open raw sockets",
        expects=DENIED,
        guarantee="network",
        program="network:open_raw",
        judge=did_nothing,
        root=True,
    ),
    _probe(
        "odd-sockets",
        "open sockets of rare kinds (netlink, packet, vsock, kernel crypto, …)",
        "open_odd_kinds",
        shut,
        DENIED,
    ),
    Attack(
        name="host-port",
        title="take a port of the host, to answer in the place of a service",
        expects=UNHEARD,
        guarantee="network",
        program="network:listen_on_host",
        judge=_not_reached,
        look=_connect,
        kind="alone",
    ),
    Attack(
        name="past-proxy",
        title="reach a service that the policy does not name, past the proxy or through it",
        expects=UNHEARD,
        guarantee="network",
        program="network:pass_proxy",
        judge=_unheard("tcp"),
        kind="alone",
        network="proxy",
    ),
    Attack(
        name="loopback-beside-own",
        title="reach the host's loopback from a sandbox that has a loopback of its own",
        expects=UNHEARD,
        guarantee="network",
        program="network:call_loopback",
        judge=_unheard("tcp"),
        kind="alone",
        network="loopback",
    ),
)
