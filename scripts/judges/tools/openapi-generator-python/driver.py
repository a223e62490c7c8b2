"""A day in the life of a client by openapi-generator (Python)."""

import json
import os
from pathlib import Path
from typing import Callable
from uuid import UUID

from generated import ApiClient, Configuration, SessionsApi, SessionStatus, Transcript, TranscriptInclude
from generated import TranscriptionJob, TranscriptionsApi
from generated.exceptions import ApiException
from generated.models.problem import Problem

AUDIO = Path(os.environ["AUDIO"])
RUN_ID = os.environ["RUN_ID"]


def client_with(token: str) -> ApiClient:
    return ApiClient(Configuration(host=os.environ["API_URL"], access_token=token))


def upload(client: ApiClient, speakers: int | None = None) -> TranscriptionJob:
    recording = (AUDIO.name, AUDIO.read_bytes())
    return TranscriptionsApi(client).create_transcription(recording, RUN_ID, speakers=speakers)


def final_transcript(client: ApiClient, session_id: UUID) -> Transcript:
    while True:
        transcript = SessionsApi(client).get_transcript(session_id, wait=30, include=TranscriptInclude.WORDS)
        if transcript.status in (SessionStatus.COMPLETED, SessionStatus.FAILED):
            return transcript


def code_of(request: Callable[[], object]) -> str:
    try:
        request()
    except ApiException as error:
        assert isinstance(error.data, Problem), error
        return error.data.code
    raise AssertionError("no error")


client = client_with(os.environ["API_KEY"])
transcript = final_transcript(client, upload(client).session_id)
page = SessionsApi(client).list_sessions(limit=5, status=[SessionStatus.COMPLETED, SessionStatus.FAILED])
experience = {
    "listed": len(page.items),
    "segments": len(transcript.segments),
    "text": " ".join(segment.text for segment in transcript.segments),
    "words": sum(len(segment.words or []) for segment in transcript.segments),
    "problems": [
        code_of(lambda: SessionsApi(client_with("wrong")).list_sessions()),
        code_of(lambda: SessionsApi(client).get_session(UUID(RUN_ID))),
        code_of(lambda: upload(client, 1)),
    ],
}
print(json.dumps(experience))
