// Generated from openapi.yaml by `npm run generate`. Edit that instead.

export interface paths {
    "/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List saved sessions
         * @description The sessions of the account that owns the key, newest first, a page at a time. To get the next page repeat the
         *     request with `cursor` set to the `nextCursor` of the answer; the last page has none. There are no totals.
         *     Sessions uploaded while you page do not appear on later pages, and one may become visible a moment after a newer one.
         *     With `status`, a session whose state changes meanwhile may be missed: read the list again later.
         *
         *     `q` searches titles and transcripts and goes together with every filter; each session that is found says in
         *     `matches` where. What a transcript says can be found as soon as its session is `completed`. Times of which
         *     `createdAfter` is not before `createdBefore` give an empty page.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one session
         * @description A session of another account, a deleted one and one that never existed are the same 404. `Retry-After` says when
         *     to ask again, until the session is final.
         */
        get: operations["getSession"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/transcript": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the transcript of a session
         * @description JSON is 200 for a session of your own, whatever its status. Segments appear all at once, when the session is `completed`; until then
         *     `segments` is empty. Stop polling on `completed` or `failed`, not on "segments not empty": a recording without
         *     speech completes with no segments.
         *
         *     `wait` holds the answer, in whatever format, until the session is final, the time is over, or the service stops.
         *     `Retry-After` says when to ask again without it.
         *     `If-None-Match` with the last `ETag` gives 304 while nothing changed.
         *
         *     `format=vtt`, `srt`, `txt` or `md` gives captions, plain text or Markdown of a completed session; so does
         *     `Accept: text/vtt`, `application/x-subrip`, `text/plain` or `text/markdown` where `format` is left out.
         *     All of them are UTF-8. `format` wins over `Accept`. Of types rated alike the first of JSON, WebVTT, SubRip, plain text
         *     and Markdown is answered; `*\/*` or no `Accept` is JSON, and `text/*` is WebVTT.
         */
        get: operations["getTranscript"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transcriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload audio and queue its transcription
         * @description Accepts any file with an audio stream that ffmpeg can read, up to the account's limits (1 GiB and 4 hours unless
         *     the operator set others). The answer comes once the file is safely stored and the job is queued; the transcript then
         *     appears at the address in `Location`, followed by `/transcript`. Some seconds pass between the last byte and the
         *     answer; two minutes and more, where the file is hard to read or many come at once. There are up to three attempts at the
         *     transcription, each of at most 15 minutes plus four times the duration.
         *
         *     The fields come in any order, and in UTF-8: other text is 400 `invalid_request`. An empty one counts as none. A name of
         *     the file that is not UTF-8 is read as Latin-1. The `Content-Type` of the file does not matter, and the body may come without
         *     a `Content-Length`.
         *
         *     The measured duration is reserved on the account's balance and, once the transcript is stored, the decoded
         *     duration is charged. Nothing is charged for a failed session or for audio in which nothing was said.
         *
         *     Send an `Idempotency-Key` to make a retry safe: within 24 hours the same key with the same file and the same
         *     fields gives the first answer again. The parameter says what that means in each case.
         */
        post: operations["createTranscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download this contract
         * @description The OpenAPI description of version 1, needing no key. The same bytes are served at `/openapi.json`, outside the
         *     versioned base address. Query parameters are ignored, so that one may be added to get past a cache.
         */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description `queued` (waiting for a worker), `processing`, `completed` or `failed`. The last two are final. After a crash a
         *     session may go from `processing` back to `queued`.
         * @enum {string}
         */
        SessionStatus: "queued" | "processing" | "completed" | "failed";
        /** @description A saved record of one upload. */
        Session: {
            /**
             * Format: uuid
             * @description The identifier of the session.
             * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3c
             */
            id: string;
            status: components["schemas"]["SessionStatus"];
            /**
             * @description What the upload called it in `title`; otherwise the name of the uploaded file, without its folder and extension,
             *     or `Untitled` when it had none.
             * @example Board meeting
             */
            title: string;
            /**
             * @description The client's own identifier of the recording, where the upload sent one.
             * @example TICKET-4711
             */
            reference?: string;
            /**
             * Format: date-time
             * @description When the upload was accepted.
             * @example 2026-11-20T09:30:00.123456Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When a worker last began to transcribe it.
             * @example 2026-11-20T09:30:01.5Z
             */
            startedAt?: string;
            /**
             * Format: date-time
             * @description When the session became `completed` or `failed`.
             * @example 2026-11-20T09:34:10.25Z
             */
            completedAt?: string;
            /**
             * Format: date-time
             * @description When the session is deleted for good, within an hour; then it is 404 `session_not_found`. Without it, the session
             *     is kept.
             * @example 2027-02-18T09:30:00.123456Z
             */
            deleteAt?: string;
            channels?: components["schemas"]["ChannelMode"];
            /**
             * Format: int32
             * @description The duration of the audio in milliseconds, measured at the upload and exact once completed. Absent before that
             *     where it could not be measured at the upload.
             * @example 1834000
             */
            durationMs?: number;
            /**
             * Format: int32
             * @description What was charged to the transcription balance, in milliseconds; 0 when nothing was said, and less than
             *     `durationMs` where parts could not be heard. Present once completed.
             * @example 1834000
             */
            chargedMs?: number;
            /**
             * @description The language of the recording as a BCP 47 tag in its canonical spelling. The one that the upload asked for, if it
             *     did; otherwise, once completed, the one that the recognizer was set to or found, when it tells.
             * @example en-US
             */
            language?: string;
            /**
             * Format: int32
             * @description How much of the audio has been recognized, in percent, while the session is `processing`. Absent at first,
             *     and for a short recording perhaps throughout; new every two seconds at most.
             * @example 40
             */
            progress?: number;
            error?: components["schemas"]["SessionError"];
            /**
             * @description What makes the transcript less than it could be, known from the recording itself. Present once completed, and
             *     only when there is something to say.
             */
            warnings?: components["schemas"]["TranscriptWarning"][];
            /**
             * @description Where `q` was found in the transcript: at most three segments, in the order of time. Of more than three those
             *     that hold most of its words and phrases are chosen, of equal ones the earliest; the later hours of very long
             *     transcripts may be left out. `q` of the transcript gives all. Empty when only the title holds them, and where `q`
             *     has only very common words; only in a list that was asked for with `q`.
             */
            matches?: components["schemas"]["SearchMatch"][];
        };
        /** @description A segment of a transcript in which something was found. */
        SearchMatch: {
            /**
             * Format: int32
             * @description The `index` of the segment in its transcript.
             * @example 1
             */
            segmentIndex: number;
            /**
             * Format: int32
             * @description Where the segment begins, in milliseconds from the beginning of the audio.
             * @example 3900
             */
            startMs: number;
            /**
             * Format: int32
             * @description Where the segment ends, in milliseconds from the beginning of the audio.
             * @example 6950
             */
            endMs: number;
            /**
             * @description What was said in the segment. A phrase may go on in the next one.
             * @example let us begin with the minutes
             */
            text: string;
        };
        /** @description Why a session failed. Present if and only if the status is `failed`. */
        SessionError: {
            /**
             * @description A stable code: `unsupported_media`, `no_audio_track`, `audio_too_long`, `insufficient_balance`,
             *     `recognizer_error`, `timed_out`, `canceled`, `too_many_channels`, `audio_unreadable` (what was stored of the upload
             *     is damaged or gone: upload the same recording with a new `Idempotency-Key`) or `language_not_supported`, whose
             *     message says which languages the recognizer knows, as far as it tells. Others may be added. `x-retry` says of each
             *     what to do: upload another recording or other fields, or a new key where that is said (`change_request`), or ask the
             *     operator, who may retry the session. Do so for an unknown code, too: show its `message`.
             * @example unsupported_media
             */
            code: string;
            /**
             * @description A sentence for people.
             * @example The audio could not be decoded.
             */
            message: string;
        };
        /** @description Something about a recording that makes its transcript less than it could be. */
        TranscriptWarning: {
            /**
             * @description A stable code: `truncated` (the file ends before its own header says, or goes on
             *     behind what could be heard), `quiet`, `clipped`, `narrowband` (sampled
             *     as for a telephone), `other_tracks_ignored` (one of several audio tracks was transcribed) or `speech_uncertain`
             *     (somebody speaks in this stretch, but no words were found, or words that may be wrong). Others may be added:
             *     ignore those that you don't know.
             * @example speech_uncertain
             */
            code: string;
            /**
             * @description A sentence for people.
             * @example Somebody speaks here, but the words are missing or may be wrong.
             */
            message: string;
            /**
             * Format: int32
             * @description With `speech_uncertain`, where the stretch begins, in milliseconds from the beginning of the audio.
             * @example 61000
             */
            startMs?: number;
            /**
             * Format: int32
             * @description With `speech_uncertain`, where the stretch ends, in milliseconds from the beginning of the audio.
             * @example 64500
             */
            endMs?: number;
        };
        /** @description A page of sessions, newest first. */
        SessionPage: {
            /** @description The sessions of this page. */
            items: components["schemas"]["Session"][];
            /**
             * @description The `cursor` of the next page; absent on the last page.
             * @example ZmExMGIyMjYyMDI2LTExLTIwVDA5OjI4OjAwWiAwMWExZjg5YS0wYjdjLTdkMmUtOWYxMC01YjFkM2MyYTRlNmY
             */
            nextCursor?: string;
        };
        /** @description The transcript of a session as it stands. */
        Transcript: {
            /**
             * Format: uuid
             * @description The session that the transcript belongs to.
             * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3c
             */
            sessionId: string;
            status: components["schemas"]["SessionStatus"];
            /**
             * Format: int32
             * @description The duration of the audio in milliseconds, measured at the upload and exact once completed. Absent before that
             *     where it could not be measured at the upload.
             * @example 7100
             */
            durationMs?: number;
            /**
             * @description The language of the recording as a BCP 47 tag in its canonical spelling. The one that the upload asked for, if it
             *     did; otherwise, once completed, the one that the recognizer was set to or found, when it tells.
             * @example en-US
             */
            language?: string;
            error?: components["schemas"]["SessionError"];
            /**
             * @description What makes the transcript less than it could be, known from the recording itself. Present once completed, and
             *     only when there is something to say.
             */
            warnings?: components["schemas"]["TranscriptWarning"][];
            /** @description The segments in order; empty until the session is `completed`, and when nothing was said. */
            segments: components["schemas"]["Segment"][];
        };
        /**
         * @description A readable piece of the transcript, about ten seconds or twenty words at most. Segments are sorted, and
         *     `0 ≤ startMs ≤ endMs ≤ durationMs`.
         */
        Segment: {
            /**
             * Format: int32
             * @description The position of the segment, from 0.
             * @example 0
             */
            index: number;
            /**
             * Format: int32
             * @description Where the segment begins, in milliseconds from the beginning of the audio.
             * @example 120
             */
            startMs: number;
            /**
             * Format: int32
             * @description Where the segment ends, in milliseconds from the beginning of the audio.
             * @example 3480
             */
            endMs: number;
            /**
             * @description What was said.
             * @example good morning and welcome
             */
            text: string;
            /**
             * Format: double
             * @description How sure the recognizer is, when it says so.
             * @example 0.91
             */
            confidence?: number;
            /**
             * @description A label of the speaker within this transcript, when the recognizer tells speakers apart.
             * @example S1
             */
            speaker?: string;
            /**
             * Format: int32
             * @description The channel of the recording in which it was said, from 1, when its channels were transcribed separately.
             * @example 1
             */
            channel?: number;
            /** @description The words of the segment; only with `include=words`, and empty where the recognizer tells no times of words. */
            words?: components["schemas"]["Word"][];
        };
        /** @description A word of a segment. */
        Word: {
            /**
             * Format: int32
             * @description Where the word begins, in milliseconds from the beginning of the audio.
             * @example 120
             */
            startMs: number;
            /**
             * Format: int32
             * @description Where the word ends, in milliseconds from the beginning of the audio.
             * @example 400
             */
            endMs: number;
            /**
             * @description The word.
             * @example good
             */
            text: string;
            /**
             * Format: double
             * @description How sure the recognizer is, when it says so.
             * @example 0.93
             */
            confidence?: number;
        };
        /**
         * @description `json`, `vtt` (WebVTT, `text/vtt`), `srt` (SubRip, `application/x-subrip`), `txt` (`text/plain`) or `md` (Markdown,
         *     `text/markdown`). Others may be added.
         * @example vtt
         * @enum {string}
         */
        TranscriptFormat: "json" | "vtt" | "srt" | "txt" | "md";
        /**
         * @description What a transcript holds besides its segments.
         * @example words
         * @enum {string}
         */
        TranscriptInclude: "words";
        /**
         * @description WebVTT captions (W3C), a cue per segment, which may be shown longer than that lasts, so that it can be read, with
         *     lines of at most 42 characters (16 of full width) unless a single word is longer. Where the `speaker` is known, or
         *     else the `channel`, the cue begins with `<v S1>` or `<v Channel 1>`. Without segments it is `WEBVTT` alone.
         * @example WEBVTT
         *
         *     00:00:00.120 --> 00:00:03.480
         *     good morning and welcome
         */
        WebVtt: string;
        /**
         * @description SubRip captions, a cue per segment, as in WebVTT. Where the `speaker` is known, or else the `channel`, the text begins
         *     with `S1: ` or `Channel 1: `. Lines end in CR LF. Without segments it is empty.
         * @example 1
         *     00:00:00,120 --> 00:00:03,480
         *     good morning and welcome
         */
        SubRip: string;
        /**
         * @description The text without times, a line per segment. Where the `speaker` is known, or else the `channel`, it begins with `S1: `
         *     or `Channel 1: `. Without segments it is empty.
         * @example good morning and welcome
         */
        PlainText: string;
        /**
         * @description Markdown (CommonMark) to read: title, day (UTC) and length, the warnings, then paragraphs by speaker and pause, each with its time.
         * @example # Board meeting
         *
         *     2026-11-20, 0:00:07
         *
         *     **0:00:00 S1** good morning and welcome
         */
        Markdown: string;
        /** @description The form of an upload. Other fields are refused, and so are repeated ones except `keyterms`. */
        TranscriptionRequest: {
            /**
             * Format: binary
             * @description The audio file, not empty. Its name, without folder and extension, becomes the title of the session, cut after
             *     255 characters; without a name the title is `Untitled`. `/` and `\` end a folder; `%22` and `\"` are a quotation
             *     mark, as browsers and curl write it. Spaces at the ends and control characters are removed.
             */
            file: string;
            /**
             * Format: int32
             * @description The duration of the audio in milliseconds, when the client knows it. It only serves to refuse early what the
             *     balance does not cover; the measured duration counts, and a mismatch is no error.
             * @example 1834000
             */
            durationMs?: number;
            /**
             * @description The title of the session, without control characters and not blank; without it, the name of the file is the title.
             *     Spaces at its ends are removed.
             * @example Board meeting
             */
            title?: string;
            /**
             * @description The client's own identifier of the recording, such as the number of a ticket or a call. It needs not be unique.
             * @example TICKET-4711
             */
            reference?: string;
            /**
             * Format: int32
             * @description How many days of 24 hours after its `createdAt` the session is deleted for good, with its title, transcript and
             *     audio. Without it, the account's own rule counts, if the operator has set one; otherwise the session is kept.
             * @example 3650
             */
            retentionDays?: number;
            /**
             * @description `mixed`, as without it: all channels are transcribed together. `separate`: each channel is transcribed for itself,
             *     as suits calls and interviews with a microphone each, and every segment says its `channel`. Segments of two
             *     channels may overlap; what is 20 dB quieter than another channel at that moment is not this channel's. The charge stays the duration of the recording. The channels are those that the recording
             *     begins with: one is channel 1, and more than 8 fail with `too_many_channels`.
             * @example mixed
             */
            channels?: string;
            /**
             * @description The language that is spoken, as a BCP 47 tag of language, script and region, the last two of which may be missing:
             *     `de`, `en-GB`, `zh-Hant`. The recognizer is told. A language that it does not know is 422 `language_not_supported`,
             *     with those that it knows in `knownLanguages`; where the service can not tell at the upload, the session fails with
             *     that code instead, uncharged. Recognizers tell languages apart by the first part of the tag. Without it,
             *     recognizers that can find out the language do so, unless the operator has set one.
             * @example en
             */
            language?: string;
            /**
             * Format: int32
             * @description How many people speak. A hint: recognizers that tell speakers apart may use it, others ignore it.
             * @example 2
             */
            speakers?: number;
            /**
             * @description Names, products and other words that are likely to be said, each in a field of its own. A hint: recognizers may
             *     write these words more often as they are written here, or ignore them all or from some number on.
             * @example [
             *       "Okapi"
             *     ]
             */
            keyterms?: string[];
        };
        /**
         * @description How the channels were transcribed. Present when each was transcribed for itself.
         * @example separate
         * @enum {string}
         */
        ChannelMode: "separate";
        /** @description A queued transcription. Its `status` is always `queued`; follow the session for what happens next. */
        TranscriptionJob: {
            /**
             * Format: uuid
             * @description The session that receives the transcript.
             * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3c
             */
            sessionId: string;
            /**
             * Format: uuid
             * @description The identifier of the transcription job, to quote to the operator. No operation takes it; use `sessionId`.
             * @example 01a1f89b-f1a2-7606-8a3d-2c9f4b7e1d50
             */
            jobId: string;
            status: components["schemas"]["SessionStatus"];
        };
        /** @description An OpenAPI 3.0 document. */
        OpenApiDocument: {
            /**
             * @description The version of the OpenAPI Specification.
             * @example 3.0.3
             */
            openapi: string;
            /** @description The title, version and description of this interface. */
            info: Record<string, never>;
            /** @description The operations by path and method. */
            paths: Record<string, never>;
        } & {
            [key: string]: unknown;
        };
        /** @description An error (RFC 9457). Fields that do not apply are absent. */
        Problem: {
            /**
             * @description Always `about:blank`; `code` says what happened.
             * @example about:blank
             */
            type: string;
            /**
             * @description The phrase of the HTTP status, such as `Unprocessable Content` for 422 (RFC 9110).
             * @example Bad Request
             */
            title: string;
            /**
             * Format: int32
             * @description The HTTP status.
             * @example 400
             */
            status: number;
            /**
             * @description A stable code to branch on. Others may be added. `x-retry` says of each when to repeat the request.
             * @example invalid_request
             */
            code: string;
            /**
             * @description A sentence for people about this occurrence.
             * @example The query parameter "page" is not known.
             */
            detail?: string;
            /**
             * @description The identifier of the request, as in `X-Request-Id`.
             * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
             */
            requestId?: string;
            /** @description What is wrong, one entry per parameter or field. */
            errors?: components["schemas"]["InvalidField"][];
            /**
             * @description With `insufficient_scope`, the scope that the key lacks, `read` or `write`.
             * @example write
             */
            requiredScope?: string;
            /**
             * Format: int32
             * @description With `file_too_large`, the largest file that the account may upload.
             * @example 1073741824
             */
            limitBytes?: number;
            /**
             * Format: int32
             * @description With `audio_too_long`, the longest audio that the account may upload.
             * @example 14400000
             */
            limitMs?: number;
            /**
             * Format: double
             * @description With `insufficient_balance`, what is left of the balance less what is reserved, in whole milliseconds. It may
             *     be negative.
             * @example 60000
             */
            availableMs?: number;
            /**
             * Format: int32
             * @description With `insufficient_balance`, the duration that the balance does not cover: the measured one, or the form's
             *     `durationMs` where that alone is too much. Absent where nothing is left at all.
             * @example 600000
             */
            requiredMs?: number;
            /**
             * @description With `language_not_supported`, the languages that may be asked for, each the first part of a BCP 47 tag.
             * @example [
             *       "en"
             *     ]
             */
            knownLanguages?: string[];
            /**
             * Format: int32
             * @description The value of `Retry-After`.
             * @example 34
             */
            retryAfterSeconds?: number;
        };
        /** @description One thing that is wrong with a request. */
        InvalidField: {
            /**
             * @description Where it was found, one of `path`, `query`, `header` and `body`.
             * @example query
             */
            in: string;
            /**
             * @description The name of the parameter or form field.
             * @example page
             */
            name: string;
            /**
             * @description What is wrong with it.
             * @example is not known
             */
            message: string;
        };
    };
    responses: {
        /**
         * @description A parameter or the form is wrong; `errors` names what. Codes: `invalid_request`, `invalid_cursor`, `empty_file`. A
         *     request or a body that can't be read at all is `invalid_request` without `errors`.
         */
        BadRequest: {
            headers: {
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description As in a successful answer; absent when the request was refused before it was counted.
                 * @example "plan";r=12;t=34
                 */
                RateLimit?: string;
                /**
                 * @description As in a successful answer; absent when the request was refused before it was counted.
                 * @example "plan";q=60;w=60
                 */
                "RateLimit-Policy"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The API key is missing or invalid. Code: `unauthorized`. Unknown, damaged, revoked and expired keys are not told
         *     apart. After many of them in a minute from one address, each further 401 takes a second and closes its connection; a
         *     valid key is never delayed.
         */
        Unauthorized: {
            headers: {
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description As in a successful answer; absent when the request was refused before it was counted.
                 * @example "plan";r=12;t=34
                 */
                RateLimit?: string;
                /**
                 * @description As in a successful answer; absent when the request was refused before it was counted.
                 * @example "plan";q=60;w=60
                 */
                "RateLimit-Policy"?: string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description How to authenticate (RFC 6750, section 3).
                 * @example Bearer realm="transcription", error="invalid_token"
                 */
                "WWW-Authenticate": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The transcription balance does not cover the audio. Code: `insufficient_balance`, with `availableMs` and, where a
         *     duration is known, `requiredMs`: the measured one, or the form's `durationMs` where that is refused before measuring.
         */
        PaymentRequired: {
            headers: {
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description What is left of the allowance: `r` requests in the current window, which ends in `t` seconds.
                 * @example "plan";r=12;t=34
                 */
                RateLimit: string;
                /**
                 * @description The allowance of the account, `q` requests per window of `w` seconds, over all its keys: 60 for Pro, 300 for Team and
                 *     1,200 for Enterprise, unless the operator set another. Every request counts that gets this header, whatever its answer.
                 * @example "plan";q=60;w=60
                 */
                "RateLimit-Policy": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The key or the account may not do this. Codes: `insufficient_scope` with `requiredScope`, `plan_not_eligible`,
         *     `account_suspended`.
         */
        Forbidden: {
            headers: {
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description The scope that is missing (RFC 6750, section 3); absent for other refusals.
                 * @example Bearer realm="transcription", error="insufficient_scope", scope="write"
                 */
                "WWW-Authenticate"?: string;
                /**
                 * @description As in a successful answer; absent when the request was refused before it was counted.
                 * @example "plan";r=12;t=34
                 */
                RateLimit?: string;
                /**
                 * @description As in a successful answer; absent when the request was refused before it was counted.
                 * @example "plan";q=60;w=60
                 */
                "RateLimit-Policy"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such session in this account. Code: `session_not_found`. */
        NotFound: {
            headers: {
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description What is left of the allowance: `r` requests in the current window, which ends in `t` seconds.
                 * @example "plan";r=12;t=34
                 */
                RateLimit: string;
                /**
                 * @description The allowance of the account, `q` requests per window of `w` seconds, over all its keys: 60 for Pro, 300 for Team and
                 *     1,200 for Enterprise, unless the operator set another. Every request counts that gets this header, whatever its answer.
                 * @example "plan";q=60;w=60
                 */
                "RateLimit-Policy": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description None of the types in `Accept` is offered, and there is no `format`. Code: `not_acceptable`. */
        NotAcceptable: {
            headers: {
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description What is left of the allowance: `r` requests in the current window, which ends in `t` seconds.
                 * @example "plan";r=12;t=34
                 */
                RateLimit: string;
                /**
                 * @description The allowance of the account, `q` requests per window of `w` seconds, over all its keys: 60 for Pro, 300 for Team and
                 *     1,200 for Enterprise, unless the operator set another. Every request counts that gets this header, whatever its answer.
                 * @example "plan";q=60;w=60
                 */
                "RateLimit-Policy": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The upload stopped, or came too slowly (30 s without a byte, or less than 16 KiB/s over 60 s). Code: `upload_timeout`. */
        UploadTimeout: {
            headers: {
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description As in a successful answer; absent when the request was refused before it was counted.
                 * @example "plan";r=12;t=34
                 */
                RateLimit?: string;
                /**
                 * @description As in a successful answer; absent when the request was refused before it was counted.
                 * @example "plan";q=60;w=60
                 */
                "RateLimit-Policy"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description Captions, plain text and Markdown exist only for a completed session. Codes: `transcript_not_ready` with `Retry-After`,
         *     `transcription_failed`.
         */
        NoCaptions: {
            headers: {
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description What is left of the allowance: `r` requests in the current window, which ends in `t` seconds.
                 * @example "plan";r=12;t=34
                 */
                RateLimit: string;
                /**
                 * @description The allowance of the account, `q` requests per window of `w` seconds, over all its keys: 60 for Pro, 300 for Team and
                 *     1,200 for Enterprise, unless the operator set another. Every request counts that gets this header, whatever its answer.
                 * @example "plan";q=60;w=60
                 */
                "RateLimit-Policy": string;
                /**
                 * @description How many seconds to wait before asking again; absent once the session is final.
                 * @example 2
                 */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The file is larger than the account may upload. Code: `file_too_large`, with `limitBytes`. */
        FileTooLarge: {
            headers: {
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description What is left of the allowance: `r` requests in the current window, which ends in `t` seconds.
                 * @example "plan";r=12;t=34
                 */
                RateLimit: string;
                /**
                 * @description The allowance of the account, `q` requests per window of `w` seconds, over all its keys: 60 for Pro, 300 for Team and
                 *     1,200 for Enterprise, unless the operator set another. Every request counts that gets this header, whatever its answer.
                 * @example "plan";q=60;w=60
                 */
                "RateLimit-Policy": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The body is not `multipart/form-data`, has a `Content-Encoding`, or the file is not in a format that can be read.
         *     Code: `unsupported_media`. `errors` tells which: `Content-Type` or `Content-Encoding` in the `header` is a fault of
         *     the program that sends; `file` in the `body` is a file that is no audio.
         */
        UnsupportedMedia: {
            headers: {
                /**
                 * @description `identity` when the upload was refused for its `Content-Encoding` (RFC 9110, section 15.5.16); absent otherwise.
                 * @example identity
                 */
                "Accept-Encoding"?: string;
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description What is left of the allowance: `r` requests in the current window, which ends in `t` seconds.
                 * @example "plan";r=12;t=34
                 */
                RateLimit: string;
                /**
                 * @description The allowance of the account, `q` requests per window of `w` seconds, over all its keys: 60 for Pro, 300 for Team and
                 *     1,200 for Enterprise, unless the operator set another. Every request counts that gets this header, whatever its answer.
                 * @example "plan";q=60;w=60
                 */
                "RateLimit-Policy": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The upload was understood but can not be transcribed (`no_audio_track`, `audio_too_long` with `limitMs`,
         *     `too_many_channels`: more than 64, `language_not_supported` with `knownLanguages`), its key was used for another one (`idempotency_key_reused`), or its body ended before the closing boundary, its
         *     `Content-Length` or its last chunk (`upload_incomplete`):
         *     then it was cut off on its way and is repeated, but one that is never closed gets the same answer each time.
         */
        Unprocessable: {
            headers: {
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description What is left of the allowance: `r` requests in the current window, which ends in `t` seconds.
                 * @example "plan";r=12;t=34
                 */
                RateLimit: string;
                /**
                 * @description The allowance of the account, `q` requests per window of `w` seconds, over all its keys: 60 for Pro, 300 for Team and
                 *     1,200 for Enterprise, unless the operator set another. Every request counts that gets this header, whatever its answer.
                 * @example "plan";q=60;w=60
                 */
                "RateLimit-Policy": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The allowance of the plan is used up (`rate_limited`), or too many of the account's sessions are `queued`, uploads
         *     that are under way included (`too_many_queued`). Pro accounts may have 10, Team 50 and Enterprise 500, unless the
         *     operator set others; `detail` says how many.
         */
        TooManyRequests: {
            headers: {
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description What is left of the allowance: `r` requests in the current window, which ends in `t` seconds.
                 * @example "plan";r=12;t=34
                 */
                RateLimit: string;
                /**
                 * @description The allowance of the account, `q` requests per window of `w` seconds, over all its keys: 60 for Pro, 300 for Team and
                 *     1,200 for Enterprise, unless the operator set another. Every request counts that gets this header, whatever its answer.
                 * @example "plan";q=60;w=60
                 */
                "RateLimit-Policy": string;
                /**
                 * @description How many seconds to wait before asking again.
                 * @example 2
                 */
                "Retry-After": number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A fault of the service. Code: `internal_error`. */
        InternalError: {
            headers: {
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description As in a successful answer; absent when the request was refused before it was counted.
                 * @example "plan";r=12;t=34
                 */
                RateLimit?: string;
                /**
                 * @description As in a successful answer; absent when the request was refused before it was counted.
                 * @example "plan";q=60;w=60
                 */
                "RateLimit-Policy"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The service can not answer now. Code: `unavailable`. */
        Unavailable: {
            headers: {
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description As in a successful answer; absent when the request was refused before it was counted.
                 * @example "plan";r=12;t=34
                 */
                RateLimit?: string;
                /**
                 * @description As in a successful answer; absent when the request was refused before it was counted.
                 * @example "plan";q=60;w=60
                 */
                "RateLimit-Policy"?: string;
                /**
                 * @description How many seconds to wait before asking again.
                 * @example 2
                 */
                "Retry-After": number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description Answers to requests for other paths or methods, and to malformed HTTP. Codes: `route_not_found` (404), `method_not_allowed` (405,
         *     with `Allow`), `request_timeout` (408), `headers_too_large` (431), `not_implemented` (501),
         *     `http_version_not_supported` (505).
         */
        AnyRefusal: {
            headers: {
                /**
                 * @description The identifier of this request. Quote it to the operator.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                 */
                "X-Request-Id": string;
                /**
                 * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                 * @example nosniff
                 */
                "X-Content-Type-Options": string;
                /**
                 * @description Always `no-store`. No error may be kept by a cache.
                 * @example no-store
                 */
                "Cache-Control": string;
                /**
                 * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                 *     origins are let in; absent when there are none.
                 * @example Accept-Encoding
                 */
                Vary?: string;
                /**
                 * @description The methods that the path has (RFC 9110, section 10.2.1), with `method_not_allowed`; absent otherwise.
                 * @example GET, HEAD
                 */
                Allow?: string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /**
         * @description The identifier of a session, as returned in `sessionId` by an upload or in `id` by the list.
         * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3c
         */
        SessionId: string;
        /**
         * @description How many sessions a page holds at most, 1 to 100.
         * @example 20
         */
        Limit: number;
        /**
         * @description Where the page begins: the `nextCursor` of the page before, unchanged. It belongs to the filters it was issued
         *     with, so repeat them; with other filters, or damaged, it is 400 `invalid_cursor`. `q` and `reference` have to be
         *     the same letter by letter. The order of several `status` does not matter, and another `limit` does no harm. A
         *     cursor does not expire.
         */
        Cursor: string;
        /**
         * @description Only sessions in one of these states. Several are separated by commas (`status=completed,failed`); the parameter may
         *     be repeated instead (`status=completed&status=failed`).
         * @example [
         *       "completed",
         *       "failed"
         *     ]
         */
        Status: components["schemas"]["SessionStatus"][];
        /**
         * @description Only sessions created at this time or later (RFC 3339). Any offset will do; its `+` has to be
         *     sent as `%2B`, as everywhere in a query. A space or a small `t` may stand for the `T`, and `z` for `Z`.
         * @example 2026-11-01T00:00:00Z
         */
        CreatedAfter: string;
        /**
         * @description Only sessions created before this time (RFC 3339). Any offset will do; its `+` has to be
         *     sent as `%2B`, as everywhere in a query. A space or a small `t` may stand for the `T`, and `z` for `Z`.
         * @example 2026-12-01T00:00:00Z
         */
        CreatedBefore: string;
        /**
         * @description Sessions whose title or transcript holds all of these words (1 to 200 characters). `"words in quotes"` must follow
         *     each other; `-word` and `-"a phrase"` must not occur. Other punctuation separates words: `e-mail` is `"e mail"`. Case,
         *     accents and width don't matter (`ß` is `ss`, `ü` is `u`, in German also `ue`).
         *
         *     Inflections don't matter in the 22 languages that PostgreSQL stems, by the `language` of the session; in Danish, Dutch, Finnish, German,
         *     Hungarian, Norwegian and Swedish a word of four letters or more also finds compounds that begin or end with it. In
         *     Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese and Tibetan any part of a text is found. Very common words
         *     (`the`) must occur, but stand for any word in a phrase, and no segment is shown for them.
         *
         *     A `q` without a letter or digit, or with excluded words only, finds nothing.
         * @example "annual report" budget -draft
         */
        Search: string;
        /**
         * @description Only sessions whose upload sent exactly this `reference`.
         * @example TICKET-4711
         */
        Reference: string;
        /**
         * @description Only sessions in this language: the first part of a BCP 47 tag. `en` finds sessions whose `language` is `en`, `en-GB`
         *     or any other English.
         * @example en
         */
        Language: string;
        /**
         * @description Only the segments that hold one of the words or phrases of `q`, and none that it excludes, with the `index` that
         *     they have in the whole transcript; captions and texts hold them alone, too. Of a phrase that goes on in the next
         *     segment it is the first one. `q` is what it is in the list of sessions.
         * @example budget
         */
        SearchTranscript: string;
        /**
         * @description How many seconds to hold the answer for the session to become final, 0 to 30. An account may hold as many requests at
         *     once as it may send in a minute.
         * @example 30
         */
        Wait: number;
        /**
         * @description The form of the transcript, whatever `Accept` says; without it `Accept` decides. For clients that can't easily
         *     set a header for one request.
         * @example json
         */
        Format: components["schemas"]["TranscriptFormat"];
        /**
         * @description `words` adds the words, with their times, to each segment of the JSON answer. Some recognizers tell no times of
         *     words; then each segment has an empty list. Captions and texts are the same with it.
         * @example words
         */
        Include: components["schemas"]["TranscriptInclude"];
        /**
         * @description One or more `ETag`s of earlier answers, or `*` (RFC 9110, section 13.1.2).
         * @example W/"9f86d081884c7d65.json"
         */
        IfNoneMatch: string;
        /**
         * @description A new random value for each recording, such as a UUID (1 to 255 printable ASCII characters, compared as sent,
         *     quotation marks included; sent twice it is 400). Repeat an upload with the same value.
         *
         *     For 24 hours after its first 202, an upload of the account with the same key, file and fields gets the same 202 again
         *     with `Idempotency-Replayed: true`, even if the session has failed: nothing is queued or charged again. With another
         *     file or other fields it is 422 `idempotency_key_reused`. The name of the file, `durationMs` and the order of fields
         *     don't count. Errors don't take the key, and deleting the session frees it. To try a failed recording again, send a
         *     new key.
         *
         *     A client that may retry after 24 hours sends a `reference` and looks for it first: `GET /sessions?reference=…`.
         */
        IdempotencyKey: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description The identifier of this request. Quote it to the operator.
         * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
         */
        XRequestId: string;
        /**
         * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
         * @example nosniff
         */
        XContentTypeOptions: string;
        /**
         * @description Always `no-store`. No error may be kept by a cache.
         * @example no-store
         */
        NoStore: string;
        /**
         * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
         *     origins are let in; absent when there are none.
         * @example Accept-Encoding
         */
        VaryOfSome: string;
        /**
         * @description What is left of the allowance: `r` requests in the current window, which ends in `t` seconds.
         * @example "plan";r=12;t=34
         */
        RateLimit: string;
        /**
         * @description The allowance of the account, `q` requests per window of `w` seconds, over all its keys: 60 for Pro, 300 for Team and
         *     1,200 for Enterprise, unless the operator set another. Every request counts that gets this header, whatever its answer.
         * @example "plan";q=60;w=60
         */
        RateLimitPolicy: string;
        /**
         * @description As in a successful answer; absent when the request was refused before it was counted.
         * @example "plan";r=12;t=34
         */
        RateLimitWhenCounted: string;
        /**
         * @description As in a successful answer; absent when the request was refused before it was counted.
         * @example "plan";q=60;w=60
         */
        RateLimitPolicyWhenCounted: string;
        /**
         * @description Whether and how the answer may be stored (RFC 9111).
         * @example no-store
         */
        CacheControl: string;
        /**
         * @description A tag of this version of the answer, for `If-None-Match` (RFC 9110, section 8.8.3).
         * @example W/"9f86d081884c7d65.json"
         */
        ETag: string;
        /**
         * @description The request headers that the answer depends on.
         * @example Accept, Accept-Encoding, Authorization
         */
        Vary: string;
        /**
         * @description The path of the session that receives the transcript. Where a proxy serves the interface below a path of its own, it begins with that path.
         * @example /v1/sessions/01a1f89b-f1a2-7605-ae51-71a046f5ee3c
         */
        Location: string;
        /**
         * @description How many seconds to wait before asking again.
         * @example 2
         */
        RetryAfter: number;
        /**
         * @description How many seconds to wait before asking again; absent once the session is final.
         * @example 2
         */
        RetryAfterWhileRunning: number;
        /**
         * @description `true` when this is the answer to an earlier upload with the same `Idempotency-Key`; absent otherwise.
         * @example true
         */
        IdempotencyReplayed: boolean;
        /**
         * @description The methods that the path has (RFC 9110, section 10.2.1), with `method_not_allowed`; absent otherwise.
         * @example GET, HEAD
         */
        Allow: string;
        /**
         * @description `identity` when the upload was refused for its `Content-Encoding` (RFC 9110, section 15.5.16); absent otherwise.
         * @example identity
         */
        AcceptEncoding: string;
        /**
         * @description How to authenticate (RFC 6750, section 3).
         * @example Bearer realm="transcription", error="invalid_token"
         */
        WWWAuthenticate: string;
        /**
         * @description The scope that is missing (RFC 6750, section 3); absent for other refusals.
         * @example Bearer realm="transcription", error="insufficient_scope", scope="write"
         */
        WWWAuthenticateScope: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listSessions: {
        parameters: {
            query?: {
                /**
                 * @description How many sessions a page holds at most, 1 to 100.
                 * @example 20
                 */
                limit?: components["parameters"]["Limit"];
                /**
                 * @description Where the page begins: the `nextCursor` of the page before, unchanged. It belongs to the filters it was issued
                 *     with, so repeat them; with other filters, or damaged, it is 400 `invalid_cursor`. `q` and `reference` have to be
                 *     the same letter by letter. The order of several `status` does not matter, and another `limit` does no harm. A
                 *     cursor does not expire.
                 */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @description Only sessions in one of these states. Several are separated by commas (`status=completed,failed`); the parameter may
                 *     be repeated instead (`status=completed&status=failed`).
                 * @example [
                 *       "completed",
                 *       "failed"
                 *     ]
                 */
                status?: components["parameters"]["Status"];
                /**
                 * @description Only sessions created at this time or later (RFC 3339). Any offset will do; its `+` has to be
                 *     sent as `%2B`, as everywhere in a query. A space or a small `t` may stand for the `T`, and `z` for `Z`.
                 * @example 2026-11-01T00:00:00Z
                 */
                createdAfter?: components["parameters"]["CreatedAfter"];
                /**
                 * @description Only sessions created before this time (RFC 3339). Any offset will do; its `+` has to be
                 *     sent as `%2B`, as everywhere in a query. A space or a small `t` may stand for the `T`, and `z` for `Z`.
                 * @example 2026-12-01T00:00:00Z
                 */
                createdBefore?: components["parameters"]["CreatedBefore"];
                /**
                 * @description Sessions whose title or transcript holds all of these words (1 to 200 characters). `"words in quotes"` must follow
                 *     each other; `-word` and `-"a phrase"` must not occur. Other punctuation separates words: `e-mail` is `"e mail"`. Case,
                 *     accents and width don't matter (`ß` is `ss`, `ü` is `u`, in German also `ue`).
                 *
                 *     Inflections don't matter in the 22 languages that PostgreSQL stems, by the `language` of the session; in Danish, Dutch, Finnish, German,
                 *     Hungarian, Norwegian and Swedish a word of four letters or more also finds compounds that begin or end with it. In
                 *     Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese and Tibetan any part of a text is found. Very common words
                 *     (`the`) must occur, but stand for any word in a phrase, and no segment is shown for them.
                 *
                 *     A `q` without a letter or digit, or with excluded words only, finds nothing.
                 * @example "annual report" budget -draft
                 */
                q?: components["parameters"]["Search"];
                /**
                 * @description Only sessions whose upload sent exactly this `reference`.
                 * @example TICKET-4711
                 */
                reference?: components["parameters"]["Reference"];
                /**
                 * @description Only sessions in this language: the first part of a BCP 47 tag. `en` finds sessions whose `language` is `en`, `en-GB`
                 *     or any other English.
                 * @example en
                 */
                language?: components["parameters"]["Language"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of sessions. */
            200: {
                headers: {
                    /**
                     * @description The identifier of this request. Quote it to the operator.
                     * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                     */
                    "X-Request-Id": string;
                    /**
                     * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                     * @example nosniff
                     */
                    "X-Content-Type-Options": string;
                    /**
                     * @description What is left of the allowance: `r` requests in the current window, which ends in `t` seconds.
                     * @example "plan";r=12;t=34
                     */
                    RateLimit: string;
                    /**
                     * @description The allowance of the account, `q` requests per window of `w` seconds, over all its keys: 60 for Pro, 300 for Team and
                     *     1,200 for Enterprise, unless the operator set another. Every request counts that gets this header, whatever its answer.
                     * @example "plan";q=60;w=60
                     */
                    "RateLimit-Policy": string;
                    /**
                     * @description Whether and how the answer may be stored (RFC 9111).
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /**
                     * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                     *     origins are let in; absent when there are none.
                     * @example Accept-Encoding
                     */
                    Vary?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyRefusal"];
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The identifier of a session, as returned in `sessionId` by an upload or in `id` by the list.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3c
                 */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session. */
            200: {
                headers: {
                    /**
                     * @description The identifier of this request. Quote it to the operator.
                     * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                     */
                    "X-Request-Id": string;
                    /**
                     * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                     * @example nosniff
                     */
                    "X-Content-Type-Options": string;
                    /**
                     * @description What is left of the allowance: `r` requests in the current window, which ends in `t` seconds.
                     * @example "plan";r=12;t=34
                     */
                    RateLimit: string;
                    /**
                     * @description The allowance of the account, `q` requests per window of `w` seconds, over all its keys: 60 for Pro, 300 for Team and
                     *     1,200 for Enterprise, unless the operator set another. Every request counts that gets this header, whatever its answer.
                     * @example "plan";q=60;w=60
                     */
                    "RateLimit-Policy": string;
                    /**
                     * @description Whether and how the answer may be stored (RFC 9111).
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /**
                     * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                     *     origins are let in; absent when there are none.
                     * @example Accept-Encoding
                     */
                    Vary?: string;
                    /**
                     * @description How many seconds to wait before asking again; absent once the session is final.
                     * @example 2
                     */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyRefusal"];
        };
    };
    getTranscript: {
        parameters: {
            query?: {
                /**
                 * @description How many seconds to hold the answer for the session to become final, 0 to 30. An account may hold as many requests at
                 *     once as it may send in a minute.
                 * @example 30
                 */
                wait?: components["parameters"]["Wait"];
                /**
                 * @description `words` adds the words, with their times, to each segment of the JSON answer. Some recognizers tell no times of
                 *     words; then each segment has an empty list. Captions and texts are the same with it.
                 * @example words
                 */
                include?: components["parameters"]["Include"];
                /**
                 * @description The form of the transcript, whatever `Accept` says; without it `Accept` decides. For clients that can't easily
                 *     set a header for one request.
                 * @example json
                 */
                format?: components["parameters"]["Format"];
                /**
                 * @description Only the segments that hold one of the words or phrases of `q`, and none that it excludes, with the `index` that
                 *     they have in the whole transcript; captions and texts hold them alone, too. Of a phrase that goes on in the next
                 *     segment it is the first one. `q` is what it is in the list of sessions.
                 * @example budget
                 */
                q?: components["parameters"]["SearchTranscript"];
            };
            header?: {
                /**
                 * @description One or more `ETag`s of earlier answers, or `*` (RFC 9110, section 13.1.2).
                 * @example W/"9f86d081884c7d65.json"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The identifier of a session, as returned in `sessionId` by an upload or in `id` by the list.
                 * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3c
                 */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The transcript as it stands, as JSON, or a completed one as captions, plain text or Markdown. */
            200: {
                headers: {
                    /**
                     * @description The identifier of this request. Quote it to the operator.
                     * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                     */
                    "X-Request-Id": string;
                    /**
                     * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                     * @example nosniff
                     */
                    "X-Content-Type-Options": string;
                    /**
                     * @description What is left of the allowance: `r` requests in the current window, which ends in `t` seconds.
                     * @example "plan";r=12;t=34
                     */
                    RateLimit: string;
                    /**
                     * @description The allowance of the account, `q` requests per window of `w` seconds, over all its keys: 60 for Pro, 300 for Team and
                     *     1,200 for Enterprise, unless the operator set another. Every request counts that gets this header, whatever its answer.
                     * @example "plan";q=60;w=60
                     */
                    "RateLimit-Policy": string;
                    /**
                     * @description Whether and how the answer may be stored (RFC 9111).
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /**
                     * @description A tag of this version of the answer, for `If-None-Match` (RFC 9110, section 8.8.3).
                     * @example W/"9f86d081884c7d65.json"
                     */
                    ETag: string;
                    /**
                     * @description The request headers that the answer depends on.
                     * @example Accept, Accept-Encoding, Authorization
                     */
                    Vary: string;
                    /**
                     * @description How many seconds to wait before asking again; absent once the session is final.
                     * @example 2
                     */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Transcript"];
                    "text/vtt": components["schemas"]["WebVtt"];
                    "application/x-subrip": components["schemas"]["SubRip"];
                    "text/plain": components["schemas"]["PlainText"];
                    "text/markdown": components["schemas"]["Markdown"];
                };
            };
            /** @description Nothing changed since the answer whose `ETag` was sent in `If-None-Match`. */
            304: {
                headers: {
                    /**
                     * @description The identifier of this request. Quote it to the operator.
                     * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                     */
                    "X-Request-Id": string;
                    /**
                     * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                     * @example nosniff
                     */
                    "X-Content-Type-Options": string;
                    /**
                     * @description What is left of the allowance: `r` requests in the current window, which ends in `t` seconds.
                     * @example "plan";r=12;t=34
                     */
                    RateLimit: string;
                    /**
                     * @description The allowance of the account, `q` requests per window of `w` seconds, over all its keys: 60 for Pro, 300 for Team and
                     *     1,200 for Enterprise, unless the operator set another. Every request counts that gets this header, whatever its answer.
                     * @example "plan";q=60;w=60
                     */
                    "RateLimit-Policy": string;
                    /**
                     * @description Whether and how the answer may be stored (RFC 9111).
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /**
                     * @description A tag of this version of the answer, for `If-None-Match` (RFC 9110, section 8.8.3).
                     * @example W/"9f86d081884c7d65.json"
                     */
                    ETag: string;
                    /**
                     * @description The request headers that the answer depends on.
                     * @example Accept, Accept-Encoding, Authorization
                     */
                    Vary: string;
                    /**
                     * @description How many seconds to wait before asking again; absent once the session is final.
                     * @example 2
                     */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            409: components["responses"]["NoCaptions"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyRefusal"];
        };
    };
    createTranscription: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A new random value for each recording, such as a UUID (1 to 255 printable ASCII characters, compared as sent,
                 *     quotation marks included; sent twice it is 400). Repeat an upload with the same value.
                 *
                 *     For 24 hours after its first 202, an upload of the account with the same key, file and fields gets the same 202 again
                 *     with `Idempotency-Replayed: true`, even if the session has failed: nothing is queued or charged again. With another
                 *     file or other fields it is 422 `idempotency_key_reused`. The name of the file, `durationMs` and the order of fields
                 *     don't count. Errors don't take the key, and deleting the session frees it. To try a failed recording again, send a
                 *     new key.
                 *
                 *     A client that may retry after 24 hours sends a `reference` and looks for it first: `GET /sessions?reference=…`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The audio file and, optionally, what the client knows of it. */
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["TranscriptionRequest"];
            };
        };
        responses: {
            /** @description The file is stored and its transcription is queued. */
            202: {
                headers: {
                    /**
                     * @description The identifier of this request. Quote it to the operator.
                     * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                     */
                    "X-Request-Id": string;
                    /**
                     * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                     * @example nosniff
                     */
                    "X-Content-Type-Options": string;
                    /**
                     * @description What is left of the allowance: `r` requests in the current window, which ends in `t` seconds.
                     * @example "plan";r=12;t=34
                     */
                    RateLimit: string;
                    /**
                     * @description The allowance of the account, `q` requests per window of `w` seconds, over all its keys: 60 for Pro, 300 for Team and
                     *     1,200 for Enterprise, unless the operator set another. Every request counts that gets this header, whatever its answer.
                     * @example "plan";q=60;w=60
                     */
                    "RateLimit-Policy": string;
                    /**
                     * @description Whether and how the answer may be stored (RFC 9111).
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /**
                     * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                     *     origins are let in; absent when there are none.
                     * @example Accept-Encoding
                     */
                    Vary?: string;
                    /**
                     * @description The path of the session that receives the transcript. Where a proxy serves the interface below a path of its own, it begins with that path.
                     * @example /v1/sessions/01a1f89b-f1a2-7605-ae51-71a046f5ee3c
                     */
                    Location: string;
                    /**
                     * @description How many seconds to wait before asking again.
                     * @example 2
                     */
                    "Retry-After": number;
                    /**
                     * @description `true` when this is the answer to an earlier upload with the same `Idempotency-Key`; absent otherwise.
                     * @example true
                     */
                    "Idempotency-Replayed"?: boolean;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TranscriptionJob"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            402: components["responses"]["PaymentRequired"];
            403: components["responses"]["Forbidden"];
            408: components["responses"]["UploadTimeout"];
            413: components["responses"]["FileTooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyRefusal"];
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description One or more `ETag`s of earlier answers, or `*` (RFC 9110, section 13.1.2).
                 * @example W/"9f86d081884c7d65.json"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The OpenAPI document. */
            200: {
                headers: {
                    /**
                     * @description The identifier of this request. Quote it to the operator.
                     * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                     */
                    "X-Request-Id": string;
                    /**
                     * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                     * @example nosniff
                     */
                    "X-Content-Type-Options": string;
                    /**
                     * @description Whether and how the answer may be stored (RFC 9111).
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /**
                     * @description A tag of this version of the answer, for `If-None-Match` (RFC 9110, section 8.8.3).
                     * @example W/"9f86d081884c7d65.json"
                     */
                    ETag: string;
                    /**
                     * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                     *     origins are let in; absent when there are none.
                     * @example Accept-Encoding
                     */
                    Vary?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenApiDocument"];
                };
            };
            /** @description The document is the one whose `ETag` was sent in `If-None-Match`. */
            304: {
                headers: {
                    /**
                     * @description The identifier of this request. Quote it to the operator.
                     * @example 01a1f89b-f1a2-7605-ae51-71a046f5ee3d
                     */
                    "X-Request-Id": string;
                    /**
                     * @description Always `nosniff`. Browsers take the answer for nothing but what `Content-Type` says.
                     * @example nosniff
                     */
                    "X-Content-Type-Options": string;
                    /**
                     * @description Whether and how the answer may be stored (RFC 9111).
                     * @example no-store
                     */
                    "Cache-Control": string;
                    /**
                     * @description A tag of this version of the answer, for `If-None-Match` (RFC 9110, section 8.8.3).
                     * @example W/"9f86d081884c7d65.json"
                     */
                    ETag: string;
                    /**
                     * @description The request headers that the answer depends on: `Accept-Encoding` for large ones, `Origin` where browsers of other
                     *     origins are let in; absent when there are none.
                     * @example Accept-Encoding
                     */
                    Vary?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["AnyRefusal"];
        };
    };
}

/** Operations that ask for no API key (`security: []`). */
export type PublicOperation = "getOpenApi";
