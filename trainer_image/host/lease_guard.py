#!/usr/bin/env python3
"""The lease guard: ends this instance at its lease. Standard library only, nothing to break.

Every few seconds it reads the lease and the deadline from the instance's own tags through IMDSv2 (EC2 User Guide,
"Access instance metadata", "View tags for your EC2 instances using instance metadata"). A tag that cannot be read is
no renewal: the guard goes by the last lease it knew, the first of which came with the start-up data. It warns the
trainer (SIGTERM) before the end and at a spot interruption notice, and powers off at the end; the launch template's
InstanceInitiatedShutdownBehavior is `terminate`.

Configuration (JSON file, argument 1): `lease` and `deadline` (Unix seconds, UTC), `warning_s`, `period_s`,
`warn` and `power_off` (commands).
"""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

IMDS = os.environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://169.254.169.254").rstrip("/")
TIMEOUT_S = 2


def token():
    """An IMDSv2 session token."""
    request = urllib.request.Request(
        IMDS + "/latest/api/token", method="PUT", headers={"X-aws-ec2-metadata-token-ttl-seconds": "300"}
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        return answer.read().decode()


def metadata(session, path):
    """A metadata value, or None if there is none."""
    request = urllib.request.Request(IMDS + "/latest/meta-data/" + path, headers={"X-aws-ec2-metadata-token": session})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise


def moment(text, known):
    """A tag's Unix seconds; anything else is no renewal. A lease never gets shorter."""
    try:
        return max(known, float(text)) if text else known
    except ValueError:
        return known


def verdict(now, lease, deadline, warning_s, interrupted):
    """What is due: "off", "warn" or "run"."""
    end = min(lease, deadline)
    if now >= end:
        return "off"
    if interrupted or now >= end - warning_s:
        return "warn"
    return "run"


def look(lease, deadline):
    """(lease, deadline, interrupted) as the instance's metadata has them now; what cannot be read stays."""
    try:
        session = token()
        lease = moment(metadata(session, "tags/instance/paddock-lease"), lease)
        deadline = moment(metadata(session, "tags/instance/paddock-deadline"), deadline)
        return lease, deadline, metadata(session, "spot/instance-action") is not None
    except (OSError, ValueError) as error:
        print("guard: metadata unreadable, no renewal:", error, file=sys.stderr, flush=True)
        return lease, deadline, False


def run(command):
    """Run a command; its failure must not end the guard."""
    try:
        subprocess.run(command, timeout=30, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        print("guard:", command, error, file=sys.stderr, flush=True)


def main(path):
    """Watch until the end, then power off again and again until the machine is gone."""
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    lease, deadline, warned_for = config["lease"], config["deadline"], None
    while True:
        lease, deadline, interrupted = look(lease, deadline)
        due = verdict(time.time(), lease, deadline, config["warning_s"], interrupted)
        if due == "off":
            print("guard: the lease is over, powering off", file=sys.stderr, flush=True)
            run(config["power_off"])
        elif due == "warn" and warned_for != (lease, deadline):
            warned_for = (lease, deadline)
            run(config["warn"])
        time.sleep(min(config["period_s"], max(0.2, min(lease, deadline) - time.time())))


if __name__ == "__main__":
    main(sys.argv[1])
