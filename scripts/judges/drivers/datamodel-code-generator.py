"""A day in the life of models by datamodel-code-generator. httpx carries what they read and write."""

import json
import os
from pathlib import Path
from uuid import UUID

import httpx
from models import Problem, Session, SessionPage, SessionStatus, Transcript, TranscriptInclude, TranscriptionJob

AUDIO = Path(os.environ["AUDIO"])
RUN_ID = os.environ["RUN_ID"]


def client_with(key: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.Client(base_url=os.environ["API_URL"], headers=headers, timeout=40)


def get(client: httpx.Client, path: str, **query: int | str | list[str]) -> httpx.Response:
    return client.get(path, params=query)


def upload(client: httpx.Client, speakers: int | None = None) -> httpx.Response:
    data = {} if speakers is None else {"speakers": str(speakers)}
    files = {"file": (AUDIO.name, AUDIO.read_bytes())}
    return client.post("/transcriptions", files=files, data=data, headers={"Idempotency-Key": RUN_ID})


def final_transcript(client: httpx.Client, session_id: UUID) -> Transcript:
    while True:
        answer = get(client, f"/sessions/{session_id}/transcript", wait=30, include=TranscriptInclude.words)
        transcript = Transcript.model_validate_json(answer.text)
        if transcript.status in (SessionStatus.completed, SessionStatus.failed):
            return transcript


def code_of(answer: httpx.Response) -> str:
    return Problem.model_validate_json(answer.text).code


with client_with(os.environ["API_KEY"]) as client, client_with("wrong") as stranger:
    job = TranscriptionJob.model_validate_json(upload(client).text)
    transcript = final_transcript(client, job.sessionId)
    session = Session.model_validate_json(get(client, f"/sessions/{job.sessionId}").text)
    final: list[str] = [SessionStatus.completed, SessionStatus.failed]
    page = SessionPage.model_validate_json(get(client, "/sessions", limit=5, status=final).text)
    problems = [
        code_of(get(stranger, "/sessions")),
        code_of(get(client, f"/sessions/{RUN_ID}")),
        code_of(upload(client, 1)),
    ]

experience = {
    "listed": len(page.items),
    "status": session.status.value,
    "segments": len(transcript.segments),
    "text": " ".join(segment.text for segment in transcript.segments),
    "words": sum(len(segment.words or []) for segment in transcript.segments),
    "problems": problems,
}
print(json.dumps(experience))
