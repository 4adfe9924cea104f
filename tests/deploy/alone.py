"""Run inside new namespaces (see test_alone.py): start the service as a user nobody knows, and have it translate.

alone.py PORT MODEL      prints what the service was asked and answered, as JSON
"""

import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request

PORT = 8000  # of a network of its own
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def main(user: str, model: str) -> int:
    with socket.socket(
        socket.AF_INET, socket.SOCK_DGRAM
    ) as control:  # only this machine itself can be reached
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
    command = [sys.executable, "-B", "-m", "service", "--port", str(PORT), "--model", model]
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "OMP_WAIT_POLICY": "PASSIVE"}
    environment |= {
        "USER": "nobody",
        "TORCHINDUCTOR_CACHE_DIR": "/proc",
    }  # as the image sets them, and unwritable
    service = subprocess.Popen(command, env=environment, user=int(user), group=int(user), extra_groups=[])
    try:
        address = f"http://127.0.0.1:{PORT}"
        wait_until_ready(service, address)
        body = {"text": "Good morning!", "source": "en", "target": "de"}
        asked = urllib.request.Request(
            f"{address}/v1/translate", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with OPENER.open(asked, timeout=60) as response:
            answer = json.load(response)
        print(json.dumps({"answer": answer, "written": can_write(), "reached": can_reach()}))
    finally:
        service.terminate()
        service.wait(30)
    return 0


def wait_until_ready(service: "subprocess.Popen[bytes]", address: str) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and service.poll() is None:
        try:
            with OPENER.open(f"{address}/health/ready", timeout=10):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    sys.exit("the service did not become ready")


def can_write() -> list[str]:
    """Of the places where programs write, those where it is possible."""
    return [folder for folder in ("/tmp", "/var/tmp", ".") if os.access(folder, os.W_OK)]


def can_reach() -> bool:
    """Whether an address outside (of a range that is nobody's) can at least be routed to."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return False
    return True


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
