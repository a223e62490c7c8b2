"""What Schemathesis can't make up by itself: a recording, cursors and ids that exist, and keys nobody used before."""

import itertools
import os
import uuid
from pathlib import Path

import schemathesis
from hypothesis import strategies as st
from schemathesis import GenerationMode

RECORDING = Path(os.environ["SHORT_AUDIO"]).read_bytes()
SESSION_IDS = os.environ["SESSION_IDS"].split(",")
FILTERS = ("status", "createdAfter", "createdBefore", "q", "reference", "language")
TEXT_FIELDS = ("title", "reference", "language", "channels")

uploads = itertools.count()
filters_of_cursor = {os.environ["CURSOR"]: {}}

schemathesis.openapi.format("binary", st.just(RECORDING))


@schemathesis.deserializer("text/vtt", "application/x-subrip")
def captions(_context, response):
    return response.text


@schemathesis.hook
def filter_case(_context, case):
    """In a form everything is text, so nothing else can be sent in place of a text."""
    form = case.body if case.operation.path == "/transcriptions" else None
    if not isinstance(form, dict):
        return True
    terms = form.get("keyterms", [])
    texts = [form.get(name, "") for name in TEXT_FIELDS]
    return isinstance(terms, list) and all(isinstance(text, str) for text in [*texts, *terms])


@schemathesis.hook
def before_call(_context, case, _kwargs):
    """Cases that break the contract stay as they are."""
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    if case.operation.path == "/sessions":
        usable_cursor(case)
    elif case.operation.path == "/transcriptions":
        unused_key(case)
    elif case.meta.phase.name.value == "stateful":
        short_wait(case)
    elif case.operation.path.startswith("/sessions/{id}"):
        mostly_known_id(case)


@schemathesis.hook
def after_call(_context, case, response):
    """A cursor belongs to the filters it was issued with."""
    if case.operation.path == "/sessions" and response.status_code == 200:
        cursor = response.json().get("nextCursor")
        if cursor is not None:
            filters_of_cursor[cursor] = {name: value for name, value in (case.query or {}).items() if name in FILTERS}


def usable_cursor(case):
    if case.query and "cursor" in case.query:
        cursor = case.query["cursor"]
        if cursor not in filters_of_cursor:
            cursor = next(reversed(filters_of_cursor))
        limit = {"limit": case.query["limit"]} if "limit" in case.query else {}
        case.query = {**limit, **filters_of_cursor[cursor], "cursor": cursor}


def unused_key(case):
    """The same key with another `title` would rightly be refused."""
    key = (case.headers or {}).get("Idempotency-Key")
    if key is not None:
        case.headers["Idempotency-Key"] = f"{os.getpid()}-{next(uploads)} {key}"[:255].rstrip()


def mostly_known_id(case):
    """Three of four, so that the 404 is met too."""
    number = uuid.UUID(case.path_parameters["id"]).int
    if number % 4:
        case.path_parameters["id"] = SESSION_IDS[number % len(SESSION_IDS)]


def short_wait(case):
    """Sequences upload faster than the recognizer works: holding each answer for half a minute would take hours."""
    if case.query and "wait" in case.query:
        case.query["wait"] = min(case.query["wait"], 1)
