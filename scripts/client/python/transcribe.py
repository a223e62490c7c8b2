"""Upload a recording, wait for its transcript, print it. Needs `requests`. API=https://…/v1 KEY=tsk_… transcribe.py FILE"""

import datetime
import email.utils
import os
import random
import sys
import time
import uuid

import requests

API = os.environ["API"]
HEADERS = {"Authorization": f"Bearer {os.environ['KEY']}"}
# Seconds. A service that is started again is away for up to half a minute; after two hours of `later`, ask a person.
PATIENCE = {"same_key": 120, "later": 7200}
contract = requests.get(f"{API}/openapi.json", timeout=30).json()
RETRY = contract["components"]["schemas"]["Problem"]["properties"]["code"]["x-retry"]


def retry_of(answer):
    """What the contract says about repeating a request; an answer without a code is a proxy's."""
    try:
        code = answer.json()["code"]
    except (ValueError, KeyError, TypeError):
        if answer.status_code == 429:
            return "later"
        return "same_key" if answer.status_code == 408 or answer.status_code >= 500 else "change_request"
    return RETRY.get(code, "later" if "Retry-After" in answer.headers else "change_request")


def seconds_of(after):
    """Of `Retry-After`: seconds; or a date, from a proxy. None for anything else."""
    if after.isdigit():
        return int(after)
    try:
        return (email.utils.parsedate_to_datetime(after) - datetime.datetime.now(datetime.timezone.utc)).total_seconds()
    except (TypeError, ValueError):
        return None


def ask(send):
    """Sends until there is an answer: for two hours after `later`, for two minutes after `same_key`."""
    tries, waited = 0, {"same_key": 0, "later": 0}
    while True:
        pause = min(2**tries, 30) * (1 + random.random() / 4)
        try:
            answer = send()
            if answer.ok:
                return answer.json()
            retry, why = retry_of(answer), answer.text
            after = seconds_of(answer.headers.get("Retry-After", ""))
            pause = pause if after is None else max(after, 1)
        except requests.RequestException as error:
            retry, why = "same_key", str(error)
        tries += 1
        if retry in PATIENCE:
            waited[retry] += pause
        if retry not in PATIENCE or waited[retry] > PATIENCE[retry]:
            sys.exit(why)
        time.sleep(pause)


def upload(path, key):
    with open(path, "rb") as audio:
        headers = {**HEADERS, "Idempotency-Key": key}
        return requests.post(f"{API}/transcriptions", files={"file": audio}, headers=headers, timeout=600)


def transcript(session_id):
    address = f"{API}/sessions/{session_id}/transcript?wait=30"
    return requests.get(address, headers=HEADERS, timeout=40)  # longer than `wait`


key = str(uuid.uuid4())
session_id = ask(lambda: upload(sys.argv[1], key))["sessionId"]
while (result := ask(lambda: transcript(session_id)))["status"] not in ("completed", "failed"):
    pass
if "error" in result:
    sys.exit(f"{result['error']['message']} ({result['error']['code']})")
print("\n".join(segment["text"] for segment in result["segments"]))
