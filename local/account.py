"""The emulated AWS account: ministack's app, bound to 127.0.0.1. `python -m local.account FD`, the
socket to listen on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from local import leftovers
from local.lifeline import end_with_parent


def environment(port: int, folder: Path, ec2_port: int) -> dict[str, str]:
    """What the account and the functions in it are started with, for the stack in `folder`."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "LC_ALL", "SSL_CERT_FILE")}
    return kept | {
        "GATEWAY_PORT": str(port), "MINISTACK_HOST": "127.0.0.1", "BIND_HOST": "127.0.0.1",
        "TMPDIR": str(folder / "tmp"), leftovers.MARK: str(folder),
        "SFTP_ENABLED": "0", "IOT_MTLS_ENABLED": "0", "LOG_LEVEL": "INFO", "LAMBDA_WARM_TTL_SECONDS": "3600",
        "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL_EC2": f"http://127.0.0.1:{ec2_port}",
        "AWS_ENDPOINT_URL_PRICING": f"http://127.0.0.1:{ec2_port}",
        "PYTHONDONTWRITEBYTECODE": "", "PYTHONUNBUFFERED": "1",
    }  # fmt: skip


def main(fd: int) -> None:
    import asyncio

    from hypercorn.asyncio import serve
    from hypercorn.config import Config
    from ministack.app import app

    end_with_parent()
    config = Config()
    config.bind = [f"fd://{fd}"]
    config.keep_alive_timeout = 75
    config.loglevel = "WARNING"
    asyncio.run(serve(app, config))


if __name__ == "__main__":
    main(int(sys.argv[1]))
