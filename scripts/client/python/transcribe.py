"""Upload a recording, wait for its transcript, print it. Needs `requests`. API=https://…/v1 KEY=tsk_… transcribe.py FILE"""

import os
import sys
import time
import uuid

import requests

API = os.environ["API"]
HEADERS = {"Authorization": f"Bearer {os.environ['KEY']}"}
TRIES = 4

contract = requests.get(f"{API}/openapi.json", timeout=30).json()
RETRY = contract["components"]["schemas"]["Problem"]["properties"]["code"]["x-retry"]


def retry_of(answer):
    """What the contract says about repeating a request; `same_key` when the service itself gave no answer."""
    if answer is None:
        return "same_key"
    try:
        code = answer.json()["code"]
    except (ValueError, KeyError, TypeError):
        return "same_key" if answer.status_code >= 500 else "change_request"
    return RETRY.get(code, "later" if "Retry-After" in answer.headers else "change_request")


def ask(send):
    """Sends until there is an answer: as long as it takes after `later`, a few times after `same_key`."""
    failures = 0
    while True:
        try:
            answer = send()
        except (requests.ConnectionError, requests.Timeout):
            answer = None
        if answer is not None and answer.ok:
            return answer.json()
        retry = retry_of(answer)
        failures += retry != "later"
        if retry not in ("later", "same_key") or failures == TRIES:
            sys.exit(answer.text if answer is not None else "The service gave no answer.")
        time.sleep(int(answer.headers.get("Retry-After", 1)) if answer is not None else 2**failures)


def upload(path, idempotency_key):
    with open(path, "rb") as audio:
        headers = {**HEADERS, "Idempotency-Key": idempotency_key}
        return requests.post(f"{API}/transcriptions", files={"file": audio}, headers=headers, timeout=600)


def transcript(session_id):
    # The time limit is longer than `wait`.
    address = f"{API}/sessions/{session_id}/transcript"
    return requests.get(address, params={"wait": 30}, headers=HEADERS, timeout=40)


key = str(uuid.uuid4())
session_id = ask(lambda: upload(sys.argv[1], key))["sessionId"]
while (result := ask(lambda: transcript(session_id)))["status"] not in ("completed", "failed"):
    pass
if "error" in result:
    sys.exit(f"{result['error']['message']} ({result['error']['code']})")
for segment in result["segments"]:
    print(segment["text"])
