"""A day in the life of a client whose every request and answer openapi-core validates by the contract."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import requests
from openapi_core import Config, OpenAPI
from openapi_core.contrib.requests import RequestsOpenAPIRequest, RequestsOpenAPIResponse
from openapi_core.validation.request.exceptions import InvalidParameter

URL = os.environ["API_URL"]
AUDIO = Path(os.environ["AUDIO"])
RUN_ID = os.environ["RUN_ID"]


def text(body: bytes, charset: str) -> str:
    return body.decode(charset)


# Without these it takes captions and problems for bytes.
config = Config(extra_media_type_deserializers={"text/vtt": text, "application/problem+json": json.loads})
contract = OpenAPI.from_file_path(sys.argv[1], config=config)


def ask(method: str, path: str, key: str = os.environ["API_KEY"], headers: dict[str, str] = {}, **more: Any) -> Any:
    session = requests.Session()
    all_headers = {"Authorization": f"Bearer {key}", **headers}
    request = session.prepare_request(requests.Request(method, URL + path, headers=all_headers, **more))
    contract.validate_request(RequestsOpenAPIRequest(request))
    answer = session.send(request, timeout=40)
    contract.validate_response(RequestsOpenAPIRequest(request), RequestsOpenAPIResponse(answer))
    return answer.json() if "json" in answer.headers["Content-Type"] else answer.text


def upload(recording: bytes) -> Any:
    files = {"file": (AUDIO.name, recording, "application/octet-stream")}
    return ask("POST", "/transcriptions", headers={"Idempotency-Key": RUN_ID}, files=files)


def final_transcript(session_id: str) -> Any:
    while True:
        transcript = ask("GET", f"/sessions/{session_id}/transcript", params={"wait": "30", "include": "words"})
        if transcript["status"] in ("completed", "failed"):
            return transcript


def refuses_a_wrong_request() -> bool:
    try:
        ask("GET", "/sessions", params={"limit": "0"})
    except InvalidParameter:
        return True
    return False


recording = AUDIO.read_bytes()
session_id = upload(recording)["sessionId"]
segments = final_transcript(session_id)["segments"]
assert refuses_a_wrong_request(), "it validates nothing"
experience = {
    "listed": len(ask("GET", "/sessions", params={"limit": "5", "status": ["completed", "failed"]})["items"]),
    "status": ask("GET", f"/sessions/{session_id}")["status"],
    "segments": len(segments),
    "text": " ".join(segment["text"] for segment in segments),
    "words": sum(len(segment["words"]) for segment in segments),
    "captions": ask("GET", f"/sessions/{session_id}/transcript", params={"format": "vtt"}),
    "problems": [
        ask("GET", "/sessions", key="wrong")["code"],
        ask("GET", f"/sessions/{RUN_ID}")["code"],
        upload(recording + b"\0\0")["code"],
    ],
}
print(json.dumps(experience))
