"""A day in the life of a client by openapi-python-client."""

import json
import os
from pathlib import Path
from uuid import UUID

import httpx
from generated import AuthenticatedClient
from generated.api.sessions import get_session, get_transcript, list_sessions
from generated.api.transcriptions import create_transcription
from generated.models import (
    Problem,
    SessionPage,
    SessionStatus,
    Transcript,
    TranscriptInclude,
    TranscriptionJob,
    TranscriptionRequest,
)
from generated.types import UNSET, File, Unset

AUDIO = Path(os.environ["AUDIO"])
RUN_ID = os.environ["RUN_ID"]


def client_with(token: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=os.environ["API_URL"], token=token, timeout=httpx.Timeout(40))


def upload(client: AuthenticatedClient, speakers: int | Unset = UNSET) -> Problem | TranscriptionJob | None:
    with AUDIO.open("rb") as recording:
        file = File(payload=recording, file_name=AUDIO.name, mime_type="application/octet-stream")
        body = TranscriptionRequest(file=file, speakers=speakers)
        return create_transcription.sync(client=client, body=body, idempotency_key=RUN_ID)


def final_transcript(client: AuthenticatedClient, session_id: UUID) -> Transcript:
    while True:
        answer = get_transcript.sync(session_id, client=client, wait=30, include=TranscriptInclude.WORDS)
        assert isinstance(answer, Transcript), answer
        if answer.status in (SessionStatus.COMPLETED, SessionStatus.FAILED):
            return answer


def code_of(answer: object) -> str:
    assert isinstance(answer, Problem), answer
    return answer.code


with client_with(os.environ["API_KEY"]) as client, client_with("wrong") as stranger:
    job = upload(client)
    assert isinstance(job, TranscriptionJob), job
    transcript = final_transcript(client, job.session_id)
    page = list_sessions.sync(client=client, limit=5, status=[SessionStatus.COMPLETED, SessionStatus.FAILED])
    assert isinstance(page, SessionPage), page
    problems = [
        code_of(list_sessions.sync(client=stranger)),
        code_of(get_session.sync(UUID(RUN_ID), client=client)),
        code_of(upload(client, 1)),
    ]

segments = transcript.segments
experience = {
    "listed": len(page.items),
    "segments": len(segments),
    "text": " ".join(segment.text for segment in segments),
    "words": sum(len(segment.words or []) for segment in segments),
    "problems": problems,
}
print(json.dumps(experience))
