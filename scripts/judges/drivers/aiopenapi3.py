"""A day in the life of a client that aiopenapi3 makes of the contract while it runs."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import httpx2
from aiopenapi3 import FileSystemLoader, OpenAPI
from aiopenapi3.errors import HTTPClientError

AUDIO = Path(os.environ["AUDIO"])
RUN_ID = os.environ["RUN_ID"]
contract = Path(sys.argv[1])


def session(**more: Any) -> httpx2.Client:
    # The time limit is longer than `wait`.
    return httpx2.Client(**{**more, "timeout": 40})


def client_with(key: str) -> OpenAPI:
    loader = FileSystemLoader(contract.parent)
    api = OpenAPI.load_file(os.environ["API_URL"] + "/", contract.name, loader=loader, session_factory=session)
    api.authenticate(ApiKey=key)
    return api


def upload(**fields: str) -> Any:
    with AUDIO.open("rb") as recording:
        form = [("file", (AUDIO.name, recording, "audio/wav")), *fields.items()]
        return api._.createTranscription(parameters={"Idempotency-Key": RUN_ID}, data=form)


def final_transcript(id: str) -> Any:
    while True:
        transcript = api._.getTranscript(parameters={"id": id, "wait": 30, "include": "words"})
        if transcript.status in ("completed", "failed"):
            return transcript


def code_of(request: Any) -> str:
    try:
        request()
    except HTTPClientError as error:
        return str(json.loads(error.data)["code"])
    raise AssertionError("no error")


api = client_with(os.environ["API_KEY"])
id = str(upload().sessionId)
segments = final_transcript(id).segments
experience = {
    "listed": len(api._.listSessions(parameters={"limit": 5, "status": ["completed", "failed"]}).items),
    "status": api._.getSession(parameters={"id": id}).status,
    "segments": len(segments),
    "text": " ".join(segment.text for segment in segments),
    "words": sum(len(segment.words) for segment in segments),
    "captions": api._.getTranscript(parameters={"id": id, "format": "vtt"}).decode(),
    "problems": [
        code_of(lambda: client_with("wrong")._.listSessions()),
        code_of(lambda: api._.getSession(parameters={"id": RUN_ID})),
        code_of(lambda: upload(speakers="1")),
    ],
}
print(json.dumps(experience))
