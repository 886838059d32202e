"""The EC2 stand-in: moto speaks the protocol, and in front of it what moto lacks: idempotent launches, a spot market,
capacity, interruption notices, instance metadata, and instances that really run. `python -m local.ec2 FD FOLDER`, FD
being the socket to listen on.

Its own controls, for tests and demos, are under `/stand-in/`."""

from __future__ import annotations

import base64
import io
import json
import os
import socket
import sys
import threading
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import boto3
from moto.ec2.models import ec2_backends
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from local.lifeline import end_with_parent
from local.machines import Machines
from local.market import Market, utc_now
from local.places import REGION, port_of

ACCOUNT = "123456789012"
NOTICE = timedelta(seconds=120)
SOURCE = "paddock.stand-in.ec2"
EC2_NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"


class Ec2:
    """A WSGI application: the EC2 and Price List APIs, the metadata service, the controls."""

    def __init__(self, folder: Path, port: int, environment: dict[str, str], launching: bool = True) -> None:
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._market = Market(utc_now())
        self._machines = Machines(folder, environment, self._ended)
        self._base = f"http://127.0.0.1:{port}"
        self._tokens: dict[str, tuple[str, str]] = {}
        """Client tokens: what was asked, and EC2's answer."""
        self._notices: dict[str, datetime] = {}
        self._interrupted: set[str] = set()
        self._events = boto3.client("events", region_name=REGION)
        self._launch_lock = threading.Lock()
        self._launching = launching

    @property
    def machines(self) -> Machines:
        return self._machines

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        request = Request(environ)
        body = request.get_data()
        if request.path.startswith("/metadata/"):
            answer = self._metadata(request)
        elif request.path.startswith("/stand-in/"):
            answer = self._control(request, json.loads(body or b"{}"))
        elif "AWSPriceListService" in request.headers.get("X-Amz-Target", ""):
            answer = self._price_list(json.loads(body))
        else:
            form = dict(parse_qsl(body.decode(), keep_blank_values=True))
            answer = self._ec2(form, environ, body)
        return answer(environ, start_response)

    # EC2

    def _ec2(self, form: dict[str, str], environ: dict[str, Any], body: bytes) -> Response:
        action = form.get("Action", "")
        if action == "RunInstances":
            return self._run(form, environ, body)
        if action == "TerminateInstances":
            return self._terminate([v for k, v in form.items() if k.startswith("InstanceId.")])
        if action == "DescribeSpotPriceHistory":
            return self._spot_prices(form)
        return self._by_moto(environ, body)

    def _by_moto(self, environ: dict[str, Any], body: bytes) -> Response:
        environ = {**environ, "wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        return Response.from_app(self._moto, environ)

    def _run(self, form: dict[str, str], environ: dict[str, Any], body: bytes) -> Response:
        asked = json.dumps({k: v for k, v in sorted(form.items()) if k not in ("ClientToken",)})
        token = form.get("ClientToken", "")
        with self._launch_lock:
            if token in self._tokens:
                earlier, answer = self._tokens[token]
                if earlier != asked:
                    return _error("IdempotentParameterMismatch", "The arguments on this idempotent request are "
                                  "inconsistent with arguments used in previous requests.")  # fmt: skip
                return Response(answer, mimetype="text/xml")
            zone, kind = form.get("Placement.AvailabilityZone", ""), form.get("InstanceType", "")
            if zone in self._market.full:
                return _error("InsufficientInstanceCapacity", f"There is no Spot capacity available in {zone} that "
                              "matches your request.", 500)  # fmt: skip
            if self._market.on_demand(kind) is None:
                return _error("InvalidParameterValue", f"Invalid value '{kind}' for InstanceType.")
            response = self._by_moto(environ, body)
            text = response.get_data(as_text=True)
            if response.status_code != 200:
                return response
            self._tokens[token] = (asked, text)
        id = text.split("<instanceId>")[1].split("</instanceId>")[0]
        if self._launching:
            data = base64.b64decode(form.get("UserData", "")).decode()
            self._machines.start(id, data, f"{self._base}/metadata/{id}")
        self._tell(id, "running")
        return Response(text, mimetype="text/xml")

    def _terminate(self, ids: list[str]) -> Response:
        known = [id for id in ids if self._moto_instance(id) is not None]
        if len(known) != len(ids):
            missing = ", ".join(sorted(set(ids) - set(known)))
            return _error("InvalidInstanceID.NotFound", f"The instance ID '{missing}' does not exist")
        items = []
        for id in known:
            instance = self._moto_instance(id)
            before = instance.state
            if before not in ("shutting-down", "terminated"):
                instance._state.name, instance._state.code = "shutting-down", 32
                instance._reason = f"User initiated ({utc_now().strftime('%Y-%m-%d %H:%M:%S')} GMT)"
                if self._launching:
                    self._machines.stop(id)
                else:
                    self._ended(id)
            items.append(
                f"<item><instanceId>{id}</instanceId><currentState><code>{instance._state.code}</code>"
                f"<name>{instance._state.name}</name></currentState><previousState><code>16</code>"
                f"<name>{before}</name></previousState></item>"
            )
        return Response(f'<TerminateInstancesResponse xmlns="{EC2_NAMESPACE}"><requestId>stand-in</requestId>'
                        f"<instancesSet>{''.join(items)}</instancesSet></TerminateInstancesResponse>",
                        mimetype="text/xml")  # fmt: skip

    def _ended(self, id: str) -> None:
        """The instance's processes are gone, whoever ended them."""
        instance = self._moto_instance(id)
        if instance is None or instance.state == "terminated":
            return
        reason = instance._reason or f"User initiated ({utc_now().strftime('%Y-%m-%d %H:%M:%S')} GMT)"
        ec2_backends[ACCOUNT][REGION].terminate_instances([id])
        instance._reason = "Server.SpotInstanceTermination" if id in self._interrupted else reason
        self._tell(id, "terminated")

    def _spot_prices(self, form: dict[str, str]) -> Response:
        now = utc_now()
        kinds = [v for k, v in form.items() if k.startswith("InstanceType.")]
        since = datetime.fromisoformat(form["StartTime"].replace("Z", "+00:00")) if "StartTime" in form else now
        until = datetime.fromisoformat(form["EndTime"].replace("Z", "+00:00")) if "EndTime" in form else now
        start = int(form.get("NextToken") or 0)
        size = int(form.get("MaxResults") or 1000)
        entries = self._market.history(kinds, since, until)
        items = "".join(
            f"<item><instanceType>{kind}</instanceType><productDescription>Linux/UNIX</productDescription><spotPrice>"
            f"{point.usd_per_hour}</spotPrice><timestamp>{point.at.strftime('%Y-%m-%dT%H:%M:%S.%fZ')}</timestamp>"
            f"<availabilityZone>{zone}</availabilityZone></item>"
            for kind, zone, point in entries[start : start + size]
        )
        following = str(start + size) if start + size < len(entries) else ""
        return Response(f'<DescribeSpotPriceHistoryResponse xmlns="{EC2_NAMESPACE}"><requestId>stand-in</requestId>'
                        f"<spotPriceHistorySet>{items}</spotPriceHistorySet><nextToken>{following}</nextToken>"
                        "</DescribeSpotPriceHistoryResponse>", mimetype="text/xml")  # fmt: skip

    def _price_list(self, asked: dict[str, Any]) -> Response:
        wanted = {f["Field"]: f["Value"] for f in asked["Filters"]}
        price = self._market.on_demand(wanted.get("instanceType", ""))
        offers = [] if price is None else [json.dumps({
            "product": {"attributes": wanted},
            "terms": {"OnDemand": {"t": {"priceDimensions": {
                "d": {"unit": "Hrs", "pricePerUnit": {"USD": str(price)}}}}}},
        })]  # fmt: skip
        answer = json.dumps({"FormatVersion": "aws_v1", "PriceList": offers})
        return Response(answer, mimetype="application/x-amz-json-1.1")

    # The metadata service (IMDSv2)

    def _metadata(self, request: Request) -> Response:
        _, _, id, path = request.path.split("/", 3)
        if path == "latest/api/token" and request.method == "PUT":
            return Response(f"token-{id}")
        if request.headers.get("X-aws-ec2-metadata-token") != f"token-{id}":
            return Response("Unauthorized", 401)
        instance = self._moto_instance(id)
        if instance is None:
            return Response("Not Found", 404)
        if path.startswith("latest/meta-data/tags/instance/"):
            key = path.rpartition("/")[2]
            value = next((t["value"] for t in instance.get_tags() if t["key"] == key), None)
            return Response("Not Found", 404) if value is None else Response(value)
        if path == "latest/meta-data/spot/instance-action" and id in self._notices:
            at = self._notices[id].strftime("%Y-%m-%dT%H:%M:%SZ")
            return Response(json.dumps({"action": "terminate", "time": at}))
        return Response("Not Found", 404)

    # The controls

    def _control(self, request: Request, asked: dict[str, Any]) -> Response:
        what = request.path.removeprefix("/stand-in/")
        if what == "market":
            self._market.fix(Decimal(str(asked["share"])), utc_now())
        elif what == "capacity":
            self._market.full = set(asked["full_zones"])
        elif what == "interrupt":
            self._interrupt(asked["instance"], float(asked.get("notice_s", NOTICE.total_seconds())))
        elif what == "running":
            return _json({"instances": self._machines.running()})
        elif what == "launch-template":
            boto3.client("ec2", region_name=REGION, endpoint_url=self._base).create_launch_template(
                LaunchTemplateName=asked["name"], LaunchTemplateData=asked["data"]
            )
        elif what != "ready":
            return Response("Not Found", 404)
        return _json({"ok": True})

    def _interrupt(self, id: str, notice_s: float) -> None:
        """EC2 takes the instance back: a notice now, the end when it is over."""
        self._notices[id] = utc_now() + timedelta(seconds=notice_s)
        self._interrupted.add(id)
        detail = {"instance-id": id, "instance-action": "terminate"}
        self._put_event("EC2 Spot Instance Interruption Warning", detail)
        timer = threading.Timer(notice_s, self._machines.stop, (id,))
        timer.daemon = True
        timer.start()

    def _tell(self, id: str, state: str) -> None:
        self._put_event("EC2 Instance State-change Notification", {"instance-id": id, "state": state})

    def _put_event(self, kind: str, detail: dict[str, str]) -> None:
        """EventBridge may be down: then nobody hears of it, as with AWS."""
        try:
            self._events.put_events(Entries=[{"Source": SOURCE, "DetailType": kind, "Detail": json.dumps(detail),
                                              "Time": datetime.now(timezone.utc)}])  # fmt: skip
        except Exception as error:  # noqa: BLE001
            print("no event:", error, file=sys.stderr)

    def _moto_instance(self, id: str) -> Any:
        return ec2_backends[ACCOUNT][REGION].get_instance_by_id(id)


def _json(value: Any) -> Response:
    return Response(json.dumps(value), mimetype="application/json")


def _error(code: str, message: str, status: int = 400) -> Response:
    return Response(f"<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>"
                    "<RequestID>stand-in</RequestID></Response>", status, mimetype="text/xml")  # fmt: skip


class _Quiet(WSGIRequestHandler):
    def log_request(self, *_: Any) -> None:
        return


def main(fd: int, folder: Path) -> None:
    with socket.socket(fileno=os.dup(fd)) as listens:
        port = port_of(listens)
    service = Ec2(folder, port, dict(os.environ))
    end_with_parent(service.machines.kill_all)
    make_server("127.0.0.1", port, service, threaded=True, request_handler=_Quiet, fd=fd).serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
